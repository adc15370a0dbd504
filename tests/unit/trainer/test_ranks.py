"""What ranks tell one another: alone, and as two processes."""

from datetime import timedelta

import pytest
import torch.distributed as dist
import torch.multiprocessing as mp

from toolorchestra.trainer.ranks import Ranks


def fail(error):
    raise error


def test_one_process_talks_to_itself():
    ranks = Ranks()
    assert (ranks.rank, ranks.size) == (0, 1)
    assert ranks.from_first("a") == "a"
    assert ranks.from_first(None) is None
    assert ranks.from_all("a") == ["a"]


def test_one_process_makes_all_and_has_nothing_to_show():
    made = object()
    shown = []
    assert Ranks().made_by_first(lambda: made, shown=shown.append) is made
    assert shown == []


@pytest.mark.parametrize("error", [OSError("no disk"), KeyboardInterrupt()])
def test_one_process_fails_as_it_does(error):
    with pytest.raises(type(error)):
        Ranks().made_by_first(lambda: fail(error), shown=lambda made: made)


def talk(rank, folder, answers):
    """Run by each of two processes; what it saw it puts into `answers`."""
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder}/rendezvous",
        rank=rank,
        world_size=2,
        timeout=timedelta(seconds=120),
    )
    ranks = Ranks()
    seen = {"who": (ranks.rank, ranks.size)}
    seen["from_first"] = ranks.from_first(f"of {rank}")
    seen["nothing"] = ranks.from_first(None if rank == 0 else "ignored")
    seen["from_all"] = ranks.from_all({"rank": rank, "much": "x" * 1000 * rank})
    calls = []
    seen["made"] = ranks.made_by_first(
        lambda: calls.append(rank) or ["made", "secret"], shown=lambda made: made[:1]
    )
    seen["made nothing"] = ranks.made_by_first(lambda: None, shown=lambda made: made)
    seen["calls"] = calls
    for kind in (OSError, KeyboardInterrupt):
        try:
            ranks.made_by_first(lambda kind=kind: fail(kind("no disk")), shown=lambda made: made)
        except BaseException as error:
            seen[kind.__name__] = f"{type(error).__name__}: {error}"
    seen["after failures"] = ranks.from_all(rank)
    answers.put((rank, seen))
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """What each of two processes saw."""
    context = mp.get_context("spawn")
    answers = context.SimpleQueue()
    folder = tmp_path_factory.mktemp("ranks")
    mp.spawn(talk, (folder, answers), nprocs=2)
    seen = dict(answers.get() for _ in range(2))
    return seen[0], seen[1]


def test_each_rank_knows_its_number_and_how_many_there_are(two):
    assert [seen["who"] for seen in two] == [(0, 2), (1, 2)]


def test_all_get_what_the_first_says_be_it_nothing(two):
    assert [seen["from_first"] for seen in two] == ["of 0"] * 2
    assert [seen["nothing"] for seen in two] == [None] * 2


def test_all_get_what_each_says_by_rank_whatever_its_size(two):
    values = [{"rank": 0, "much": ""}, {"rank": 1, "much": "x" * 1000}]
    assert [seen["from_all"] for seen in two] == [values, values]


def test_the_first_alone_makes_it_and_the_other_gets_what_is_shown(two):
    first, other = two
    assert (first["made"], first["calls"]) == (["made", "secret"], [0])
    assert (other["made"], other["calls"]) == (["made"], [])


def test_what_is_made_may_be_nothing(two):
    assert [seen["made nothing"] for seen in two] == [None] * 2


@pytest.mark.parametrize("kind", ["OSError", "KeyboardInterrupt"])
def test_where_the_first_fails_the_other_fails_too_and_points_to_it(kind, two):
    first, other = two
    assert first[kind] == f"{kind}: no disk"
    assert other[kind] == "RuntimeError: the first rank failed; its own message says why"


def test_after_a_failure_ranks_still_understand_each_other(two):
    assert [seen["after failures"] for seen in two] == [[0, 1]] * 2
