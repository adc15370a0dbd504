"""`python report.py rescore` from its words to its files."""

import argparse
import json
from dataclasses import replace

import pytest
from omegaconf import OmegaConf
from tests.composed import composed
from tests.unit.judge.chat_server import KEY, chat_server, given_in
from tests.unit.judge.stand_in import RIGHT, WRONG
from tests.unit.report.ledgers import BIG, EPISODE, JUDGE, POLICY, rollout

from toolorchestra.benchmark.evaluate import trial_of
from toolorchestra.command import rescore
from toolorchestra.domain.goal import Goal, as_task
from toolorchestra.domain.load import load_shipped
from toolorchestra.report.records import TrialRecords
from toolorchestra.report.trajectories import EVALUATION_FILE, read_trials
from toolorchestra.rollout.group import Played
from toolorchestra.types import Task, Verdict

QUESTION = Task(id="t", skill="lookup", question="Capital of France?", answer="Paris")
LIBRARY = load_shipped("library")
GOAL = as_task(Goal(domain=LIBRARY, task=next(iter(LIBRARY.tasks.values()))))
NO, YES = (Verdict(is_solved=is_solved, decided_by="match:text") for is_solved in (False, True))
PLAYED = [
    ("Paris", QUESTION, YES, "answered"),
    ("the French capital", QUESTION, NO, "answered"),
    ("Lyon", QUESTION, NO, "answered"),
    ("", QUESTION, None, "void"),
    ("done", GOAL, NO, "answered"),
]


def run(*words):
    parser = argparse.ArgumentParser()
    rescore.add_arguments(parser)
    arguments = parser.parse_args([str(word) for word in words])
    return arguments.run(arguments)


@pytest.fixture(autouse=True)
def composed_once(monkeypatch):
    """Composing takes seconds: the options of a command line are composed once for all tests."""

    def options_of(name, overrides, *, advice):
        return OmegaConf.to_object(composed(*overrides, command=name, output_dir=None))

    monkeypatch.setattr(rescore, "options_of", options_of)


@pytest.fixture
def run_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    records = TrialRecords(tmp_path / EVALUATION_FILE, hashes={}, default_hash="abc")
    for number, (given, task, verdict, status) in enumerate(PLAYED):
        episode = replace(EPISODE, id=f"e{number}", task=task)
        item = rollout(POLICY, BIG, JUDGE, episode_id=episode.id, answer=given, status=status)
        played = Played(episode=episode, rollouts=(item,), verdicts=(verdict,), num_void=0)
        records.write(trial_of("policy", "local", played))
    return tmp_path


def answer(request):
    return {"the French capital": RIGHT, "Lyon": WRONG}[given_in(request)]


def words(url, *more):
    return ("judge=llm", "judge.cache=null", f"provider.providers.openai.base_url={url}", *more)


def test_another_judge_judges_what_is_recorded_beside_the_old_results(run_dir, capsys):
    before = (run_dir / EVALUATION_FILE).read_bytes()
    with chat_server(answer) as (url, requests):
        assert run(run_dir, *words(url)) == 0
        assert len(requests) == 2  # the matcher finds Paris right, a void one and a goal stay
        assert run(run_dir, *words(url)) == 0
        assert len(requests) == 2  # what is judged is never paid for again
    assert (run_dir / EVALUATION_FILE).read_bytes() == before
    out = run_dir / "rescored" / "llm_GPT-5"
    trials = list(read_trials(out / EVALUATION_FILE))
    assert [t.verdict and t.verdict.is_solved for t in trials] == [True, True, False, None, False]
    assert [t.verdict and t.verdict.decided_by for t in trials] == [
        "match:text", "judge:GPT-5", "judge:GPT-5", None, "match:text",
    ]  # fmt: skip
    # the policy's $0.002 and $0.008; the old judge's $0.005 only where nobody has judged anew
    assert [t.result.cost_usd for t in trials] == [pytest.approx(0.01)] * 3 + [None, 0.01]
    assert trials[0].result.judge_usd == 0 and 0 < trials[1].result.judge_usd < 0.005
    # of 4 that are decided, 1 was right and 2 are
    table = (out / "changes.md").read_text()
    assert "| local | policy | 5 | 1 | 0 | 0 | 0 | 0.250 | 0.500 |" in table
    (changed,) = map(json.loads, (out / "changed.jsonl").read_text().splitlines())
    assert (changed["given"], changed["after"]["is_solved"]) == ("the French capital", True)
    assert "local world: 5 held-out episodes" in (out / "results.md").read_text()


def test_a_folder_of_another_judge_is_refused_with_what_differs(run_dir, capsys):
    assert run(run_dir, "judge=match", "name=mine") == 0
    told = r'another judge has judged there \(judge.name was "match" and is "llm"\)'
    with pytest.raises(ValueError, match=told):
        run(run_dir, *words("http://127.0.0.1:9/v1"), "name=mine")


def test_nobody_is_asked_for_more_than_is_agreed_to(run_dir, capsys):
    with (
        chat_server(answer) as (url, requests),
        pytest.raises(ValueError, match="nobody can be asked here; use yes=true"),
    ):
        run(run_dir, *words(url), "confirm_above_usd=0.001")
    assert requests == []
    assert "likely to be paid: $0.02 for judge GPT-5: 3 answers" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["/tmp", "/"], "2 folders are given; use one run's"),
        (["name=../x"], "name: '../x' is not allowed"),
        ([], "holds no evaluation_trajectories.jsonl; use an evaluation's folder"),
    ],
)
def test_what_cannot_be_judged_is_refused_with_one_sentence(tmp_path, given, message):
    with pytest.raises(ValueError, match=message) as caught:
        run(*([] if "/" in given else [tmp_path]), *given)
    assert "\n" not in str(caught.value)
