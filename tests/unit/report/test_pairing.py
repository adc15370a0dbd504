from dataclasses import replace

import pytest
from tests.unit.report.measures.attempts import attempt

from toolorchestra.report.measures.attempt import EpisodeDigest
from toolorchestra.report.pairing import Side, pair_episodes


def side(run, *attempts):
    return Side(run=run, policy="p", attempts=attempts)


def met(episode, **digest):
    made = attempt("p", episode)
    return replace(made, digest=replace(made.digest, **digest))


A = side("a", met("e0"), met("e1"), met("e2"))


def test_episodes_are_paired_with_all_their_trials():
    other = side("b", met("e2"), met("e0"), replace(met("e0"), trial=1), met("e1"))
    pairs = pair_episodes(A, other)
    assert [pair.ours[0].episode for pair in pairs] == ["e0", "e1", "e2"]
    assert [len(pair.theirs) for pair in pairs] == [2, 1, 1]
    assert pairs[0].task == "task of e0"


def test_runs_without_a_common_task_are_refused():
    other = side("b", met("e0", task="x"), met("e1", task="y"))
    with pytest.raises(ValueError, match=r"a: p and b: p share 0 of 3 and 2 tasks; use runs of"):
        pair_episodes(A, other, is_shared_enough=True)


@pytest.mark.parametrize(
    ("others", "shared", "why"),
    [
        ([met("e0"), met("e1")], "2 of 3 and 2", "e2 is only in a"),
        ([met("e0"), met("e1"), met("e2"), met("e3")], "3 of 3 and 4", "e3 is only in b"),
        ([met("e0"), met("e1", tools="u"), met("e2")], "2 of 3 and 3", "e1 differs in tools"),
        ([met("e0", seed=2, preference="q"), met("e1"), met("e2")], "2 of 3 and 3",
         "e0 differs in preference, seed"),
    ],
)  # fmt: skip
def test_runs_that_differ_in_an_episode_are_refused_unless_what_they_share_is_enough(
    others, shared, why
):
    other = side("b", *others)
    with pytest.raises(ValueError, match=f"share {shared} episodes \\({why}\\).*or --shared"):
        pair_episodes(A, other)
    pairs = pair_episodes(A, other, is_shared_enough=True)
    assert len(pairs) == int(shared[0])


def test_the_same_tasks_under_other_tools_are_never_compared():
    other = side("b", *(met(f"e{i}", tools="u") for i in range(3)))
    with pytest.raises(ValueError, match=r"share 0 of 3 and 3 episodes \(e0 differs in tools\)"):
        pair_episodes(A, other, is_shared_enough=True)


def test_a_digest_tells_episodes_apart_by_each_of_its_parts():
    digest = EpisodeDigest(task="t", tools="u", preference="p", seed=1)
    assert digest == replace(digest) and digest != replace(digest, seed=2)
