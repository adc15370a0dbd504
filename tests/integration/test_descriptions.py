"""`python synthesize.py descriptions` from end to end, with a stand-in for the provider."""

from __future__ import annotations

import asyncio
import json

from benchmarks.provider.stand_in import stand_in
from tests.integration.command import Command
from tests.integration.test_real_experts import KEY, acme

TOOLS = "tools=[llama_3_1_8b, qwen3_32b]"


async def written(folder, *overrides, plan=lambda number: "ok"):
    words = ["descriptions", TOOLS, "num_tasks=3", "writer.max_words=500", f"out={folder / 'out'}"]
    async with stand_in(plan) as server:
        words += [*acme(server.url), *overrides]
        key = {"ACME_KEY": KEY}
        command = Command(folder, *words, environment=key, script="synthesize.py")
        done = await command.ended()
    return done.status, done.out, done.err, len(server.requests)


def test_each_model_gets_a_file_with_all_that_its_description_rests_on(tmp_path):
    status, _, err, num_requests = asyncio.run(written(tmp_path))
    assert status == 0, err
    assert num_requests == 2 * (3 + 1)  # each model's tasks, and the writer's reading of them
    found = json.loads((tmp_path / "out" / "qwen3_32b.json").read_text())
    assert found["model"] == "Qwen3-32B" and found["writer"] == "GPT-5"
    assert [set(item) >= {"task_id", "reply", "is_right"} for item in found["attempts"]] == [
        True
    ] * 3
    assert found["description"].startswith("echo: ## Task 1")

    status, out, _, num_requests = asyncio.run(written(tmp_path))
    assert status == 0 and num_requests == 0 and "there already" in out


def test_a_model_does_not_describe_itself(tmp_path):
    status, _, err, num_requests = asyncio.run(written(tmp_path, "writer.model=Qwen3-32B"))
    assert status == 1 and num_requests == 0
    assert "writer.model: Qwen3-32B is not allowed, as qwen3_32b is that model" in err


def test_goals_of_a_domain_describe_no_model(tmp_path):
    status, _, err, num_requests = asyncio.run(written(tmp_path, "dataset=toolscale"))
    assert status == 1 and num_requests == 0
    assert "dataset.kind: domain is not allowed with tasks of domains" in err


def test_a_writer_that_cannot_be_asked_ends_it_in_one_sentence_and_loses_no_file(tmp_path):
    # four requests for the first model's file, three for the next one's tasks; then the writer
    plan = lambda number: "wrong_key" if number == 7 else "ok"  # noqa: E731
    status, _, err, _ = asyncio.run(written(tmp_path, plan=plan))
    assert status == 1 and "Traceback" not in err
    assert "writer.model: GPT-5 did not describe qwen3_32b (" in err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["llama_3_1_8b.json"]
