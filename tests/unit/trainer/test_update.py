import math
from dataclasses import replace
from functools import partial

import pytest
import torch
from tests.unit.trainer.rows import (
    MAX_TOKENS,
    PROMPT_A,
    PROMPT_B,
    all_shapes,
    flat_logprobs,
    gradients,
    ids_of,
    largest_gap,
    make_model,
    make_row,
    num_prefixes,
    sampled_by,
    update,
)

from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.trainer.config import TrainerConfig
from toolorchestra.trainer.flops import costs_of
from toolorchestra.trainer.logprobs import score_tokens
from toolorchestra.trainer.update import accumulate_gradients

TOLERANCE = 1e-10
NAN, INF = float("nan"), float("inf")
ONE_BY_ONE, A_FEW, ALL_AT_ONCE = 15, 25, 1000


def unbounded(**changes):
    """The loss of all sequences, however far from the sampler's."""
    return AlgorithmConfig(geometric_low=0.0, geometric_high=1e9, **changes)


def with_ratio(model, item, ratio):
    """The row as sampled by a policy that gave each of its tokens 1 / ratio the probability."""
    with torch.no_grad():
        values = [0.0, *(flat_logprobs(model, item.row) - math.log(ratio)).tolist()]
    logprobs = tuple(v if bit else 0.0 for v, bit in zip(values, item.row.loss_mask, strict=True))
    return replace(item, row=replace(item.row, logprobs=logprobs))


def rows_by_hand(model):
    """Two tokens of ratio 1.2 with A = 1, one of ratio 1.5 with A = -2."""
    return [
        with_ratio(model, make_row(PROMPT_A, "scs", seed=1, advantage=1.0), 1.2),
        with_ratio(model, make_row(PROMPT_A, "s", seed=2, advantage=-2.0), 1.5),
    ]


@pytest.mark.parametrize(
    ("aggregation", "loss"),
    [
        # Losses -1.2, -1.2 | 3. Over 3 tokens; means of 2 sequences; over 2 sequences of 12 tokens.
        ("token_mean", (-2.4 + 3) / 3),
        ("sequence_mean", (-1.2 + 3) / 2),
        ("dr_grpo", (-2.4 + 3) / (2 * MAX_TOKENS)),
    ],
)
@pytest.mark.parametrize("micro_batch_tokens", [10, 1000])
def test_the_loss_by_hand(aggregation, loss, micro_batch_tokens):
    model = make_model()
    algorithm = unbounded(aggregation=aggregation)
    found = update(model, rows_by_hand(model), algorithm, micro_batch_tokens=micro_batch_tokens)
    assert found.metrics["loss"] == pytest.approx(loss, abs=1e-5)
    assert found.metrics["ratio"] == pytest.approx((1.2 + 1.2 + 1.5) / 3, abs=1e-5)
    assert found.metrics["ratio_max"] == pytest.approx(1.5, abs=1e-5)
    assert found.not_finite == ()


def test_against_the_trainers_own_weights_ratios_are_1_and_the_weight_is_bounded():
    # Weights 1.2, 1.2 | min(1.5, 1.3): losses -1.2, -1.2, 2 * 1.3.
    model = make_model()
    algorithm = unbounded(old_policy="trainer", tis_cap=1.3)
    metrics = update(model, rows_by_hand(model), algorithm).metrics
    assert metrics["loss"] == pytest.approx((-2.4 + 2.6) / 3, abs=1e-5)
    assert metrics["ratio"] == pytest.approx(1.0, abs=1e-6)


def test_a_reference_equal_to_the_policy_adds_nothing():
    model = make_model()
    rows, algorithm = rows_by_hand(model), unbounded(kl="k3", kl_coef=1.0)
    metrics = update(model, rows, algorithm, reference=make_model()).metrics
    plain = update(make_model(), rows, unbounded()).metrics
    assert metrics["kl"] == pytest.approx(0.0, abs=1e-9)
    assert metrics["loss"] == pytest.approx(plain["loss"], abs=1e-9)
    assert update(model, rows, algorithm, reference=make_model(1)).metrics["kl"] > 0.01


