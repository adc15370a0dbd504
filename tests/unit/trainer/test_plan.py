import time
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.trainer.rows import all_shapes, ids_of, num_prefixes, row_of

from toolorchestra.trainer.flops import Costs
from toolorchestra.trainer.plan import plan_micro_batches
from toolorchestra.trainer.tree import token_tree

PER_TOKEN = Costs(per_token=1.0, per_pair=0.0, per_loss_token=0.0)
LIKE_A_MODEL = Costs(per_token=1000.0, per_pair=2.0, per_loss_token=300.0)


def plan_of(rows, *, num_ranks=1, max_tokens=1000, costs=LIKE_A_MODEL, share_prefixes=True):
    return plan_micro_batches(
        rows,
        num_ranks=num_ranks,
        max_tokens=max_tokens,
        costs=costs,
        share_prefixes=share_prefixes,
    )


def rows_of_lengths(*lengths):
    """One row an episode, none beginning like another."""
    return [
        row_of((i, *[0] * (n - 1)), (0, *[1] * (n - 1)), name=f"e{i}/0")
        for i, n in enumerate(lengths)
    ]


def lengths_of(plan, rows):
    return [[[len(rows[r].row.ids) for r in part] for part in of_rank] for of_rank in plan]


@st.composite
def groups(draw):
    """Rows of some episodes, whose ids are few so that they begin alike."""
    rows = []
    for episode in range(draw(st.integers(1, 5))):
        prompt = draw(st.lists(st.integers(0, 3), min_size=1, max_size=6))
        said = st.lists(st.integers(0, 3), min_size=1, max_size=8)
        for sample, tokens in enumerate(draw(st.lists(said, min_size=1, max_size=5))):
            mask = (0,) * len(prompt) + (1,) * len(tokens)
            rows.append(row_of((*prompt, *tokens), mask, name=f"e{episode}/{sample}"))
    return rows


@pytest.mark.parametrize("share_prefixes", [True, False])
@given(rows=groups(), num_ranks=st.integers(1, 5), spare=st.integers(0, 30))
def test_every_row_is_planned_once_within_the_budget_and_ranks_keep_step(
    share_prefixes, rows, num_ranks, spare
):
    max_tokens = max(map(len, ids_of(rows))) + spare
    options = {"num_ranks": num_ranks, "max_tokens": max_tokens, "share_prefixes": share_prefixes}
    plan = plan_of(rows, **options)
    assert len(plan) == num_ranks
    assert len({len(of_rank) for of_rank in plan}) == 1
    parts = [part for of_rank in plan for part in of_rank]
    assert sorted(r for part in parts for r in part) == list(range(len(rows)))
    for part in filter(None, parts):
        tree = token_tree([rows[r].row.ids for r in part], share=share_prefixes)
        assert tree.num_tokens <= max_tokens
    assert plan_of(rows, **options) == plan, "each rank plans for itself"


@given(rows=groups(), num_ranks=st.integers(1, 4), spare=st.integers(0, 20))
def test_micro_batches_are_half_full_at_least_on_average(rows, num_ranks, spare):
    # Where a piece finds no room, each micro-batch has less left than that, but holds one as large.
    max_tokens = max(map(len, ids_of(rows))) + spare
    plan = plan_of(
        rows, num_ranks=num_ranks, max_tokens=max_tokens, costs=PER_TOKEN, share_prefixes=False
    )
    total = sum(map(len, ids_of(rows)))
    assert len(plan[0]) <= 2 * total // (num_ranks * max_tokens) + 1


def test_what_fits_is_one_micro_batch():
    rows = all_shapes()
    ((members,),) = plan_of(rows, max_tokens=num_prefixes(ids_of(rows)) + 9)
    assert sorted(members) == list(range(len(rows)))


def test_rows_are_balanced_by_hand():
    # The heaviest first, each to the lighter rank: 9 | 8, 7 joins the 8, 6 the 9, then 15 against
    # 15: 5 joins the 9 and 6, 4 the 8 and 7. 20 against 19.
    rows = rows_of_lengths(4, 9, 6, 8, 5, 7)
    plan = plan_of(rows, num_ranks=2, max_tokens=20, costs=PER_TOKEN)
    assert lengths_of(plan, rows) == [[[9, 6, 5]], [[8, 7, 4]]]


