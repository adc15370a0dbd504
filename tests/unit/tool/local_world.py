"""Contexts of calls in the local world, for the tests of the tools."""

from toolorchestra.tool.base import CallContext
from toolorchestra.types import Episode, Preference, Price, Task

SECRET = "Xyzzy-secret"


def make_context(question, *, answer=SECRET):
    task = Task(
        id="t",
        skill="lookup",
        question=question,
        answer=answer,
        metadata={"entry": {"answer": answer}},
    )
    episode = Episode(
        id="e",
        seed=0,
        task=task,
        tools=(),
        pricing="official",
        policy_priced_as=("policy",),
        policy_price=Price(source="none", date="2026-01-01"),
        preference=Preference(kind="plain", instruction="", outcome=1.0, cost=0.0, latency=0.0),
        is_solvable=True,
    )
    return CallContext(episode=episode, call_id="c1", call_number=0, session="s")