def test_gradients_are_added_to_what_is_there():
    model = make_model()
    rows = rows_by_hand(model)
    update(model, rows)
    once = {name: weight.grad.clone() for name, weight in model.named_parameters()}
    update(model, rows)
    assert largest_gap(gradients(model), {name: 2 * grad for name, grad in once.items()}) < 1e-12


@pytest.mark.parametrize("share_prefixes", [True, False])
def test_the_tokens_that_were_computed_are_counted(share_prefixes):
    rows = all_shapes()
    found = update(make_model(), rows, share_prefixes=share_prefixes)
    assert found.num_tokens == (num_prefixes(ids_of(rows)) if share_prefixes else 96)


class Passes:
    """Notes what goes forward and back."""

    def __init__(self, model):
        self.model, self.batches, self.losses, self.are_last = model, [], [], []

    def score(self, batch):
        self.batches.append(batch)
        return score_tokens(self.model, batch)

    def backward(self, loss, is_last):
        self.losses.append(float(loss.detach()))
        self.are_last.append(is_last)
        loss.backward()


class Rank:
    """One of several ranks, which run one after the other: the last hears all that was said."""

    def __init__(self, rank, size, said):
        self.rank, self.size, self.said = rank, size, said

    def from_all(self, value):
        self.said.append(value)
        return list(self.said)


def on_ranks(model, rows, algorithm=None, *, size, passes=None, **trainer):
    """What the last rank knows, and for each its gradient, which is yet to be averaged."""
    said, of_each, found = [], [], None
    for rank in range(size):
        seen = Passes(model) if passes is None else passes[rank]
        found = accumulate_gradients(
            seen.score,
            rows,
            costs=costs_of(model.config),
            algorithm=algorithm or AlgorithmConfig(),
            trainer=TrainerConfig(**trainer),
            max_tokens=MAX_TOKENS,
            backward=seen.backward,
            ranks=Rank(rank, size, said),
        )
        of_each.append(gradients(model))
    return found, of_each


def mean_of(of_each):
    return {name: sum(g[name] for g in of_each) / len(of_each) for name in of_each[0]}


@pytest.mark.parametrize("micro_batch_tokens", [ONE_BY_ONE, A_FEW, ALL_AT_ONCE])
def test_the_last_micro_batch_and_no_other_is_told_to_be_the_last(micro_batch_tokens):
    model = make_model()
    passes = [Passes(model), Passes(model)]
    on_ranks(model, all_shapes(), size=2, passes=passes, micro_batch_tokens=micro_batch_tokens)
    for seen in passes:
        assert seen.are_last == [False] * (len(seen.batches) - 1) + [True]
    assert len(passes[0].batches) == len(passes[1].batches)
    assert (len(passes[0].batches) > 1) == (micro_batch_tokens < ALL_AT_ONCE)


@pytest.mark.parametrize("aggregation", ["token_mean", "sequence_mean", "dr_grpo"])
@pytest.mark.parametrize(
    ("size", "micro_batch_tokens"),
    [(2, ALL_AT_ONCE), (2, ONE_BY_ONE), (3, A_FEW), (16, ALL_AT_ONCE)],
)
def test_ranks_with_uneven_rows_average_to_the_gradient_of_one(
    aggregation, size, micro_batch_tokens
):
    model = make_model()
    rows = list(sampled_by(model, all_shapes()))
    algorithm = AlgorithmConfig(aggregation=aggregation, loss="gspo", clip_low=0.01, clip_high=0.01)
    whole = update(model, rows, algorithm)
    wanted = gradients(model)
    options = {"size": size, "micro_batch_tokens": micro_batch_tokens}
    found, of_each = on_ranks(model, rows, algorithm, **options)
    assert largest_gap(wanted, {name: 0 * grad for name, grad in wanted.items()}) > 1e-3
    assert largest_gap(of_each[0], of_each[1]) > 1e-3, "they had different rows"
    assert largest_gap(mean_of(of_each), wanted) < TOLERANCE
    assert found.metrics == pytest.approx(whole.metrics, abs=TOLERANCE)


