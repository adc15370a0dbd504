"""1,000 calls to a provider that misbehaves: python -m benchmarks.provider [--calls 1000].

For each fault, a fifth of the requests meets it. What must hold: every call ends with an answer or
as a provider's fault, and none is lost; the client's ledger and the server's own counters agree, so
that none is counted twice; no call outlasts its deadline.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from dataclasses import dataclass
from random import Random

from rich.console import Console
from rich.table import Table

from benchmarks.provider.stand_in import BEHAVIOURS, StandIn, stand_in
from toolorchestra.pricing.total import total_usage
from toolorchestra.provider.base import Message, Sampling
from toolorchestra.provider.config import ProviderConfig, ProvidersConfig
from toolorchestra.provider.fault import ProviderFault
from toolorchestra.provider.providers import Providers
from toolorchestra.types import Usage

SHARE = 0.2
DEADLINE_S = 60.0
ATTEMPT_TIMEOUT_S = 5.0
SLACK_S = 1.0
"""Beyond its deadline a call is late: this much is granted to a busy machine."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What became of one call."""

    is_answered: bool
    is_own: bool
    """Whether the answer is the one to its own question."""
    usage: Usage
    took_s: float


async def call(providers: Providers, number: int) -> Outcome:
    """One call, which ends either way."""
    model, text = providers.model("Big", wanted_by="the benchmark"), f"question {number}"
    start_s = time.perf_counter()
    try:
        reply = await model.complete(
            [Message(role="user", content=text)], sampling=Sampling(), deadline_s=DEADLINE_S
        )
    except ProviderFault as fault:
        took_s = time.perf_counter() - start_s
        return Outcome(is_answered=False, is_own=True, usage=fault.usage, took_s=took_s)
    took_s = time.perf_counter() - start_s
    is_own = reply.text == f"echo: {text}"
    return Outcome(is_answered=True, is_own=is_own, usage=reply.usage, took_s=took_s)


async def trial(behaviour: str, num_calls: int) -> tuple[StandIn, list[Outcome]]:
    """All calls at once, of which the provider's own limit lets through 64 at a time."""
    rng = Random(behaviour)
    async with stand_in(lambda _: behaviour if rng.random() < SHARE else "ok") as server:
        config = ProviderConfig(
            base_url=server.url,
            models={"Big": "big-1"},
            max_concurrent=64,
            attempt_timeout_s=ATTEMPT_TIMEOUT_S,
            retry_first_s=0.01,
        )
        group = ProvidersConfig(name="bench", providers={"acme": config}, max_reply_mb=1)
        providers = Providers(group)
        tasks = [call(providers, number) for number in range(num_calls)]
        outcomes = await asyncio.gather(*tasks)
        await providers.close()
        return server, outcomes


def row(behaviour: str, num_calls: int) -> list[str]:
    """One fault, as the table shows it."""
    server, outcomes = asyncio.run(trial(behaviour, num_calls))
    used = total_usage(item.usage for item in outcomes)
    answered = sum(item.is_answered for item in outcomes)
    lost = num_calls - len(outcomes) + sum(not item.is_own for item in outcomes)
    gap = abs(used.num_requests - len(server.requests))
    if behaviour not in UNREADABLE:
        gap += abs(used.input_tokens - server.input_tokens)
        gap += abs(used.output_tokens - server.output_tokens)
    late = sum(item.took_s > DEADLINE_S + SLACK_S for item in outcomes)
    return [
        behaviour, str(server.behaved[behaviour]), str(answered), str(num_calls - answered),
        str(lost), str(gap), str(late), f"{max(item.took_s for item in outcomes):.1f}",
    ]  # fmt: skip


UNREADABLE = ("no_usage",)
"""Of these only requests are compared: the client has to estimate their tokens."""


def main() -> None:
    """Prints the table; ends with status 1 where a call was lost, counted twice, or late."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=1000)
    num_calls = parser.parse_args().calls
    table = Table(title=f"{num_calls} calls for each fault, which {SHARE:.0%} of requests meet")
    for name in ("fault", "times", "answered", "faults", "lost", "miscounted", "late", "longest s"):
        table.add_column(name, justify="left" if name == "fault" else "right")
    rows = []
    # what only people can mend ends a run after a while, and is no matter of a share
    for behaviour in sorted(set(BEHAVIOURS) - {"ok"}):
        rows.append(row(behaviour, num_calls))
        table.add_row(*rows[-1])
        Console(stderr=True).print(f"{behaviour} done")
    Console(width=100).print(table)
    if any(value != "0" for item in rows for value in item[4:7]):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
