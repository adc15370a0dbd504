import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.trainer.rows import num_prefixes

from toolorchestra.trainer.tree import common_prefix, token_tree

# few ids, so that sequences begin alike, repeat and contain one another
sequences = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=9), min_size=1, max_size=9)


def paths_of(tree):
    return [path.tolist() for path in tree.paths]


def test_a_tree_by_hand():
    # 5 -+- 6 --- 7     the first and the last sequence, and inside them the second
    #    +- 8
    # 9
    tree = token_tree([[5, 6, 7], [5, 6], [5, 8], [9], [5, 6, 7]])
    assert tree.ids_L.tolist() == [5, 6, 7, 8, 9]
    assert tree.positions_L.tolist() == [0, 1, 2, 1, 0]
    assert tree.ends_L.tolist() == [4, 3, 3, 4, 5]
    assert paths_of(tree) == [[0, 1, 2], [0, 1], [0, 3], [4], [0, 1, 2]]
    assert tree.own == (1, 2, 1, 1, 0)
    assert tree.num_tokens == 5


def test_sequences_that_share_nothing_stand_in_the_order_given():
    tree = token_tree([[5, 6, 7], [5, 6], [5, 8]], share=False)
    assert tree.ids_L.tolist() == [5, 6, 7, 5, 6, 5, 8]
    assert tree.positions_L.tolist() == [0, 1, 2, 0, 1, 0, 1]
    assert tree.ends_L.tolist() == [3, 3, 3, 5, 5, 7, 7]
    assert paths_of(tree) == [[0, 1, 2], [3, 4], [5, 6]]
    assert tree.own == (3, 2, 2)


def test_one_token_is_a_tree():
    tree = token_tree([[4]])
    assert tree.ids_L.tolist() == [4] and tree.ends_L.tolist() == [1]
    assert paths_of(tree) == [[0]] and tree.own == (1,)


def test_a_sequence_given_many_times_stands_there_once():
    tree = token_tree([[1, 2]] * 5)
    assert tree.num_tokens == 2
    assert paths_of(tree) == [[0, 1]] * 5
    assert sorted(tree.own) == [0, 0, 0, 0, 2]


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_beginnings_of_other_sequences_add_nothing_wherever_they_are_given(order):
    nested = [[1], [1, 2, 3], [1, 2, 3, 4, 5]]
    tree = token_tree([nested[i] for i in order])
    assert tree.ids_L.tolist() == [1, 2, 3, 4, 5]
    assert tree.ends_L.tolist() == [5] * 5
    assert [len(path) for path in tree.paths] == [len(nested[i]) for i in order]
    assert [tree.own[order.index(i)] for i in range(3)] == [1, 2, 2]


def test_tuples_lists_and_arrays_lay_out_alike():
    given_as = [tuple, list, np.asarray]
    trees = [token_tree([kind([1, 2, 3]), kind([1, 4])]) for kind in given_as]
    assert all(tree.ids_L.tolist() == [1, 2, 3, 4] for tree in trees)
    assert all(tree.ids_L.dtype == np.int64 for tree in trees)


@pytest.mark.parametrize("share", [True, False])
@given(given_sequences=sequences)
def test_each_path_spells_its_sequence_and_ends_tell_ancestors(share, given_sequences):
    tree = token_tree(given_sequences, share=share)
    is_past = np.zeros((tree.num_tokens, tree.num_tokens), bool)
    pasts = {}
    for path, sequence in zip(tree.paths, given_sequences, strict=True):
        assert tree.ids_L[path].tolist() == sequence
        assert tree.positions_L[path].tolist() == list(range(len(sequence)))
        for depth, place in enumerate(path.tolist()):
            past = path[: depth + 1].tolist()
            assert pasts.setdefault(place, past) == past, "every token has one past alone"
            is_past[place, past] = True
    assert sorted(pasts) == list(range(tree.num_tokens)), "every token is some sequence's"
    i, j = np.arange(tree.num_tokens)[:, None], np.arange(tree.num_tokens)
    assert np.array_equal((j <= i) & (i < tree.ends_L), is_past)


@given(given_sequences=sequences)
def test_every_beginning_stands_there_once(given_sequences):
    tree = token_tree(given_sequences)
    assert tree.num_tokens == num_prefixes(given_sequences)
    assert token_tree(given_sequences, share=False).num_tokens == sum(map(len, given_sequences))


@pytest.mark.parametrize("share", [True, False])
@given(given_sequences=sequences)
def test_every_token_is_one_sequences_own_and_stands_at_its_paths_end(share, given_sequences):
    tree = token_tree(given_sequences, share=share)
    own = [path[len(path) - count :] for path, count in zip(tree.paths, tree.own, strict=True)]
    assert sorted(np.concatenate(own).tolist()) == list(range(tree.num_tokens))
    for places in own:  # and they stand side by side
        assert places.tolist() == list(
            range(places[0], places[0] + len(places)) if len(places) else []
        )


@pytest.mark.parametrize(
    ("first", "second", "length"),
    [
        ((), (), 0),
        ((), (1,), 0),
        ((1,), (2,), 0),
        ((1, 2), (1, 2), 2),
        ((1, 2), (1, 2, 3), 2),
        ((1, 2, 3, 4), (1, 2, 9, 4), 2),
    ],
)
def test_the_common_prefix_by_hand(first, second, length):
    assert common_prefix(first, second) == length
    assert common_prefix(second, first) == length
