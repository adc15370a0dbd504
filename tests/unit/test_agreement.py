import json

import pytest
from tests.composed import composed
from tests.unit.judge.chat_server import KEY, chat_server, given_in
from tests.unit.judge.stand_in import RIGHT, WRONG

from toolorchestra.agreement import compare_judges
from toolorchestra.judge.unscored import TooManyUnscored

ANSWERS = [
    ("Capital of France?", "Paris", "Paris"),
    ("Capital of France?", "Paris", "the French capital"),
    ("Capital of Italy?", "Rome", "Milan"),
    ("Capital of Italy?", "Rome", "the eternal city"),
    ("Capital of Peru?", "Lima", "Lima"),
    ("Capital of Peru?", "Lima", "???"),
]


def answer(request):
    given = given_in(request)
    return "?!" if given == "???" else WRONG if given == "Milan" else RIGHT


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answers.jsonl"
    keys = ("question", "answer", "given")
    rows = (json.dumps(dict(zip(keys, row, strict=True))) for row in ANSWERS)
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def run(url, path, *overrides):
    compare_judges(
        composed(
            f"file={path}",
            f"out={path.with_name('out.jsonl')}",
            "second.cache=null",
            f"provider.providers.openai.base_url={url}",
            *overrides,
            command="agreement",
            output_dir=None,
        )
    )


def test_two_judges_are_compared(answers, monkeypatch, capsys):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with chat_server(answer) as (url, requests):
        run(url, answers)
    # The matcher finds 2 of 6 right. The model is asked for the 4 others: 2 right, 1 wrong, 1
    # without a verdict. Of 5 that both decided they agree on 3; by chance on 0.4 0.8 + 0.6 0.2.
    assert len(requests) == 4
    told = capsys.readouterr().out
    assert "Agreement of match and llm (GPT-5)" in told
    figures = next(line for line in told.splitlines() if line.startswith("│       6"))
    assert "5 │" in figures and "0.600" in figures and f"{(0.6 - 0.44) / 0.56:.3f}" in figures
    cells = [line.replace(" ", "") for line in told.splitlines()]
    assert {"│right│2│0│0│2│", "│wrong│2│1│1│4│", "│unscored│0│0│0│0│"} <= set(cells)
    lines = [json.loads(line) for line in answers.with_name("out.jsonl").read_text().splitlines()]
    assert [line["given"] for line in lines] == ["the French capital", "the eternal city", "???"]
    assert lines[0]["first"] == {"verdict": "wrong", "decided_by": "match:text", "reason": ""}
    assert lines[0]["second"]["decided_by"] == "judge:GPT-5"
    assert lines[2]["second"]["verdict"] == "unscored"


def test_a_judge_that_fails_too_often_ends_it(answers, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with (
        chat_server(lambda request: "?!") as (url, _),
        pytest.raises(TooManyUnscored, match="judge.max_unscored_share"),
    ):
        run(url, answers, "second.unscored_window=2")
    assert not answers.with_name("out.jsonl").exists()


def test_without_a_key_one_sentence_says_so(answers, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ValueError, match="OPENAI_API_KEY is not set, and judge.model needs it"):
        run("http://127.0.0.1:9/v1", answers)
