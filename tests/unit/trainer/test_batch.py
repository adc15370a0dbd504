import time
from random import Random

import pytest
import torch
from tests.unit.trainer.rows import PROMPT_A, PROMPT_B, all_shapes, make_row

from toolorchestra.trainer.batch import make_micro_batch, split_rows


def padded_tokens(rows):
    """Worked out from the tensors that the model would get."""
    batch = make_micro_batch(rows)
    num_prompt = batch.prompt_ids_PK.numel() if int(batch.prompt_lengths_P.max()) else 0
    return num_prompt + batch.ids_RT.numel()


def test_a_micro_batch_by_hand():
    rows = [
        make_row((1, 2, 3), "sc", seed=0, advantage=0.5),
        make_row((1, 2, 3), "scs", seed=1, advantage=-1.0),
    ]
    batch = make_micro_batch(rows)
    # The prompt's last token is computed with each row: its logits predict the first sampled one.
    assert batch.prompt_ids_PK.tolist() == [[1, 2]]
    assert batch.prompt_lengths_P.tolist() == [2]
    assert batch.owner_R.tolist() == [0, 0]
    first, second = rows[0].row.ids, rows[1].row.ids
    assert batch.ids_RT.tolist() == [[*first[2:], 0], list(second[2:])]
    assert batch.lengths_R.tolist() == [3, 4]
    assert batch.loss_mask_RT.tolist() == [[False, True, False, False], [False, True, False, True]]
    assert batch.sampler_logprobs_RT.tolist() == [[0, -1, 0, 0], [0, -1, 0, -1]]
    assert batch.advantages_R.tolist() == [0.5, -1.0]
    assert batch.num_tokens == 2 + 3 + 4


def test_equal_prompts_are_stored_once_and_each_row_knows_its_own():
    batch = make_micro_batch(all_shapes())
    # Shared parts: six tokens of A; of A rewritten, A, both sixes and a context token; three of B;
    # nothing of the last two rows.
    assert batch.prompt_lengths_P.tolist() == [6, 10, 3, 0]
    assert batch.owner_R.tolist() == [0, 0, 0, 1, 2, 2, 3, 3]


def test_rows_without_any_prompt_can_stand_alone():
    batch = make_micro_batch([make_row((7,), "ss", seed=0)])
    assert batch.prompt_ids_PK.shape == (1, 1)
    assert batch.prompt_lengths_P.tolist() == [0]
    assert batch.loss_mask_RT.tolist() == [[False, True, True]]


def test_a_first_token_that_nothing_predicts_is_no_loss_token():
    assert make_row((), "sscs", seed=0).num_loss_tokens == 2
    assert make_row((7,), "sscs", seed=0).num_loss_tokens == 3


@pytest.mark.parametrize("max_tokens", [15, 20, 27, 40, 60, 1000])
def test_splitting_loses_nothing_repeats_nothing_and_keeps_to_the_budget(max_tokens):
    rows = all_shapes()
    parts = split_rows(rows, max_tokens=max_tokens)
    assert [item for part in parts for item in part] == rows
    assert all(padded_tokens(part) <= max_tokens for part in parts)


@pytest.mark.parametrize("seed", range(10))
def test_a_new_batch_begins_only_where_the_budget_would_break(seed):
    rng = Random(seed)
    rows = [
        make_row(rng.choice([PROMPT_A, PROMPT_B, (5, 6)]), "s" * rng.randint(1, 9), seed=i)
        for i in range(40)
    ]
    parts = split_rows(rows, max_tokens=48)
    assert [item for part in parts for item in part] == rows
    for part, following in zip(parts, parts[1:], strict=False):
        assert padded_tokens(part) <= 48 < padded_tokens([*part, following[0]])


def test_a_row_that_just_fits_is_taken_and_a_longer_one_is_refused_by_name():
    row = make_row(PROMPT_A, "sss", seed=0, name="train-000007/3")
    assert split_rows([row], max_tokens=10) == [[row]]
    with pytest.raises(ValueError, match=r"micro_batch_tokens: 9 .* train-000007/3 alone has 10"):
        split_rows([row], max_tokens=9)


def test_no_rows_make_no_batches():
    assert split_rows([], max_tokens=10) == []


def test_thousands_of_rows_are_split_at_once():
    rows = [make_row(PROMPT_A, "s" * (1 + i % 9), seed=i) for i in range(4000)]
    start_s = time.perf_counter()
    assert len(split_rows(rows, max_tokens=10**6)) == 1
    assert time.perf_counter() - start_s < 1.0  # growing with the square it would take a minute


def test_padding_holds_no_loss_and_no_value():
    batch = make_micro_batch(all_shapes())
    is_padding = torch.arange(batch.ids_RT.shape[1]) >= batch.lengths_R[:, None]
    for tensor in (batch.ids_RT, batch.loss_mask_RT, batch.sampler_logprobs_RT):
        assert not tensor[is_padding].any()
