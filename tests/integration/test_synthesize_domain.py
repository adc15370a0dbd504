"""`python synthesize.py domain=demo` from end to end, with a server that plays recorded answers.

They are valid, invalid in every way that a stage looks for, and malicious.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from collections import Counter
from pathlib import Path

import pytest
import synthesize
from benchmarks.provider.stand_in import INPUT_TOKENS, OUTPUT_TOKENS, StandIn, stand_in
from tests.composed import composed
from tests.integration.command import Command
from tests.integration.domain_server import Answers, stage_of
from tests.integration.test_real_experts import KEY, acme

from toolorchestra.domain.untrusted.load import load_untrusted
from toolorchestra.synthesize_domain import write_domain

pytestmark = pytest.mark.sandbox

DEADLINE_S = 120
SECRET = "the-user-wrote-this-at-home"
COUNTS = {
    "subjects": 2,
    "records": 5,
    "batch_size": 3,
    "functions": 7,
    "min_functions": 5,
    "intents": 3,
    "tasks": 2,
}
NUM_REQUESTS = {
    "subjects": 2,  # broken JSON, then right
    "schema": 3,  # prose, another schema, then right
    "entries": 1 + 1 + 1 + 2 + 3 + 3,  # desk, customers, bikes, rentals
    "validation": 1 + 1 + 2 + 2 + 1,
    "outline": 2,
    "functions": 2 + 1 + 2 + 1 + 1 + 3 + 3,
    "intents": 2 + 1,
    "tasks": 3 + 1 + 3 + 1,
    "evolution": 1 + 3 + 1 + 2,
    "solving": 2 + 1 + 8 + (3 + 1) + 1 + 2,  # Dee's task is tried eight times
}
REJECTED = [
    ("entries", "customers-2.records[0]", "duplicate", "customers C1 is there already"),
    ("entries", "bikes-2", "no usable reply", 'not an object with the one key "records"'),
    ("entries", "rentals-1.records[1]", "reference", "refers to 'C9', not in customers"),
    ("validation", "customers C3", "implausible", "It is no name, it speaks to me."),
    ("validation", "rentals R3", "reference", "refers to 'C3', which is not in customers"),
    ("functions", "read_notes", "broken function", "read_notes broke"),
    ("functions", "count_bikes", "broken function", "count_bikes broke"),
    ("intents", "money.intents[1]", "duplicate", "is there already, at renting.intents[0]"),
    ("tasks", "renting-1.tasks[1]", "golden action fails", "rent_bike, fails: B3 is broken"),
    ("tasks", "renting-2.tasks[1]", "duplicate", "are those of renting-2.tasks[0]"),
    ("tasks", "renting-3.tasks[0]", "solved by doing nothing", "is solved by doing nothing"),
    ("tasks", "renting-3.tasks[1]", "solved by repeating it", "is solved by repeating it"),
    ("evolution", "demo-0002.tasks[0]", "form", "tasks[0]: expected an object"),
    ("evolution", "demo-0003.tasks[0]", "duplicate", "are those of money-1.tasks[0]"),
    ("solving", "demo-0003", "unsolved", "not solved in 8 attempts"),
]
STAGES = [
    "subjects", "schema", "entries", "validation", "outline", "functions", "intents", "tasks",
    "evolution", "attempts", "solving",
]  # fmt: skip


def words(folder: Path, url: str, *overrides: str) -> list[str]:
    counts = [f"counts.{key}={value}" for key, value in COUNTS.items()]
    models = ["validator.model=DeepSeek-R1", "solver.model=GPT-5-mini", "writer.model=GPT-5"]
    mine = [f"out={folder / 'out'}", "provider.deadline_s=20", *acme(url)]
    return ["domain=demo", *counts, *models, *mine, *overrides]


def environment(folder: Path) -> dict[str, str]:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    (home / "notes.txt").write_text(SECRET)
    return {"ACME_KEY": KEY, "HOME": str(home)}


def start(folder: Path, url: str, *overrides: str) -> Command:
    given = words(folder, url, *overrides)
    return Command(folder, *given, environment=environment(folder), script="synthesize.py")


async def written(folder: Path, *overrides: str, plan=lambda number: "recorded", answers=None):
    async with stand_in(plan) as server:
        server.answers = answers or Answers()
        done = await start(folder, server.url, *overrides).ended()
    return done.status, done.out, done.err, server


async def again(
    folder: Path, plan=lambda number: "recorded", answers=None, overrides=()
) -> StandIn:
    """The same command in this process, which has loaded everything already."""
    async with stand_in(plan) as server:
        server.answers = answers or Answers()
        given = words(folder, server.url, *overrides)
        await asyncio.to_thread(write_domain, composed(*given, output_dir=None, command="domain"))
    return server


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("domain")
    status, out, err, server = asyncio.run(written(folder))
    assert status == 0, out + err
    return folder, out, server


def lines_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().split("\n")[:-1]]


def texts_of(out: Path) -> dict[str, str]:
    """All that was written but the replies, which come in any order."""
    paths = (path for path in out.rglob("*") if path.is_file() and path.name != "replies.jsonl")
    return {str(path.relative_to(out)): path.read_text() for path in paths}


def test_the_folder_is_a_domain_whose_code_runs_in_the_sandbox(done):
    domain = load_untrusted(done[0] / "out" / "demo")
    assert list(domain.functions) == [
        "get_customer", "list_bikes", "rent_bike", "return_bike", "pay",
    ]  # fmt: skip
    assert {name: len(known) for name, known in domain.database.records.items()} == {
        "rentals": 1, "desk": 1, "customers": 3, "bikes": 3,
    }  # fmt: skip
    assert {task.id: task.difficulty for task in domain.tasks.values()} == {
        "demo-0001": 1, "demo-0002": 1, "demo-0004": 1, "demo-0005": 2, "demo-0006": 2,
    }  # fmt: skip
    first = domain.tasks["demo-0001"]
    assert first.instruction.startswith("Ada here (C1)") and first.communicate == ("25.00",)
    assert [(one.say, one.cues) for one in first.steps][0] == ("I need a bicycle.", ())
    assert domain.policy.startswith("# Rules of the rental")


def test_every_rejection_has_its_stage_place_reason_and_what_was_said(done):
    folder, out, _ = done
    found = lines_of(folder / "out" / "rejections.jsonl")
    assert [(one["stage"], one["place"], one["kind"]) for one in found] == [
        (stage, place, kind) for stage, place, kind, _ in REJECTED
    ]
    for one, (_, place, _, reason) in zip(found, REJECTED, strict=True):
        assert reason in one["reason"] and one["said"]
        assert f"rejected {place}: " in out


def test_the_table_counts_tools_records_tasks_rejections_replies_and_dollars(done):
    folder, out, _ = done
    table = (folder / "out" / "table.md").read_text()
    num_replies = sum(NUM_REQUESTS.values())
    dollars = sum(one["cost_usd"] for one in lines_of(folder / "out" / "replies.jsonl"))
    head, row = table.split("\n")[2], table.split("\n")[4]
    assert head == (
        "| tools | records | tasks | difficulty 1 | difficulty 2 | rejected | replies | dollars |"
    )
    assert row == f"| 5 | 8 | 5 | 3 | 2 | 15 | {num_replies} | {dollars:.4f} |"
    assert "functions: 7 of 7" in out and "demo-0003: not solved in 8 of 8 attempts" in out
    assert "| functions | broken function | 2 |" in table
    assert "| solving | unsolved | 1 |" in table
    assert table in out


def test_dollars_are_those_of_all_tokens_under_the_prices(done):
    replies = lines_of(done[0] / "out" / "replies.jsonl")
    per_mtok = {"GPT-5": (1.25, 10.0), "GPT-5-mini": (0.25, 2.0), "DeepSeek-R1": (3.0, 7.0)}
    for one in replies:
        price_in, price_out = per_mtok[one["model"]]
        expected = (INPUT_TOKENS * price_in + OUTPUT_TOKENS * price_out) / 1e6
        assert one["cost_usd"] == pytest.approx(expected)


def test_each_model_is_asked_as_often_as_its_stage_needs(done):
    requests = [request["messages"] for request in done[2].requests]
    assert Counter(map(stage_of, requests)) == NUM_REQUESTS
    repairs = [sum(m["role"] == "assistant" for m in one) for one in requests]
    assert max(repairs) == 2


def test_a_writer_is_told_what_its_function_did_wrong(done):
    told = [
        messages[-1]["content"]
        for messages in (request["messages"] for request in done[2].requests)
        if stage_of(messages) == "functions" and len(messages) > 2
    ]
    for words_told in ("is no JSON text", "KeyError", "is no Python", "read_notes broke"):
        assert any(words_told in text for text in told), words_told


def test_all_attempts_are_on_record_and_the_first_success_is_the_last(done):
    tries = lines_of(done[0] / "out" / "attempts.jsonl")
    solved = {task: [] for task in ("demo-0001", "demo-0002", "demo-0003", "demo-0004")}
    for one in tries:
        solved.setdefault(one["task"], []).append(one["is_solved"])
    assert solved == {
        "demo-0001": [True],
        "demo-0002": [True],
        "demo-0003": [False] * 8,
        "demo-0004": [False, True],
        "demo-0005": [True],
        "demo-0006": [True],
    }
    assert "changed customers C4.balance" in tries[2]["why"]
    assert tries[10]["why"].startswith("no usable reply")


def test_nothing_of_home_or_key_comes_out_of_synthesised_code(done):
    folder, out, _ = done
    for text in [out, *texts_of(folder / "out").values()]:
        assert SECRET not in text and KEY not in text
    assert KEY not in (folder / "out" / "replies.jsonl").read_text()


def test_every_stage_has_a_file_and_the_card_says_how_it_was_made(done):
    out = done[0] / "out"
    files = texts_of(out)
    assert {f"{stage}.jsonl" for stage in STAGES} <= files.keys()
    assert (
        len(lines_of(out / "validation.jsonl")) == 8 and len(lines_of(out / "entries.jsonl")) == 10
    )
    card = files["demo/README.md"]
    for text in ("GPT-5", "DeepSeek-R1", "3 of difficulty 1, 2 of difficulty 2", "license:  #"):
        assert text in card
    said = next(r["messages"][0]["content"] for r in done[2].requests if "You name" in str(r))
    assert hashlib.sha256(said.encode()).hexdigest()[:16] in card
    assert files["table.md"].strip() in card


@pytest.mark.slow
def test_a_second_run_asks_nobody_and_writes_the_same(done, monkeypatch, caplog):
    monkeypatch.setenv("ACME_KEY", KEY)
    before = texts_of(done[0] / "out")
    with caplog.at_level("INFO"):
        may_differ = ("counts.min_functions=1", "max_concurrent=3", "provider.deadline_s=30")
        server = asyncio.run(again(done[0], overrides=may_differ))
    assert not server.requests
    assert f"{sum(NUM_REQUESTS.values())} of the replies are from before." in caplog.text
    assert texts_of(done[0] / "out") == before


async def killed(folder: Path, num_answered: int, answers: Answers) -> None:
    """Runs the command until so many replies are kept, then kills it."""
    kept = folder / "out" / "replies.jsonl"
    async with stand_in(lambda number: "recorded" if number < num_answered else "hang") as server:
        server.answers = answers
        command = start(folder, server.url)
        async with asyncio.timeout(DEADLINE_S):
            while not kept.exists() or len(lines_of(kept)) < num_answered:
                await asyncio.sleep(0.05)
        command.process.kill()
        await command.ended()
    with kept.open("a") as file:
        file.write('{"key": "torn')  # as a kill in the middle of a line leaves it


def test_after_a_kill_and_a_lasting_fault_the_same_command_pays_for_nothing_twice(
    done, tmp_path, monkeypatch
):
    monkeypatch.setenv("ACME_KEY", KEY)
    answers = Answers()
    asyncio.run(killed(tmp_path, 10, answers))
    with pytest.raises(ValueError, match="1 of 1 requests .* run the same command again"):
        asyncio.run(again(tmp_path, lambda number: "wrong_key_for_outline", answers))
    assert not (tmp_path / "out" / "demo").exists()
    num_kept = len(lines_of(tmp_path / "out" / "replies.jsonl"))
    assert num_kept == sum(NUM_REQUESTS[stage] for stage in STAGES[:4])
    server = asyncio.run(again(tmp_path, answers=answers))
    assert num_kept + len(server.requests) == sum(NUM_REQUESTS.values())
    assert texts_of(tmp_path / "out") == texts_of(done[0] / "out")


@pytest.mark.slow
def test_a_lasting_fault_ends_the_command_with_a_sentence(tmp_path):
    plan = lambda number: "wrong_key_for_outline"  # noqa: E731
    status, _, err, _ = asyncio.run(written(tmp_path, plan=plan))
    assert status == 1 and "Traceback" not in err
    assert "error: 1 of 1 requests got no reply" in err


@pytest.mark.slow
@pytest.mark.parametrize("num_answered", [1, 30, 40, 55, 73])
def test_a_kill_at_any_stage_leaves_no_trace(done, tmp_path, monkeypatch, num_answered):
    monkeypatch.setenv("ACME_KEY", KEY)
    answers = Answers()
    asyncio.run(killed(tmp_path, num_answered, answers))
    server = asyncio.run(again(tmp_path, answers=answers))
    assert num_answered + len(server.requests) == sum(NUM_REQUESTS.values())
    assert texts_of(tmp_path / "out") == texts_of(done[0] / "out")


def refused(folder: Path, *overrides: str) -> str:
    words_given = words(folder, "http://127.0.0.1:9/v1", *overrides)
    with pytest.raises(ValueError) as caught:
        write_domain(composed(*words_given, output_dir=None, command="domain"))
    return str(caught.value)


@pytest.mark.parametrize(
    ("override", "reason"),
    [
        ("solver.model=OpenMath-Llama-2-70b", "solver.model: 'OpenMath-Llama-2-70b' has no price"),
        ("writer.model=Claude Opus 4.1", "none serves 'Claude Opus 4.1', which writer.model needs"),
        ("domain=clinic", "domain: clinic is not allowed, as it ships with the project"),
        ("domain=../up", "domain: '../up' is not allowed"),
        ("domain=", "domain: '' is not allowed; use lower-case letters"),
        ("validator.model=GPT-5", "validator.model: GPT-5 is not allowed, as it is the writer"),
        ("max_concurrent=0", "max_concurrent: 0 is not allowed"),
        ("counts.tasks=0", "counts.tasks: 0 is not allowed"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(
    tmp_path, monkeypatch, override, reason
):
    monkeypatch.setenv("ACME_KEY", KEY)
    assert reason in refused(tmp_path, override)
    assert not (tmp_path / "out").exists()


def test_a_model_whose_key_is_not_set_is_refused(tmp_path, monkeypatch):
    monkeypatch.delenv("ACME_KEY", raising=False)
    assert "ACME_KEY" in refused(tmp_path)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("override", "key"),
    [
        ("counts.tasks=3", "counts"),
        ("subject=boats", "subject"),
        ("solver.attempts=4", "solver"),
        ("writer.limits.max_tokens=9", "writer"),
        ("pricing=alt", "pricing"),
    ],
)
def test_a_folder_of_other_options_is_refused_and_left_alone(done, override, key):
    before = texts_of(done[0] / "out")
    reason = refused(done[0], override)
    assert f"was begun with another {key}" in reason and "or another folder" in reason
    assert texts_of(done[0] / "out") == before


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "replies.jsonl").write_text("")
    assert "as it holds other things" in refused(tmp_path)


@pytest.mark.parametrize("line", [[], ["domains"], ["preference", "source=templates"]])
def test_without_a_word_or_with_an_unknown_one_the_commands_are_named(monkeypatch, line):
    monkeypatch.setattr(sys, "argv", ["synthesize.py", *line])
    with pytest.raises(ValueError, match="written: domain=NAME, descriptions, preferences$"):
        synthesize.main()
