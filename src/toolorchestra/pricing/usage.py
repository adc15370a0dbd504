"""Reads the usage that a provider reports into our terms, where parts are included in totals.

Providers differ in whether cached input and reasoning are counted within the totals, and some leave
the report out. What is repaired or guessed here is marked as an estimate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from toolorchestra.pricing.config import CHARACTERS_PER_TOKEN
from toolorchestra.types import Json, Usage

Names = tuple[tuple[str, ...], ...]
"""Paths of keys; the first that holds a count is taken."""

INPUT: Names = (("prompt_tokens",), ("input_tokens",), ("promptTokenCount",))
OUTPUT: Names = (("completion_tokens",), ("output_tokens",), ("candidatesTokenCount",))
TOTAL: Names = (("total_tokens",), ("totalTokenCount",))
CACHED: Names = (
    ("prompt_tokens_details", "cached_tokens"),
    ("input_tokens_details", "cached_tokens"),
    ("prompt_cache_hit_tokens",),
    ("cache_read_input_tokens",),
    ("cachedContentTokenCount",),
    ("cached_tokens",),
)
UNCACHED: Names = (("prompt_cache_miss_tokens",),)
CACHE_WRITTEN: Names = (("cache_creation_input_tokens",),)
REASONING: Names = (
    ("completion_tokens_details", "reasoning_tokens"),
    ("output_tokens_details", "reasoning_tokens"),
    ("thoughtsTokenCount",),
    ("reasoning_tokens",),
)
"""What OpenAI's two protocols call it, then DeepSeek, Anthropic, Gemini and others."""

MAX_TOKENS = 10**9
"""No response has more: what is larger is no count."""


def reported_usage(
    *,
    input_tokens: int,
    output_tokens: int,
    cached_input_tokens: int = 0,
    reasoning_tokens: int = 0,
    is_cached_included: bool,
    is_reasoning_included: bool,
) -> Usage:
    """The usage of one response, in tokens.

    Args:
        input_tokens: The provider's total of input.
        output_tokens: The provider's total of output.
        cached_input_tokens: Input that was read from the provider's cache.
        reasoning_tokens: Output that was reasoning.
        is_cached_included: Whether the provider counts cached input in `input_tokens`.
        is_reasoning_included: Whether the provider counts reasoning in `output_tokens`.

    Returns:
        Totals with their parts included. A part that exceeds its whole is cut to it, and the usage
        is marked as an estimate.
    """
    if not is_cached_included:
        input_tokens += cached_input_tokens
    if not is_reasoning_included:
        output_tokens += reasoning_tokens
    return Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cached_input_tokens=min(cached_input_tokens, input_tokens),
        reasoning_tokens=min(reasoning_tokens, output_tokens),
        is_estimated=cached_input_tokens > input_tokens or reasoning_tokens > output_tokens,
    )


def usage_from_json(
    usage: Json | None, *, is_cached_included: bool, is_reasoning_included: bool
) -> Usage | None:
    """Reads the `usage` of one response in whichever dialect it is written; never raises.

    Args:
        usage: As decoded from JSON; null where the provider leaves it out.
        is_cached_included: Whether the provider counts cached input in its total of input. Where
            it does not, input that it wrote to its cache is beside the total too, and is counted as
            any other input.
        is_reasoning_included: Whether the provider counts reasoning in its total of output. Where
            it does not and gives no count either, reasoning is what its grand total has more.

    Returns:
        The usage of one request, marked as an estimate where a count was mended: one that is no
        whole number, below zero, larger than its whole, or missing beside one that is there. None
        where neither input nor output can be read: the tokens are then unknown, not zero.
    """
    report = _Report(usage)
    cached, reasoning = report.count(CACHED) or 0, report.count(REASONING)
    input_tokens, output_tokens = report.count(INPUT), report.count(OUTPUT)
    total = report.count(TOTAL)
    uncached = report.count(UNCACHED)
    if input_tokens is None and uncached is not None:
        input_tokens = uncached + (cached if is_cached_included else 0)
        report.is_mended = True
    if input_tokens is None and output_tokens is None:
        return None
    outside = 0 if is_reasoning_included else reasoning or 0
    if input_tokens is None:
        input_tokens = report.rest(total, (output_tokens or 0) + outside)
    if output_tokens is None:
        output_tokens = report.rest(total, input_tokens + outside)
    if not is_cached_included:
        input_tokens += report.count(CACHE_WRITTEN) or 0
    if not is_reasoning_included and reasoning is None and total is not None:
        reasoning = max(total - input_tokens - output_tokens, 0)
        report.is_mended |= reasoning > 0
    found = reported_usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cached_input_tokens=cached,
        reasoning_tokens=reasoning or 0,
        is_cached_included=is_cached_included,
        is_reasoning_included=is_reasoning_included,
    )
    return replace(found, num_requests=1, is_estimated=found.is_estimated or report.is_mended)


def estimate_usage(
    input_text: str, output_text: str, *, count_tokens: Callable[[str], int] | None = None
) -> Usage:
    """The usage of one request whose provider reports none: an estimate, marked as one.

    Args:
        input_text: All that was sent.
        output_text: All that came back, reasoning included.
        count_tokens: How a tokenizer counts; None: four characters are a token.
    """
    count = count_tokens or (lambda text: math.ceil(len(text) / CHARACTERS_PER_TOKEN))
    return Usage(
        input_tokens=count(input_text),
        output_tokens=count(output_text),
        num_requests=1,
        is_estimated=True,
    )


@dataclass(slots=True)
class _Report:
    """A provider's report, and whether anything in it had to be mended so far."""

    content: Any
    is_mended: bool = False

    def count(self, names: Names) -> int | None:
        """The first count among `names`; None where there is none."""
        for path in names:
            value = self._value(path)
            if value is None:
                continue
            found = _as_count(value)
            self.is_mended |= found is None or type(value) is not int
            if found is not None:
                return found
        return None

    def rest(self, total: int | None, known: int) -> int:
        """A missing count: what the grand total has beyond what is known."""
        found = max((total or 0) - known, 0)
        # embeddings have no output, and their total is their input
        self.is_mended |= total is None or total != known
        return found

    def _value(self, path: tuple[str, ...]) -> Any:
        value = self.content
        for key in path:
            if value is None:
                return None
            if not isinstance(value, dict):
                self.is_mended = True
                return None
            value = value.get(key)
        return value


def _as_count(value: Any) -> int | None:
    """A number of tokens out of whatever JSON may hold; None where it is no such number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    # not a number compares false with everything
    return round(number) if 0 <= number <= MAX_TOKENS else None
