"""The written-in circuits copy and look up before any training, and only where written in."""

from __future__ import annotations

from random import Random

import pytest
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from toolorchestra.model.circuits import Landmarks, write_circuits

VOCAB = 1024
BEFORE_NAME, BEFORE_THOUGHT, FILLER, ASKED = 1, 2, 3, 5
OPENING = (8, 9)
NAMES = range(10, 40)
SPOKEN = {name + 30: name for name in NAMES}
LANDMARKS = Landmarks(
    opening=OPENING,
    before_name=BEFORE_NAME,
    from_thought=3,
    before_thought=BEFORE_THOUGHT,
    asked=ASKED,
    spoken=SPOKEN,
)


def fresh(*, num_layers: int = 3, head_dim: int = 64, theta: float = 1e8) -> Qwen3ForCausalLM:
    torch.manual_seed(0)
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=VOCAB,
            hidden_size=160,
            intermediate_size=64,
            num_hidden_layers=num_layers,
            num_attention_heads=3,
            num_key_value_heads=3,
            head_dim=head_dim,
            tie_word_embeddings=True,
            rope_parameters={"rope_type": "default", "rope_theta": theta},
        )
    )


def copied_share(model: Qwen3ForCausalLM, *, span: int, length: int) -> float:
    """Share of the tokens after the first span that the model predicts rightly."""
    rng = Random(span)
    pattern = [rng.randrange(10, VOCAB) for _ in range(span)]
    ids = torch.tensor([[*OPENING, *(pattern[i % span] for i in range(length))]])
    with torch.no_grad():
        predicted = model(ids).logits[0, len(OPENING) + span : -1].argmax(-1)
    return float((predicted == ids[0, len(OPENING) + span + 1 :]).float().mean())


def looked_up_share(model: Qwen3ForCausalLM, *, num_chats: int) -> float:
    """Share of made-up chats in which the name that fits the thought is the likeliest."""
    num_right = 0
    for seed in range(num_chats):
        rng = Random(seed)
        words = rng.sample(range(70, VOCAB), 100)
        names, ratings, other = words[:5], words[5:20], words[20:]
        ids = [*OPENING, *rng.sample(other, 20)]
        for tool, name in enumerate(names):
            ids += [BEFORE_NAME, name, *rng.sample(other, 10), *ratings[3 * tool : 3 * tool + 3]]
        wanted = rng.randrange(len(ratings))
        ids += [*rng.sample(other, 20), BEFORE_THOUGHT, ratings[wanted], FILLER, FILLER + 1]
        with torch.no_grad():
            predicted = model(torch.tensor([[*ids, BEFORE_NAME]])).logits[0, -1].argmax()
        num_right += int(predicted) == names[wanted // 3]
    return num_right / num_chats


def asked_share(model: Qwen3ForCausalLM, *, num_chats: int) -> float:
    """Share of made-up chats in which, after the thought that the user asked, the name spoken in
    the user's message is the likeliest, as a call has it."""
    num_right = 0
    for seed in range(num_chats):
        rng = Random(seed)
        names = rng.sample(NAMES, 5)
        other = rng.sample(range(70, VOCAB), 100)
        ids = [*OPENING, *rng.sample(other, 20)]
        for name in names:
            ids += [BEFORE_NAME, name, *rng.sample(other, 10)]
        wanted = rng.choice(names)
        ids += [*rng.sample(other, 15), wanted + 30, *rng.sample(other, 4)]
        ids += [BEFORE_THOUGHT, ASKED, FILLER, FILLER + 1, BEFORE_NAME]
        with torch.no_grad():
            predicted = model(torch.tensor([ids])).logits[0, -1].argmax()
        num_right += int(predicted) == wanted
    return num_right / num_chats


@pytest.mark.parametrize("span", [7, 50, 150])
def test_an_untrained_model_copies_spans_of_any_length(span: int) -> None:
    model = fresh()
    assert copied_share(model, span=span, length=300) < 0.1  # as made by transformers

    write_circuits(model, LANDMARKS, reach=300)
    assert copied_share(model, span=span, length=300) > 0.9


def test_an_untrained_model_calls_the_tool_whose_rating_its_thought_names() -> None:
    model = fresh()
    assert looked_up_share(model, num_chats=40) < 0.1

    write_circuits(model, LANDMARKS, reach=300)
    assert looked_up_share(model, num_chats=40) > 0.9


def test_an_untrained_model_calls_the_tool_that_the_user_named() -> None:
    model = fresh()
    assert asked_share(model, num_chats=40) < 0.1

    write_circuits(model, LANDMARKS, reach=300)
    assert asked_share(model, num_chats=40) > 0.8


@pytest.mark.parametrize(
    "shape", [{"num_layers": 2}, {"head_dim": 8}, {"theta": 10.0}], ids=["layers", "head", "rope"]
)
def test_a_shape_without_room_is_refused(shape: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="no room for circuits that copy"):
        write_circuits(fresh(**shape), LANDMARKS, reach=300)  # type: ignore[arg-type]
