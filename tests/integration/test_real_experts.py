"""Real experts behind HTTP from end to end: answers, costs, replay, and no key anywhere.

The provider is a stand-in, a real server on this machine that repeats what it is asked.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from benchmarks.provider.stand_in import INPUT_TOKENS, KEY, OUTPUT_TOKENS, stand_in
from tests.integration.command import Command, run_dirs

MODELS = (
    "GPT-5: a, GPT-5-mini: b, DeepSeek-R1: c, Llama-3.3-70B-Instruct: d, Qwen3-32B: e, "
    "Qwen2.5-Math-72B: f, Qwen2.5-Coder-32B-Instruct: g, Llama-3.1-8B-Instruct: h"
)
QUICK = (
    "benchmark.num_episodes=6",
    "toolset.experts=real",
    "provider.deadline_s=20",
)


def acme(url: str) -> tuple[str, ...]:
    """Overrides that have one provider serve every model of the toolset."""
    mine = "provider.providers.mine"
    return (
        "provider=mine",
        f"{mine}.base_url={url}",
        f"{mine}.key_env=ACME_KEY",
        f"+{mine}.models={{{MODELS}}}",
    )


async def run(folder: Path, *overrides: str, script: str = "evaluate.py", key: str | None = KEY):
    environment = {} if key is None else {"ACME_KEY": key}
    command = Command(folder, *QUICK, *overrides, environment=environment, script=script)
    return await asyncio.to_thread(command.wait)


def lines_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def ledger_of(run_dir: Path) -> list[dict]:
    """All entries of models, of all policies' rollouts."""
    trials = lines_of(run_dir / "evaluation_trajectories.jsonl")
    entries = [entry for trial in trials for entry in trial["rollout"]["ledger"]]
    return [entry for entry in entries if entry["usage"].get("num_requests")]


@pytest.fixture(scope="module")
def cassette(tmp_path_factory) -> tuple[Path, Path, int]:
    """An evaluation's folder and cassette, and how many requests the server got."""
    folder = tmp_path_factory.mktemp("recorded")

    async def record():
        plan = lambda number: ("busy", "ok", "no_usage", "ok", "ok")[number % 5]  # noqa: E731
        async with stand_in(plan) as server:
            done = await run(
                folder,
                *acme(server.url),
                "num_threads=1",
                "provider.cassette.mode=record",
                f"provider.cassette.path={folder / 'cassette.jsonl'}",
            )
        assert done.status == 0, done.err
        return server

    server = asyncio.run(record())
    (run_dir,) = run_dirs(folder)
    return run_dir, folder / "cassette.jsonl", len(server.requests)


def test_every_request_stands_once_in_the_ledger_with_its_tokens_and_price(cassette):
    run_dir, _, num_requests = cassette
    entries = ledger_of(run_dir)
    assert sum(entry["usage"]["num_requests"] for entry in entries) == num_requests > 10
    exact = [entry for entry in entries if not entry["usage"].get("is_estimated")]
    assert exact and all(
        (entry["usage"]["input_tokens"], entry["usage"]["output_tokens"])
        == (INPUT_TOKENS, OUTPUT_TOKENS)
        for entry in exact
    )
    assert len(exact) < len(entries)  # some replies did not say what they used
    assert all(entry["cost_usd"] > 0 for entry in entries)


def test_tables_have_no_oracle_as_nobody_knows_the_odds_of_a_real_model(cassette):
    text = (cassette[0] / "results.md").read_text()
    assert "oracle" not in text and "| ablest" in text and "sim/" not in text


def test_a_replay_needs_no_key_and_no_provider_and_gives_the_same_to_the_last_byte(
    cassette, tmp_path
):
    run_dir, path, _ = cassette
    done = asyncio.run(
        run(
            tmp_path,
            *acme("http://127.0.0.1:9/v1"),
            "num_threads=1",
            "provider.cassette.mode=replay",
            f"provider.cassette.path={path}",
            key=None,
        )
    )
    assert done.status == 0, done.err
    (again,) = run_dirs(tmp_path)
    for name in ("results.jsonl", "results.csv"):
        if (run_dir / name).exists():
            assert (again / name).read_text() == (run_dir / name).read_text()
    assert ledger_of(again) == ledger_of(run_dir)


def test_a_key_that_is_not_set_is_asked_for_before_anything_starts(tmp_path):
    done = asyncio.run(run(tmp_path, *acme("http://127.0.0.1:9/v1"), key=None))
    assert done.status == 1 and not run_dirs(tmp_path)
    assert "environment variable ACME_KEY is not set" in done.err


def test_no_key_reaches_any_file_of_a_training_or_its_output(tmp_path):
    async def train():
        plan = lambda number: "wrong_key" if number % 7 == 3 else "ok"  # noqa: E731
        async with stand_in(plan) as server:
            return await run(
                tmp_path,
                *acme(server.url),
                "trainer.max_steps=1",
                "trainer.episodes_per_step=2",
                "trainer.num_threads=1",
                "benchmark.transfer=null",
                "provider.cassette.mode=record",
                f"provider.cassette.path={tmp_path / 'cassette.jsonl'}",
                script="train.py",
            )

    done = asyncio.run(train())
    assert done.status == 0, done.err
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any("wandb" in str(path) for path in files)
    leaks = [path for path in files if KEY.encode() in path.read_bytes()]
    assert not leaks


def test_an_evaluation_stops_in_one_sentence_when_it_has_paid_what_it_may(tmp_path):
    async def evaluate():
        async with stand_in(lambda number: "ok") as server:
            done = await run(tmp_path, *acme(server.url), "num_threads=1", "max_cost_usd=1e-4")
        return done, len(server.requests)

    done, num_requests = asyncio.run(evaluate())
    assert done.status == 1 and "max_cost_usd: $" in done.err and num_requests > 0
    (run_dir,) = run_dirs(tmp_path)
    assert json.loads((run_dir / "spent.json").read_text())["spent_usd"] >= 1e-4


def test_a_training_stops_after_its_step_with_a_checkpoint_and_goes_on_with_a_larger_budget(
    tmp_path,
):
    quick = (
        "trainer.max_steps=2",
        "trainer.episodes_per_step=2",
        "trainer.num_threads=1",
        "benchmark=none",
    )

    port: list[int] = []  # the address is part of the config, which is to stay the same

    async def trained(*overrides):
        async with stand_in(lambda number: "ok", port=port[0] if port else 0) as server:
            port[:] = [int(server.url.split(":")[2].split("/")[0])]
            return await run(tmp_path, *acme(server.url), *quick, *overrides, script="train.py")

    stopped = asyncio.run(trained("max_cost_usd=1e-6"))
    assert stopped.status == 1 and "max_cost_usd: $" in stopped.err
    (run_dir,) = run_dirs(tmp_path)
    assert [path.name for path in (run_dir / "checkpoints").glob("step_*")]
    done = asyncio.run(trained("max_cost_usd=9", "resume=auto"))
    assert done.status == 0, done.err
    assert run_dirs(tmp_path) == [run_dir] and (run_dir / "summary.json").exists()