def test_a_rank_without_rows_adds_exactly_nothing_but_keeps_step():
    model = make_model()
    rows = list(sampled_by(model, [make_row(PROMPT_A, "scs", seed=1)]))
    passes = [Passes(model), Passes(model)]
    found, (busy, idle) = on_ranks(model, rows, size=2, passes=passes)
    assert all(grad.abs().max() > 0 for grad in busy.values())
    assert all(not grad.any() for grad in idle.values())
    assert passes[1].losses == [0.0] and len(passes[1].batches) == 1
    alone = update(model, rows)
    assert found.metrics == pytest.approx(alone.metrics, abs=1e-15)
    assert found.num_tokens == 2 * alone.num_tokens, "which it computes all the same"


def test_a_rank_without_rows_computes_the_shortest_there_is():
    model = make_model()
    rows = [make_row(PROMPT_A, "ss", seed=1), make_row((7,), "s", seed=2, name="f/0")]
    passes = [Passes(model) for _ in range(3)]
    on_ranks(model, rows, size=3, passes=passes)
    assert sorted(seen.batches[0].num_tokens for seen in passes) == [2, 2, 9]


@pytest.mark.parametrize("aggregation", ["token_mean", "sequence_mean"])
@pytest.mark.parametrize("entropy_coef", [0.0, 0.1])
def test_not_even_a_broken_row_makes_a_rank_without_rows_add_anything(aggregation, entropy_coef):
    model = make_model()
    rows = [broken(make_row(PROMPT_A, "scs", seed=1, advantage=NAN), logprob=NAN)]
    algorithm = AlgorithmConfig(aggregation=aggregation, entropy_coef=entropy_coef)
    found, (_, idle) = on_ranks(model, rows, algorithm, size=2)
    assert all(not grad.any() for grad in idle.values())
    assert found.not_finite == ("e/0",)


def broken(item, *, logprob):
    """The row with this as what its sampler thought of its last loss token."""
    last = max(i for i, bit in enumerate(item.row.loss_mask) if bit)
    logprobs = tuple(logprob if i == last else v for i, v in enumerate(item.row.logprobs))
    return replace(item, row=replace(item.row, logprobs=logprobs))


ALGORITHMS = {
    "grpo": AlgorithmConfig(),
    "gspo": AlgorithmConfig(loss="gspo", aggregation="sequence_mean"),
    "cispo": AlgorithmConfig(loss="cispo", aggregation="dr_grpo"),
    "trainer": AlgorithmConfig(old_policy="trainer"),
    "unbounded": unbounded(entropy_coef=0.1),
}
LAYOUTS = {
    "shared": {},
    "apart": {"share_prefixes": False},
    "in several micro-batches": {"micro_batch_tokens": ONE_BY_ONE},
}
SPOIL = {
    "advantage is not a number": partial(replace, advantage=NAN),
    "advantage is infinite": partial(replace, advantage=INF),
    "sampler's logprob is not a number": partial(broken, logprob=NAN),
    "sampler's logprob is infinite": partial(broken, logprob=-INF),
}


@pytest.mark.parametrize(
    ("algorithm", "layout"),
    [
        *((algorithm, "shared") for algorithm in ALGORITHMS),
        ("grpo", "apart"),
        ("grpo", "in several micro-batches"),
    ],
)
@pytest.mark.parametrize("fault", SPOIL)
def test_the_one_rollout_whose_values_are_not_finite_is_named(fault, algorithm, layout):
    # Most share their prompt, some even what they say; a/2 has two rows.
    model = make_model()
    rows = list(sampled_by(model, all_shapes()))
    for r, item in enumerate(rows):
        spoilt = [*rows[:r], SPOIL[fault](item), *rows[r + 1 :]]
        found = update(model, spoilt, ALGORITHMS[algorithm], **LAYOUTS[layout])
        assert found.not_finite == (item.name,)
        model.zero_grad()


def test_all_whose_values_are_not_finite_are_named_once():
    model = make_model()
    rows = list(sampled_by(model, all_shapes()))
    for r in (0, 2, 3, 8):
        rows[r] = replace(rows[r], advantage=NAN)
    assert sorted(update(model, rows).not_finite) == ["a/0", "a/2", "c/0"]


