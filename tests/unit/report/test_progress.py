import io

import pytest
from rich.console import Console

from toolorchestra.benchmark.evaluate import Result
from toolorchestra.report.progress import EvaluationProgress

TOTALS = {("policy", "local"): 4, ("random", "local"): 4}


def result(policy="policy", is_solved=1.0, cost_usd=0.01, **changes):
    fields = {
        "policy": policy,
        "world": "local",
        "episode": "e",
        "skill": "math",
        "preference": "frugal",
        "utility": None,
        "is_solved": is_solved,
        "cost_usd": cost_usd,
        "latency_s": None,
        "tool_counts": {},
        "num_calls": 0,
        "num_malformed": 0,
        "status": "answered",
    }
    return Result(**(fields | changes))


class Clock:
    now_s = 0.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


def test_a_line_tells_tasks_accuracy_cents_and_what_is_expected(clock):
    said = []
    progress = EvaluationProgress(TOTALS, say=said.append, clock_s=clock)
    progress.begin("policy", "local")
    for is_solved, now_s in ((1.0, 20.0), (0.0, 40.0)):
        clock.now_s = now_s
        progress.took(result(is_solved=is_solved, judge_usd=0.005))
    assert said[0] == "evaluating policy in the local world"
    # 2 tasks of 1.5 cents in 40 s; 6 more at the same rate, those of random at the policy's
    told = "policy in the local world: 2 of 4 tasks, 2 of 8 in all, accuracy 0.500, "
    assert said[1].startswith(told + "3.00 cents so far, about 12.00 in all, done at about ")
    assert said[1].endswith(", in 2 min")
    assert len(said) == 2  # the first came within 30 s


def test_whoever_has_begun_is_reckoned_at_its_own_rate(clock):
    progress = EvaluationProgress(TOTALS, say=lambda line: None, clock_s=clock)
    for policy, each_s, cost_usd in (("policy", 10.0, 0.01), ("random", 1.0, 0.0)):
        progress.begin(policy, "local")
        for _ in range(2):
            clock.now_s += each_s
            progress.took(result(policy, cost_usd=cost_usd))
        progress.end()
    # the policy has 2 left of 10 s and 1 cent, random 2 of 1 s and nothing
    assert (progress.left_s(), progress.expected_cents()) == (22.0, 4.0)


def test_what_was_read_back_counts_as_done_but_says_nothing_of_the_time_it_takes(clock):
    known = [result(), result()]
    progress = EvaluationProgress(TOTALS, known, say=lambda line: None, clock_s=clock)
    progress.begin("policy", "local")
    assert progress.told().startswith("policy in the local world: 2 of 4 tasks, 2 of 8 in all")
    assert progress.left_s() is None
    clock.now_s = 5.0
    progress.took(result())
    assert progress.left_s() == 5.0 * (1 + 4)


def test_void_trials_are_done_and_neither_right_nor_wrong(clock):
    progress = EvaluationProgress(TOTALS, say=lambda line: None, clock_s=clock)
    progress.begin("policy", "local")
    progress.took(result(is_solved=None, cost_usd=None))
    assert "1 of 4 tasks" in progress.told() and "accuracy" not in progress.told()


def test_on_a_terminal_one_text_changes_and_nothing_is_logged(clock):
    said, console = [], Console(file=io.StringIO(), force_terminal=True, width=200)
    with EvaluationProgress(TOTALS, say=said.append, console=console, clock_s=clock) as progress:
        progress.begin("policy", "local")
        clock.now_s = 100.0
        progress.took(result())
        progress.end()
    assert said == []
    assert "1 of 4 tasks, 1 of 8 in all, accuracy 1.000" in console.file.getvalue()
