import math

import pytest

from toolorchestra.chat.rows import RowBuilder

A, B, AB, RESULT = 1, 2, 3, 9  # the tokenizer of C11: "a" = 1, "b" = 2, "ab" = 3


def begun(prompt=(7, 8)):
    builder = RowBuilder("episode_5/2")
    builder.new_row(prompt)
    return builder


def test_c11_ids_are_trained_as_sampled_even_where_their_text_has_a_shorter_form():
    builder = begun()
    builder.append_sampled([A, B], [-0.1, -0.2], 4)
    builder.append_context([RESULT])
    builder.append_sampled([AB], [-0.3], 5)
    (row,) = builder.rows()
    assert row.ids == (7, 8, A, B, RESULT, AB)
    assert row.loss_mask == (0, 0, 1, 1, 0, 1)
    assert row.logprobs == (0.0, 0.0, -0.1, -0.2, 0.0, -0.3)
    assert row.versions == (-1, -1, 4, 4, -1, 5)


def test_a_new_row_carries_no_loss_on_turns_that_were_trained_before():
    builder = begun()
    builder.append_sampled([A, B], [-0.1, -0.2], 0)
    builder.new_row([7, 8, AB, 7])  # the re-rendered history
    builder.append_sampled([A], [-0.5], 1)
    first, second = builder.rows()
    assert first.loss_mask == (0, 0, 1, 1)
    assert second.ids == (7, 8, AB, 7, A) and second.loss_mask == (0, 0, 0, 0, 1)


def test_a_row_without_a_sampled_token_is_left_out():
    builder = begun()
    assert builder.rows() == ()
    builder.append_sampled([A], [-0.1], 0)
    builder.new_row([7])
    assert len(builder.rows()) == 1


def test_the_open_row_is_the_next_prompt_and_cannot_be_changed_from_outside():
    builder = begun()
    builder.append_sampled([A], [-0.1], 0)
    builder.ids.append(99)
    assert builder.ids == [7, 8, A] and len(builder) == 3


def test_the_prompt_given_is_copied():
    prompt = [7, 8]
    builder = begun(prompt)
    prompt.append(99)
    assert builder.ids == [7, 8]


@pytest.mark.parametrize("logprobs", [[-0.1], [-0.1, -0.2, -0.3], []])
def test_a_log_probability_is_needed_for_each_id(logprobs):
    with pytest.raises(ValueError, match=f"episode_5/2: 2 sampled ids .* got {len(logprobs)}"):
        begun().append_sampled([A, B], logprobs, 0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_log_probability_must_be_finite(bad):
    builder = begun()
    with pytest.raises(ValueError, match="episode_5/2: .*id 2 at position 1.*must be finite"):
        builder.append_sampled([A, B], [-0.1, bad], 0)
    assert builder.ids == [7, 8]


def test_a_weight_version_is_never_negative():
    with pytest.raises(ValueError, match="episode_5/2: weight version -1"):
        begun().append_sampled([A], [-0.1], -1)