def test_every_rank_hears_of_another_ones_fault():
    model = make_model()
    rows = list(sampled_by(model, all_shapes()))
    rows[0], rows[-1] = (replace(rows[r], advantage=NAN) for r in (0, -1))
    found, _ = on_ranks(model, rows, size=2, micro_batch_tokens=ONE_BY_ONE)
    assert sorted(found.not_finite) == ["a/0", "c/1"]


def last_token_of(batch, name):
    """Of the row of this name: the number of its last loss token."""
    row = batch.names.index(name)
    return int((batch.rows_N == row).nonzero().max())


def faulty_score(model, name, plant):
    def score(batch):
        scores = score_tokens(model, batch)
        return plant(batch, scores, last_token_of(batch, name))

    return score


def forward_fault(batch, scores, n):
    """A log-probability of the policy is not a number."""
    logprobs_N = scores.logprobs_N.index_fill(0, torch.tensor([n]), NAN)
    return scores._replace(logprobs_N=logprobs_N)


def fault_of_the_loss(batch, scores, n):
    """The gradient of a log-probability is not a number."""
    scores.logprobs_N.register_hook(lambda grad: grad.index_fill(0, torch.tensor([n]), NAN))
    return scores


def fault_inside_the_model(batch, scores, n):
    """The gradient of all tokens that the loss token is told from, as it comes out."""
    last = int(batch.predictors_N[n])
    past = torch.tensor([j for j in range(last + 1) if last < batch.tree.ends_L[j]])
    scores.embedded_LD.register_hook(lambda grad: grad.index_fill(0, past, NAN))
    return scores


@pytest.mark.parametrize("name", ["a/0", "a/1", "a/3", "b/0", "b/1", "b/2", "c/0", "c/1"])
@pytest.mark.parametrize("plant", [forward_fault, fault_of_the_loss])
def test_the_one_rollout_whose_scores_or_their_gradient_break_is_named(plant, name):
    model = make_model()
    rows = list(sampled_by(model, all_shapes()))
    found = update(model, rows, score=faulty_score(model, name, plant))
    assert found.not_finite == (name,)


def test_a_gradient_that_breaks_inside_the_model_names_whose_last_token_it_reached():
    # The rows part at their first own token, so that each has a last predictor of its own.
    model = make_model()
    rows = [
        make_row((*prompt, i), "sscs", seed=i, name=f"{episode}/{i}")
        for episode, prompt in (("a", PROMPT_A), ("b", PROMPT_B))
        for i in range(10, 13)
    ]
    for item in rows:
        score = faulty_score(model, item.name, fault_inside_the_model)
        assert update(model, rows, score=score).not_finite == (item.name,)


def test_a_gradient_that_breaks_in_a_layer_is_found_and_its_rollout_among_the_names():
    # Attention multiplies even what it masks, and 0 times NaN is NaN: others may be named as well.
    model = make_model()
    rows = list(sampled_by(model, all_shapes()))

    def score(batch):
        place = int(batch.predictors_N[last_token_of(batch, "a/2")])

        def plant(module, args, out):
            out.register_hook(lambda grad: grad.index_fill(1, torch.tensor([place]), NAN))

        with model.model.layers[0].register_forward_hook(plant):
            return score_tokens(model, batch)

    assert "a/2" in update(model, rows, score=score).not_finite


def test_a_fault_that_no_rollout_can_be_blamed_for_is_everyones():
    model = make_model()
    rows = [make_row(PROMPT_A, "ss", seed=i, name=f"e/{i}") for i in range(3)]

    def score(batch):
        scores = score_tokens(model, batch)
        root = torch.tensor([0])
        scores.embedded_LD.register_hook(lambda grad: grad.index_fill(0, root, NAN))
        return scores

    assert set(update(model, rows, score=score).not_finite) == {"e/0", "e/1", "e/2"}


def test_embeddings_that_are_not_trained_do_not_hide_a_fault():
    model = make_model(is_tied=False)
    model.get_input_embeddings().weight.requires_grad_(False)
    rows = [make_row((*PROMPT_A, i), "sscs", seed=i, name=f"e/{i}") for i in range(10, 13)]
    score = faulty_score(model, "e/11", fault_inside_the_model)
    assert update(model, rows, score=score).not_finite == ("e/11",)