def test_long_rows_weigh_more_than_their_tokens_do():
    # Pairs alone: 8 tokens have 36, 4 have 10, so that three of 4 weigh less than one of 8.
    rows = rows_of_lengths(4, 4, 8, 4)
    costs = Costs(per_token=0.0, per_pair=1.0, per_loss_token=0.0)
    plan = plan_of(rows, num_ranks=2, max_tokens=20, costs=costs)
    assert sorted(lengths_of(plan, rows)) == [[[4, 4, 4]], [[8]]]
    plan = plan_of(rows, num_ranks=2, max_tokens=20, costs=PER_TOKEN)
    assert sorted(lengths_of(plan, rows)) == [[[4, 4]], [[8, 4]]]


def test_micro_batches_that_ranks_compute_at_the_same_time_are_alike():
    # Budget 10 takes two a rank. Full ones first: each rank's first is as long as the other's.
    rows = rows_of_lengths(10, 3, 10, 3)
    plan = plan_of(rows, num_ranks=2, max_tokens=10, costs=PER_TOKEN)
    assert lengths_of(plan, rows) == [[[10], [3]], [[10], [3]]]


def group_of(num_rows, *, prompt=5, said=3, episode="e"):
    """Rows that share a prompt and nothing more."""
    return [
        row_of(
            (*range(prompt), *[100 + i] * said),
            (0,) * prompt + (1,) * said,
            name=f"{episode}/{i}",
        )
        for i in range(num_rows)
    ]


def test_a_group_stays_together_where_its_shared_tokens_fit():
    # Two groups of 5 + 4 * 3 = 17 tokens: apart they would take more.
    rows = [*group_of(4), *group_of(4, episode="f")]
    plan = plan_of(rows, num_ranks=2, max_tokens=17)
    assert sorted(sorted(part) for (part,) in plan) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_a_group_larger_than_the_budget_is_cut_and_each_piece_has_the_prompt():
    # 5 + 3 * 3 = 14 tokens for three rows: a fourth has no room in 16.
    rows = group_of(7)
    (parts,) = plan_of(rows, max_tokens=16)
    assert [len(part) for part in parts] == [3, 3, 1]
    # Without sharing a row has 8 tokens: two fit.
    (parts,) = plan_of(rows, max_tokens=16, share_prefixes=False)
    assert [len(part) for part in parts] == [2, 2, 2, 1]


def test_a_group_that_fits_on_one_rank_is_cut_so_that_none_idles():
    # 5 + 4 * 3 = 17 tokens; half of them, 9, hold one row of 8: better than one rank with all.
    plan = plan_of(group_of(4), num_ranks=2, max_tokens=1000)
    assert [[len(part) for part in of_rank] for of_rank in plan] == [[2], [2]]


def test_fewer_rows_than_ranks_leave_empty_micro_batches():
    rows = rows_of_lengths(5, 4)
    assert plan_of(rows, num_ranks=4) == [[(0,)], [(1,)], [()], [()]]


def test_a_row_that_just_fits_is_taken_and_a_longer_one_is_refused_by_name():
    rows = [*rows_of_lengths(3, 4), row_of([5] * 10, [1] * 10, name="train-000007/3")]
    assert sorted(sum(plan_of(rows, max_tokens=10)[0], ())) == [0, 1, 2]
    with pytest.raises(
        ValueError,
        match=r"trainer.micro_batch_tokens: 9 is not .* rollout train-000007/3 alone has 10 tokens",
    ):
        plan_of(rows, max_tokens=9)


@pytest.mark.parametrize(("num_ranks", "max_tokens"), [(16, 700), (1, 1500), (16, 32768)])
def test_thousands_of_rows_are_planned_at_once(num_ranks, max_tokens):
    rng = Random(0)
    pool = [rng.randrange(1000) for _ in range(5000)]

    def tokens(length):
        start = rng.randrange(len(pool) - length)
        return pool[start : start + length]

    rows = []
    for episode in range(500):
        prompt = tokens(200)
        for sample in range(8):
            length = rng.randrange(50, 500)
            mask = (0,) * 200 + (1,) * length
            rows.append(row_of(prompt + tokens(length), mask, name=f"e{episode}/{sample}"))
    start_s = time.thread_time()
    plan = plan_of(rows, num_ranks=num_ranks, max_tokens=max_tokens)
    # about one second; one try for each micro-batch took hours
    assert time.thread_time() - start_s < 60
    assert sorted(r for of_rank in plan for part in of_rank for r in part) == list(range(4000))
    loads = [
        sum(LIKE_A_MODEL.of(0, len(rows[r].row.ids), 0) for part in of_rank for r in part)
        for of_rank in plan
    ]
    assert max(loads) < 1.05 * min(loads)
