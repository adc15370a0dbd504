"""Turns usage into dollars: $(tau) of the paper's section 3.2 is the sum of these.

Cached input and reasoning are parts of the input and output totals, so that neither is billed
twice.
"""

from __future__ import annotations

from toolorchestra.types import Price, Usage


def cost_usd(usage: Usage, price: Price) -> float:
    """What one call costs, in USD.

    Args:
        usage: Tokens and seconds of one call that was made.
        price: The price under which it was made. `usd_per_call` is charged once, however many
            requests the call took.

    Raises:
        ValueError: A count is negative, or a part is larger than its whole.
    """
    _check_usage(usage)
    cached_rate = price.usd_per_cached_input_mtok
    if cached_rate is None:
        cached_rate = price.usd_per_input_mtok
    fresh_tokens = usage.input_tokens - usage.cached_input_tokens
    token_usd = (
        fresh_tokens * price.usd_per_input_mtok
        + usage.cached_input_tokens * cached_rate
        + usage.output_tokens * price.usd_per_output_mtok
    ) / 1e6
    return token_usd + price.usd_per_call + usage.compute_s * price.usd_per_second


def _check_usage(usage: Usage) -> None:
    counts = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_input_tokens": usage.cached_input_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "compute_s": usage.compute_s,
        "num_requests": usage.num_requests,
    }
    for name, count in counts.items():
        if not count >= 0:
            raise ValueError(f"usage.{name}: {count} is not allowed; use a number from 0 up")
    for part, whole in (
        ("cached_input_tokens", "input_tokens"),
        ("reasoning_tokens", "output_tokens"),
    ):
        if counts[part] > counts[whole]:
            raise ValueError(
                f"usage.{part}: {counts[part]} is not allowed; use at most {whole}, "
                f"which is {counts[whole]}, as it is a part of it"
            )
