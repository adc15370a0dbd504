import math

import numpy as np
import pytest
import torch

from toolorchestra.engine.sampling import sample, uniforms


def seeds(count):
    """Seeds as the rollout loop makes them: 64 bits, unlike one another."""
    return np.random.default_rng(0).integers(0, 2**64, size=count, dtype=np.uint64)


def chi_square(draws, num_bins):
    counts = np.histogram(draws, bins=num_bins, range=(0, 1))[0]
    wanted = len(draws) / num_bins
    return float(((counts - wanted) ** 2 / wanted).sum())


# 99 degrees of freedom: mean 99, standard deviation 14; 1 of 10,000 exceeds 161
@pytest.mark.parametrize("step", [0, 1, 63, 8000])
def test_uniforms_of_many_seeds_are_uniform(step):
    assert chi_square(uniforms(seeds(20_000), step), 100) < 161


def test_uniforms_of_one_seed_over_many_steps_are_uniform():
    one = np.array([12345], dtype=np.uint64)
    assert chi_square(np.concatenate([uniforms(one, step) for step in range(20_000)]), 100) < 161


def test_small_seeds_in_a_row_are_uniform_and_unrelated_to_their_neighbours():
    draws = uniforms(np.arange(20_000, dtype=np.uint64), 0)
    assert chi_square(draws, 100) < 161
    assert abs(np.corrcoef(draws[1:], draws[:-1])[0, 1]) < 0.03
    assert abs(np.corrcoef(draws, uniforms(np.arange(20_000, dtype=np.uint64), 1))[0, 1]) < 0.03


def test_uniforms_follow_the_published_splitmix64():
    # its first outputs for the state 1234567, as in Vigna's reference program
    wanted = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    one = np.array([1234567], dtype=np.uint64)
    got = [float(uniforms(one, step)[0]) for step in range(3)]
    assert got == [(z >> 11) / 2**53 for z in wanted]


def test_uniforms_stay_below_one_for_every_64_bit_seed():
    edge = np.array([0, 1, 2**63, 2**64 - 1], dtype=np.uint64)
    draws = uniforms(edge, 0)
    assert ((draws >= 0) & (draws < 1)).all()


def test_frequencies_match_the_distribution():
    count = 20_000
    probabilities = torch.tensor([0.5, 0.25, 0.15, 0.1])
    logits = probabilities.log().expand(count, 4)
    ids, logprobs = sample(logits, uniforms(seeds(count), 0), torch.ones(count))
    wanted = probabilities * count
    observed = torch.bincount(ids, minlength=4)
    assert float(((observed - wanted) ** 2 / wanted).sum()) < 21.1  # 3 degrees of freedom, 1e-4
    torch.testing.assert_close(logprobs, probabilities.log()[ids])


def test_temperature_sharpens_the_distribution_and_its_log_probabilities():
    # odds 3 to 1 become 9 to 1 at temperature 1/2
    count = 20_000
    logits = torch.tensor([0.75, 0.25]).log().expand(count, 2)
    ids, logprobs = sample(logits, uniforms(seeds(count), 0), torch.full((count,), 0.5))
    assert float((ids == 0).float().mean()) == pytest.approx(0.9, abs=0.01)
    assert float(logprobs[ids == 0][0]) == pytest.approx(math.log(0.9), abs=1e-6)


def test_temperature_zero_takes_the_likeliest_with_its_log_probability_at_one():
    logits = torch.tensor([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]])
    ids, logprobs = sample(logits, np.array([0.999, 0.999]), torch.zeros(2))
    assert ids.tolist() == [1, 0]
    wanted = torch.log_softmax(logits, -1).gather(-1, ids[:, None]).squeeze(-1)
    torch.testing.assert_close(logprobs, wanted)


def test_greedy_and_sampled_rows_share_a_batch():
    logits = torch.tensor([[0.0, 1.0], [0.0, 1.0]])
    ids, _ = sample(logits, np.array([0.1, 0.1]), torch.tensor([0.0, 1.0]))
    assert ids.tolist() == [1, 0]


@pytest.mark.parametrize("draw", [0.0, 1 - 2**-53])
def test_a_token_of_probability_zero_is_never_drawn(draw):
    never = -math.inf
    logits = torch.tensor([[never, 0.0, never, 1.0, never]]).expand(3, 5) * torch.tensor(
        [[1.0], [1.7], [0.3]]
    )
    ids, logprobs = sample(logits, np.full(3, draw), torch.ones(3))
    assert ids.tolist() == [1 if draw == 0 else 3] * 3
    assert torch.isfinite(logprobs).all()


def test_the_largest_uniform_stays_inside_a_large_vocabulary():
    torch.manual_seed(0)
    logits = torch.randn(64, 5000)
    ids, logprobs = sample(logits, np.full(64, 1 - 2**-53), torch.ones(64))
    assert int(ids.max()) < 5000
    assert torch.isfinite(logprobs).all()


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_logits_that_are_not_numbers_are_refused(temperature):
    logits = torch.tensor([[0.0, math.nan], [0.0, 1.0]])
    with pytest.raises(ValueError, match="weights are damaged"):
        sample(logits, np.array([0.5, 0.5]), torch.full((2,), temperature))
