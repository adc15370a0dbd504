"""Reads the usage that a provider reports into our terms, where parts are included in totals.

Providers differ in whether cached input and reasoning are counted within the totals, and some leave
the report out. What is repaired or guessed here is marked as an estimate.
"""

from __future__ import annotations

from toolorchestra.types import Usage


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
