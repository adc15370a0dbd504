"""What both sides play: the same random model, prompts, messages, tool results and latencies.

A random model makes no calls. So each side really samples `NUM_TOKENS` tokens a turn and then
writes a scripted message of the same length over them. Rows are numbered through the whole batch,
turns within a row; every latency is a function of row and turn alone, so both sides wait alike.
"""

from __future__ import annotations

import math
from functools import cache
from random import Random
from statistics import NormalDist

import torch
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from toolorchestra.chat.messages import describe
from toolorchestra.chat.render import builtin_template
from toolorchestra.model.tokenizer import build_tokenizer
from toolorchestra.types import Json, OfferedTool, Price

NUM_GROUPS, GROUP_SIZE = 8, 8
"""64 rollouts: GRPO's groups share a prompt."""
NUM_CALLS = 4
"""Tool turns of a rollout; a final message follows."""
NUM_TOKENS = 24
"""Tokens of every message, end marker included."""
MAX_LENGTH = 512
"""Room for a whole rollout."""
SEED = 1
SYSTEM_PROMPT = "Solve the task with the tools."
END = "<|im_end|>"

LATENCIES = ("none", "constant", "heavy")
CONSTANT_S = 0.05
MEAN_S, P99_S = 1.0, 10.0
"""Of the heavy tail, before scaling."""
SCALE = 0.1
"""Heavy-tailed latencies are played at a tenth: mean 0.1 s, 99th percentile 1 s. The peer, which
awaits every call on its own, would otherwise need more than four minutes a batch."""

TOOL = OfferedTool(
    name="search",
    shown_as="search",
    description="Search.",
    parameters={
        "type": "object",
        "properties": {"query": {"type": "string", "description": "what to look up"}},
        "required": ["query"],
    },
    priced_as=("search",),
    price=Price(usd_per_call=0.01, source="made up", date="2026-01-01"),
    call_cost_usd=0.01,
    latency_s=1.0,
)


def lognormal(mean: float, p99: float) -> tuple[float, float]:
    """Solves for mu and sigma of the lognormal with this mean and 99th percentile.

    mean = exp(mu + sigma^2 / 2) and p99 = exp(mu + z sigma), z = 2.326. Their quotient gives
    sigma^2 / 2 - z sigma + ln(p99 / mean) = 0. Of its two roots the smaller is meant: the other's
    median is next to nothing. For 1 s and 10 s: sigma = 1.428, mu = -1.020, median 0.36 s.

    Raises:
        ValueError: If no lognormal has both: p99 may be at most exp(z^2 / 2) = 15 means.
    """
    z = NormalDist().inv_cdf(0.99)
    square = z * z - 2 * math.log(p99 / mean)
    if square < 0:
        raise ValueError(f"no lognormal of mean {mean:g} has its 99th percentile at {p99:g}")
    sigma = z - math.sqrt(square)
    return math.log(mean) - sigma * sigma / 2, sigma


def latency_s(kind: str, row: int, turn: int, *, scale: float = SCALE) -> float:
    """How long the tool takes for one call; `kind` is one of `LATENCIES`."""
    if kind == "none":
        return 0.0
    if kind == "constant":
        return CONSTANT_S
    assert kind == "heavy", kind
    mu, sigma = lognormal(MEAN_S, P99_S)
    return scale * Random(f"{SEED}/{row}/{turn}").lognormvariate(mu, sigma)


def question(row: int) -> str:
    """What the user asks; all rows of a group ask the same."""
    return f"question {row // GROUP_SIZE}: who is it?"


def query(row: int, turn: int) -> str:
    """The argument of a call: its number, from which the tool knows how long to take."""
    return str(row * NUM_CALLS + turn)


def call_of(arguments: Json) -> tuple[int, int]:
    """Row and turn of the call with these arguments."""
    return divmod(int(arguments["query"]), NUM_CALLS)


def result_text(row: int, turn: int) -> str:
    """What the tool answers."""
    return f"result for {query(row, turn)}"


def _call_text(row: int, turn: int) -> str:
    """Qwen3's way to write a call."""
    arguments = f'{{"query": "{query(row, turn)}"}}'
    return f'<tool_call>\n{{"name": "{TOOL.name}", "arguments": {arguments}}}\n</tool_call>'


def message_ids(row: int, turn: int) -> list[int]:
    """The message of a turn in exactly `NUM_TOKENS` tokens: filler, and a call or an answer."""
    text = _call_text(row, turn) if turn < NUM_CALLS else "answer: done"
    tokenizer = build_words()
    said = tokenizer.encode(text, add_special_tokens=False)
    filler = tokenizer.encode(" the", add_special_tokens=False)
    room = NUM_TOKENS - 1 - len(said)
    assert len(filler) == 1 and room >= 0, f"{len(said)} tokens are too many: {text!r}"
    return [*filler * room, *said, end_id()]


def end_id() -> int:
    """Id of the token that ends a message."""
    (token,) = build_words().encode(END, add_special_tokens=False)
    return int(token)


@cache
def build_words() -> PreTrainedTokenizerFast:
    """A byte-level BPE of some hundred words with Qwen3's control tokens; learned anew, alike."""
    texts = [builtin_template(), describe(TOOL), "who is it? the answer is done, and on it goes"]
    texts += [question(row) for row in range(0, 512, GROUP_SIZE)]
    texts += [_call_text(row, 0) + result_text(row, 0) for row in range(512)]
    return build_tokenizer(texts, preamble=(), vocab_size=700)


def build_model(seed: int = SEED) -> Qwen3ForCausalLM:
    """Qwen3 of two layers with random weights that never samples the end token.

    One coordinate is 1 in every embedding, and the end token's logit reads that alone, at a
    negative weight: every message is as long as it may be, in any engine and without options.
    """
    torch.manual_seed(seed)
    tokenizer = build_words()
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=4096,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    model = Qwen3ForCausalLM(config)
    end = end_id()
    with torch.no_grad():
        model.model.embed_tokens.weight[:, 0] = 1.0
        model.lm_head.weight[:, 0] = 0.0
        model.lm_head.weight[end] = 0.0
        model.lm_head.weight[end, 0] = -10.0
    return model.eval()
