"""`python evaluate.py model=api/…` from end to end, against a real local server with tools."""

from __future__ import annotations

import asyncio
import json

from tests.integration.command import Command, run_dirs
from tests.unit.engine.chat_api import USAGE, call, chat_api, fails, says

from toolorchestra.report.trajectories import EVALUATION_FILE, read_trials


def act(number: int, body: dict):
    """Busy at first; then two calls in each conversation, one of which cannot be read, and the
    answer that the other gave."""
    if number == 0:
        return fails(429, "rate_limit_exceeded")
    results = [item["content"] for item in body["messages"] if item["role"] == "tool"]
    if results:
        return says(results[0].partition("\n")[0])
    name = body["tools"][0]["function"]["name"]
    return says(None, call(name), call(name, '{"question": '))


def test_an_api_model_is_evaluated_in_the_very_loop_of_any_policy(tmp_path):
    async def run():
        async with chat_api(act) as server:
            command = Command(
                tmp_path,
                "model=api/gpt_5",
                "provider=mine",
                f"provider.providers.mine.base_url={server.url}",
                "provider.providers.mine.retry_first_s=0.01",
                "model.api.provider=mine",
                "benchmark.num_episodes=4",
                "pricing.jitter=1",
                "num_threads=1",
                script="evaluate.py",
            )
            return await asyncio.to_thread(command.wait), server.requests

    done, requests = asyncio.run(run())
    assert done.status == 0 and done.err == "", done.err
    assert "HTTP Request" not in done.out
    (run_dir,) = run_dirs(tmp_path)
    trials = list(read_trials(run_dir / EVALUATION_FILE))
    mine = [trial for trial in trials if trial.result.policy == "policy"]
    assert len(mine) == 4 and {trial.result.policy for trial in trials} > {"policy", "random"}
    for trial in mine:
        first, *_ = trial.rollout.turns
        assert [call.name for call in first.calls] == [trial.episode.tools[0].name] * 2
        assert len(first.results) == 2
        assert trial.result.num_malformed == 1 and trial.result.num_calls == 2
        assert trial.rollout.answer == first.results[-1].content.partition("\n")[0]
    entries = [e for t in mine for e in t.rollout.ledger if e.kind == "policy"]
    assert sum(entry.usage.num_requests for entry in entries) == len(requests) == 9
    # GPT-5's listed price: (40 x 1.25 + 60 x 0.125 + 20 x 10) / 1e6 for each of 8 answers
    assert (USAGE["prompt_tokens"], USAGE["completion_tokens"]) == (100, 20)
    assert abs(sum(entry.cost_usd for entry in entries) - 8 * 257.5e-6) < 1e-9
    spent = json.loads((run_dir / "spent.json").read_text())["spent_usd"]
    assert abs(spent - 8 * 257.5e-6) < 1e-9
    assert json.loads((run_dir / "summary.json").read_text())["config"]["policy"] == "gpt-5"
