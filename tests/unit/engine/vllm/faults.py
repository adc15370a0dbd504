"""Answers of a vLLM server that are none."""

from __future__ import annotations

import math
from typing import Any

from tests.unit.engine.vllm.stand_in import Spoil


def _of_choice(**changes: Any) -> Spoil:
    return lambda answer: answer["choices"][0].update(changes)


def _of_token(**changes: Any) -> Spoil:
    return lambda answer: answer["choices"][0]["logprobs"]["content"][-1].update(changes)


SPOILS: dict[str, Spoil] = {
    "no choice": lambda answer: answer.update(choices=[]),
    "no ids": _of_choice(token_ids=None),
    "empty ids": _of_choice(token_ids=[], logprobs={"content": []}),
    "ids that are no whole numbers": _of_choice(token_ids=[0.5, 1, 2]),
    "text for ids": _of_choice(token_ids=["a", "b", "c"]),
    "too many ids": _of_choice(
        token_ids=[0, 1, 2, 3], logprobs={"content": [{"logprob": -1.0, "rank": 1}] * 4}
    ),
    "no log-probabilities": _of_choice(logprobs=None),
    "a log-probability too few": lambda answer: answer["choices"][0]["logprobs"]["content"].pop(),
    "a log-probability too many": lambda answer: answer["choices"][0]["logprobs"]["content"].append(
        {"logprob": -1.0, "rank": 1}
    ),
    "a log-probability of NaN": _of_token(logprob=math.nan),
    "a log-probability of minus infinity": _of_token(logprob=-math.inf),
    "a log-probability of -9999": _of_token(logprob=-9999.0),
    "a log-probability above 0": _of_token(logprob=0.01),
    "a log-probability of null": _of_token(logprob=None),
    "a rank of null": _of_token(rank=None),
    "aborted": _of_choice(finish_reason="abort"),
    "no finish reason": _of_choice(finish_reason=None),
    "stopped without the end token": _of_choice(finish_reason="stop"),
    "ended by length with the end token": _of_choice(token_ids=[0, 1, 7]),
    "no weight versions": _of_choice(weight_versions=None),
    "no span of a weight version": _of_choice(weight_versions=[]),
}
"""Answers that are none, made of a right one to a request for 3 tokens from seed 0."""
