"""The written-in circuit copies before any training, and only where it is written in."""

from __future__ import annotations

from random import Random

import pytest
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from toolorchestra.model.induction import write_induction


def fresh(*, num_layers: int = 2, head_dim: int = 64, theta: float = 1e6) -> Qwen3ForCausalLM:
    torch.manual_seed(0)
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=1024,
            hidden_size=128,
            intermediate_size=64,
            num_hidden_layers=num_layers,
            num_attention_heads=2,
            num_key_value_heads=2,
            head_dim=head_dim,
            tie_word_embeddings=True,
            rope_parameters={"rope_type": "default", "rope_theta": theta},
        )
    )


def copied_share(model: Qwen3ForCausalLM, *, span: int, length: int) -> float:
    """Share of the tokens after the first span that the model predicts rightly."""
    rng = Random(span)
    pattern = [rng.randrange(1024) for _ in range(span)]
    ids = torch.tensor([[pattern[i % span] for i in range(length)]])
    with torch.no_grad():
        predicted = model(ids).logits[0, span - 1 : -1].argmax(-1)
    return float((predicted[1:] == ids[0, span + 1 :]).float().mean())


@pytest.mark.parametrize("span", [7, 50, 150])
def test_an_untrained_model_copies_spans_of_any_length(span: int) -> None:
    model = fresh()
    assert copied_share(model, span=span, length=300) < 0.1  # as made by transformers

    write_induction(model, reach=300)
    assert copied_share(model, span=span, length=300) > 0.8


@pytest.mark.parametrize(
    "shape", [{"num_layers": 1}, {"head_dim": 32}, {"theta": 10.0}], ids=["layers", "head", "rope"]
)
def test_a_shape_without_room_is_refused(shape: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="no room for an induction circuit"):
        write_induction(fresh(**shape), reach=300)  # type: ignore[arg-type]
