"""N micro-batches, padded or packed, give the loss and the gradient of one batch (float64)."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from toolorchestra.algorithm.aggregate import global_denominator
from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.algorithm.metrics import LossStats
from toolorchestra.algorithm.objective import Tokens, policy_objective

# B: sequences, P: positions, V: vocabulary, D: width
B, P, V, D = 6, 7, 5, 3
LENGTHS = [7, 2, 5, 1, 4, 3]
LOSSES = ["grpo", "gspo", "cispo"]
AGGREGATIONS = ["token_mean", "sequence_mean", "dr_grpo"]
SPLITS = [[[0, 1, 2, 3, 4, 5]], [[0], [1], [2], [3], [4], [5]], [[5, 0], [3], [1, 4, 2]]]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Tensors this small only wait for one another's threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class Batch:
    """Six sequences of 1 to 7 tokens, the first of each a prompt without loss."""

    def __init__(self, masked_sequences: tuple[int, ...] = ()) -> None:
        draw = torch.Generator().manual_seed(0)
        self.weights_DV = torch.randn(D, V, generator=draw, dtype=torch.float64)
        self.states_BPD = torch.randn(B, P, D, generator=draw, dtype=torch.float64)
        self.ids_BP = torch.randint(V, (B, P), generator=draw)
        self.advantages_B = torch.randn(B, generator=draw, dtype=torch.float64)
        logprobs_BP = self.logprobs(self.weights_DV, list(range(B)))
        noise_BP = torch.randn(B, P, generator=draw, dtype=torch.float64)
        self.sampler_BP = logprobs_BP + 0.3 * noise_BP
        self.ref_BP = logprobs_BP + 0.2 * noise_BP.flip(0)
        positions_P = torch.arange(P)
        self.mask_BP = (positions_P >= 1) & (positions_P < torch.tensor(LENGTHS)[:, None])
        for sequence in masked_sequences:
            self.mask_BP[sequence] = False

    def logprobs(self, weights_DV: Tensor, rows: list[int]) -> Tensor:
        all_RPV = (self.states_BPD[rows] @ weights_DV).log_softmax(-1)
        return all_RPV.gather(-1, self.ids_BP[rows][..., None])[..., 0]

    def tokens(self, weights_DV: Tensor, rows: list[int], is_packed: bool) -> Tokens:
        """The rows flattened, with padding or without."""
        lengths_R = torch.tensor(LENGTHS)[rows]
        is_token_RP = torch.arange(P) < lengths_R[:, None]
        keep_RP = is_token_RP if is_packed else torch.ones_like(is_token_RP)
        sequences_RP = torch.arange(len(rows))[:, None].expand(-1, P)
        logprobs_RP = self.logprobs(weights_DV, rows)
        return Tokens(
            logprobs_T=logprobs_RP[keep_RP],
            sampler_logprobs_T=self.sampler_BP[rows][keep_RP],
            advantages_T=self.advantages_B[rows][:, None].expand(-1, P)[keep_RP],
            mask_T=self.mask_BP[rows][keep_RP],
            sequences_T=sequences_RP[keep_RP],
            num_sequences=len(rows),
            old_logprobs_T=None,
            ref_logprobs_T=self.ref_BP[rows][keep_RP],
        )


def train(
    batch: Batch, config: AlgorithmConfig, split: list[list[int]], is_packed: bool = False
) -> tuple[float, Tensor, dict[str, float]]:
    """Loss, gradient and statistics of a batch that is fed in the given micro-batches."""
    weights_DV = batch.weights_DV.clone().requires_grad_()
    denominator = global_denominator(
        config.aggregation,
        num_tokens=int(batch.mask_BP.sum()),
        num_sequences=int(batch.mask_BP.any(1).sum()),
        max_tokens=P,
    )
    total, stats = 0.0, None
    for rows in split:
        tokens = batch.tokens(weights_DV, rows, is_packed)
        if config.old_policy == "trainer":
            tokens = replace(tokens, old_logprobs_T=tokens.logprobs_T.detach())
        out = policy_objective(tokens, config, denominator=denominator)
        out.loss.backward()
        total += out.loss.item()
        stats = out.stats if stats is None else stats + out.stats
    assert isinstance(stats, LossStats)
    return total, weights_DV.grad, stats.means()


def assert_same(one, other):
    assert one[0] == pytest.approx(other[0], rel=1e-12)
    assert torch.allclose(one[1], other[1], rtol=1e-12, atol=1e-14)
    assert one[2] == pytest.approx(other[2], rel=1e-12, abs=1e-14)


def options(loss: str, aggregation: str, old_policy: str = "sampler") -> AlgorithmConfig:
    return AlgorithmConfig(
        loss=loss, aggregation=aggregation, old_policy=old_policy, kl="k3", kl_coef=0.1
    )


@pytest.mark.parametrize("old_policy", ["sampler", "trainer"])
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("loss", LOSSES)
def test_micro_batches_add_up_to_one_batch(loss, aggregation, old_policy):
    config = options(loss, aggregation, old_policy)
    whole = train(Batch(), config, SPLITS[0])
    assert whole[1].abs().max() > 1e-3
    for split in SPLITS[1:]:
        assert_same(train(Batch(), config, split), whole)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("loss", LOSSES)
def test_packed_equals_padded(loss, aggregation):
    config = options(loss, aggregation)
    for split in SPLITS:
        assert_same(train(Batch(), config, split, is_packed=True), train(Batch(), config, split))


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_fully_masked_row_changes_nothing(loss, aggregation):
    config = options(loss, aggregation)
    batch = Batch(masked_sequences=(0, 4))
    without = train(batch, config, [[1, 2, 3, 5]])
    assert_same(train(batch, config, SPLITS[0]), without)
    assert_same(train(batch, config, [[0], [1, 2], [4], [3, 5]]), without)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_batch_without_loss_tokens_is_a_step_of_nothing(loss, aggregation):
    total, gradient, means = train(Batch(tuple(range(B))), options(loss, aggregation), SPLITS[2])
    assert total == 0.0
    assert torch.equal(gradient, torch.zeros(D, V, dtype=torch.float64))
    assert set(means.values()) == {0.0}


def test_averaging_micro_batch_means_would_have_been_wrong():
    # The trap that the global denominator avoids: micro-batches of 6 and 10 tokens are no equals.
    config = options("grpo", "token_mean")
    whole = train(Batch(), config, SPLITS[0])[1]
    halves = []
    for rows in ([0], [1, 2, 3, 4, 5]):
        masked = tuple(set(range(B)) - set(rows))
        halves.append(train(Batch(masked), config, [rows])[1])
    assert not torch.allclose((halves[0] + halves[1]) / 2, whole, rtol=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_on_policy_every_loss_is_the_plain_policy_gradient(loss):
    # With old = current and token_mean: minus the sum of A grad log p over tokens, for GSPO too.
    batch = Batch()
    config = AlgorithmConfig(
        loss=loss, old_policy="trainer", tis_cap=1e9, geometric_low=0.0, geometric_high=1e9
    )
    batch.sampler_BP = batch.logprobs(batch.weights_DV, list(range(B)))
    weights_DV = batch.weights_DV.clone().requires_grad_()
    logprobs_BP = batch.logprobs(weights_DV, list(range(B)))
    plain = -(batch.advantages_B[:, None] * logprobs_BP)[batch.mask_BP].sum() / batch.mask_BP.sum()
    plain.backward()
    assert torch.allclose(train(batch, config, SPLITS[2])[1], weights_DV.grad, rtol=1e-12)
