"""Weights as a folder that vLLM loads: one a version, complete or absent."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor
from transformers import PreTrainedModel

HEAD, EMBEDDING = "lm_head.weight", "model.embed_tokens.weight"


class WeightFolders:
    """The folders of one run's policy, newest last."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def write(self, model: PreTrainedModel, version: int) -> Path:
        """Writes the weights as they are now.

        Raises:
            ValueError: The disk is full, or nothing can be written there.
        """
        path = self._root / f"version_{version:06d}"
        aside = path.with_suffix(".tmp")
        shutil.rmtree(aside, ignore_errors=True)
        try:
            aside.mkdir(parents=True)
            write_weights(model, aside)
            shutil.rmtree(path, ignore_errors=True)
            os.replace(aside, path)
        except (OSError, SafetensorError) as error:  # a full disk is met by either
            reason = getattr(error, "strerror", None) or error
            raise ValueError(
                f"rollout.vllm.weights_dir: cannot write weights to {self._root} "
                f"({reason}); use a folder with room for twice the model"
            ) from error
        return path

    def keep_only(self, paths: Collection[Path | None]) -> None:
        """Removes the others, which nobody loads any more."""
        for other in self._root.glob("version_*"):
            if other not in paths:
                shutil.rmtree(other, ignore_errors=True)

    def remove(self) -> None:
        """Removes all of them."""
        shutil.rmtree(self._root, ignore_errors=True)


def write_weights(model: PreTrainedModel, folder: Path) -> None:
    """Writes config and weights, the output layer always on its own.

    vLLM 0.32 on a CPU keeps a packed copy of a tied output layer which it does not renew when
    weights are replaced: its answers are then wrong without a word. So it is told that nothing is
    tied, and finds both.
    """
    weights = {
        name: tensor.to("cpu", copy=True).contiguous() for name, tensor in untied(model).items()
    }
    config = model.config.to_dict() | {
        "tie_word_embeddings": False,
        "architectures": [type(model).__name__],
        "dtype": str(model.dtype).removeprefix("torch."),
    }
    (folder / "config.json").write_text(json.dumps(config, indent=1, default=str))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def untied(model: PreTrainedModel) -> dict[str, Tensor]:
    """All weights by name, the output layer under its own whether it is tied or not."""
    weights = {name: tensor.detach() for name, tensor in model.state_dict().items()}
    if model.config.tie_word_embeddings:
        weights[HEAD] = weights[EMBEDDING]
    return weights


@torch.inference_mode()
def logprobs_of(model: PreTrainedModel, ids: list[int]) -> list[float]:
    """Log-probabilities of all ids but the first, each given those before it."""
    was_training = model.training
    torch.nn.Module.eval(model)
    row = torch.tensor([ids], device=model.device)
    logits = model(input_ids=row).logits[0, :-1].float()
    model.train(was_training)
    scores: list[float] = (
        torch.log_softmax(logits, dim=-1).gather(-1, row[0, 1:, None]).squeeze(-1).tolist()
    )
    return scores
