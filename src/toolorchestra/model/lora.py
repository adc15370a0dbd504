"""Low-rank adapters inside a policy, in place: whatever else uses the model sees none of it."""

from __future__ import annotations

from importlib.util import find_spec

from transformers import PreTrainedModel

from toolorchestra.model.config import LoraConfig


def add_adapters(model: PreTrainedModel, config: LoraConfig) -> None:
    """Adds adapters that change nothing yet, and trains them alone.

    Raises:
        ValueError: peft is not installed, or the model has no matrix of these names.
    """
    if find_spec("peft") is None:
        raise ValueError(
            f"model.lora.rank: {config.rank} is not allowed without peft; "
            "pip install 'toolorchestra[lora]', or use 0"
        )
    import peft

    options = peft.LoraConfig(
        r=config.rank,
        lora_alpha=config.alpha,  # type: ignore[arg-type]  # a fraction does as well
        target_modules=list(config.targets),
    )
    try:
        peft.inject_adapter_in_model(options, model)
    except ValueError as error:  # its message is a paragraph
        names = sorted({name.rpartition(".")[2] for name, _ in model.named_modules()} - {""})
        raise ValueError(
            f"model.lora.targets: {config.targets} are not all in the model; it has "
            f"{', '.join(name for name in names if not name.isdigit())}"
        ) from error
