"""How rows are laid out changes nothing: scores, loss, gradient and statistics are those of the
rows one at a time, whether padded, packed, or packed so that shared prefixes stand there once."""

from dataclasses import replace
from functools import cache

import pytest
import torch
from tests.unit.trainer.rows import (
    MAX_TOKENS,
    MODELS,
    all_shapes,
    gradients,
    largest_gap,
    make_model,
    predicted,
    sampled_by,
    update,
)
from torch.nn.attention import flex_attention

from toolorchestra.algorithm.aggregate import global_denominator
from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.algorithm.objective import Tokens, policy_objective
from toolorchestra.trainer import logprobs
from toolorchestra.trainer import update as trainer_update
from toolorchestra.trainer.attention import TreeLayout, block_mask, bucket_layout
from toolorchestra.trainer.batch import make_micro_batch
from toolorchestra.trainer.logprobs import score_tokens

TOLERANCE = 1e-10
VISIBLE = 1e6 * TOLERANCE
"""What a planted fault must exceed."""
ALL_AT_ONCE, A_FEW, ONE_BY_ONE = 1000, 25, 15

CONFIGS = {
    "token_mean": AlgorithmConfig(),
    "sequence_mean": AlgorithmConfig(aggregation="sequence_mean"),
    "dr_grpo": AlgorithmConfig(aggregation="dr_grpo"),
    "trainer": AlgorithmConfig(old_policy="trainer"),
    "gspo": AlgorithmConfig(loss="gspo", clip_low=0.01, clip_high=0.01),
    "cispo": AlgorithmConfig(loss="cispo"),
    "entropy": AlgorithmConfig(entropy_coef=0.1),
    "kl": AlgorithmConfig(kl="k2", kl_coef=0.5),
    "rejecting": AlgorithmConfig(geometric_low=0.99, geometric_high=1.01),
}


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """For a model this small, threads only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def one_at_a_time(model, rows):
    """The logits of each row, alone in its batch."""
    return [model(input_ids=torch.tensor([item.row.ids])).logits[0] for item in rows]


def padded(model, rows):
    """The logits of each row, all in one batch as transformers pads it."""
    lengths = [len(item.row.ids) for item in rows]
    ids = torch.zeros(len(rows), max(lengths), dtype=torch.int64)
    mask = torch.zeros_like(ids)
    for r, item in enumerate(rows):
        ids[r, : lengths[r]] = torch.tensor(item.row.ids)
        mask[r, : lengths[r]] = 1
    logits = model(input_ids=ids, attention_mask=mask).logits
    return [row[:length] for row, length in zip(logits, lengths, strict=True)]


def plain_scores(logits_of, model, rows):
    """Log-probability and entropy of every loss token, row by row."""
    logprobs, entropies = [], []
    for item, logits in zip(rows, logits_of(model, rows), strict=True):
        distributions = torch.log_softmax(logits[:-1], dim=-1)
        targets = torch.tensor(item.row.ids[1:])
        is_loss = predicted(item.row)
        logprobs.append(distributions.gather(-1, targets[:, None])[is_loss, 0])
        entropies.append(-(distributions.exp() * distributions).sum(-1)[is_loss])
    return torch.cat(logprobs), torch.cat(entropies)


def plain_loss(logits_of, model, rows, algorithm, reference=None):
    logprobs_T, entropy_T = plain_scores(logits_of, model, rows)
    ref_logprobs_T = None
    if reference is not None:
        ref_logprobs_T = plain_scores(logits_of, reference, rows)[0].detach()
    counts = torch.tensor([item.num_loss_tokens for item in rows])
    sampler = [torch.tensor(item.row.logprobs[1:])[predicted(item.row)] for item in rows]
    tokens = Tokens(
        logprobs_T=logprobs_T,
        sampler_logprobs_T=torch.cat(sampler),
        advantages_T=torch.tensor([item.advantage for item in rows]).repeat_interleave(counts),
        mask_T=torch.ones(len(logprobs_T), dtype=torch.bool),
        sequences_T=torch.arange(len(rows)).repeat_interleave(counts),
        num_sequences=len(rows),
        old_logprobs_T=logprobs_T.detach() if algorithm.old_policy == "trainer" else None,
        ref_logprobs_T=ref_logprobs_T,
        entropy_T=entropy_T,
    )
    denominator = global_denominator(
        algorithm.aggregation,
        num_tokens=int(counts.sum()),
        num_sequences=len(rows),
        max_tokens=MAX_TOKENS,
    )
    return policy_objective(tokens, algorithm, denominator=denominator)


def reference_of(name):
    return make_model(1) if name == "kl" else None


@cache
def sampled_rows():
    return tuple(sampled_by(make_model(), all_shapes()))


@cache
def plain_update(name, logits_of=one_at_a_time):
    """Metrics and gradient of the rows as a plain model computes them."""
    model = make_model()
    output = plain_loss(logits_of, model, sampled_rows(), CONFIGS[name], reference_of(name))
    output.loss.backward()
    return {"loss": float(output.loss.detach()), **output.stats.means()}, gradients(model)


def gap(ours, theirs):
    """Infinite where there is none to speak of."""
    if len(ours) != len(theirs):
        return float("inf")
    return float((ours - theirs).detach().abs().nan_to_num(float("inf")).max())


@pytest.mark.parametrize("share_prefixes", [True, False])
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("is_tied", [True, False])
def test_log_probabilities_and_entropies_are_those_of_plain_rows(is_tied, kind, share_prefixes):
    rows = all_shapes()
    plain = make_model(is_tied=is_tied, kind=kind)
    model = make_model(is_tied=is_tied, kind=kind)
    scores = score_tokens(model, make_micro_batch(rows, share_prefixes=share_prefixes))
    assert scores.logprobs_N.dtype == torch.float64
    for logits_of in (one_at_a_time, padded):
        logprobs_N, entropy_N = plain_scores(logits_of, plain, rows)
        assert gap(scores.logprobs_N, logprobs_N) < TOLERANCE
        assert gap(scores.entropy_N, entropy_N) < TOLERANCE


@pytest.mark.parametrize("name", CONFIGS)
def test_padded_rows_have_the_loss_and_gradient_of_rows_one_at_a_time(name):
    metrics, wanted = plain_update(name)
    padded_metrics, found = plain_update(name, padded)
    assert padded_metrics == pytest.approx(metrics, abs=TOLERANCE)
    assert largest_gap(found, wanted) < TOLERANCE


@pytest.mark.parametrize("share_prefixes", [True, False])
@pytest.mark.parametrize("micro_batch_tokens", [ALL_AT_ONCE, A_FEW, ONE_BY_ONE])
@pytest.mark.parametrize("name", CONFIGS)
def test_loss_gradient_and_statistics_are_those_of_plain_rows(
    name, micro_batch_tokens, share_prefixes
):
    model, reference = make_model(), reference_of(name)
    found = update(
        model,
        sampled_rows(),
        CONFIGS[name],
        reference=reference,
        micro_batch_tokens=micro_batch_tokens,
        share_prefixes=share_prefixes,
    )
    metrics, wanted = plain_update(name)
    assert largest_gap(wanted, {k: 0 * v for k, v in wanted.items()}) > VISIBLE
    assert largest_gap(gradients(model), wanted) < TOLERANCE
    assert found.metrics == pytest.approx(metrics, rel=0, abs=TOLERANCE)
    assert found.not_finite == ()
    if name == "rejecting":
        assert 0 < metrics["rejected_fraction"] < 1
    if reference is not None:
        assert metrics["kl"] > 0.01
        assert all(weight.grad is None for weight in reference.parameters())


@pytest.mark.parametrize("share_prefixes", [True, False])
@pytest.mark.parametrize("micro_batch_tokens", [ALL_AT_ONCE, A_FEW, ONE_BY_ONE])
def test_budgets_divide_the_rows_as_these_tests_suppose(micro_batch_tokens, share_prefixes):
    rows, model, seen = all_shapes(), make_model(), []

    def score(batch):
        seen.append(batch.num_tokens)
        return score_tokens(model, batch)

    found = update(
        model,
        rows,
        score=score,
        micro_batch_tokens=micro_batch_tokens,
        share_prefixes=share_prefixes,
    )
    assert max(seen) <= micro_batch_tokens
    assert sum(seen) == found.num_tokens
    if micro_batch_tokens == ALL_AT_ONCE:
        # of 96 tokens written out, as test_batch.py counts by hand
        assert seen == [45 if share_prefixes else 96]
    else:
        assert len(seen) >= 3


def test_untied_embeddings_each_get_their_own_gradient():
    plain, model = make_model(is_tied=False), make_model(is_tied=False)
    rows = sampled_rows()
    plain_loss(one_at_a_time, plain, rows, CONFIGS["token_mean"]).loss.backward()
    wanted = gradients(plain)
    update(model, rows, CONFIGS["token_mean"])
    assert "lm_head.weight" in wanted
    assert largest_gap(gradients(model), wanted) < TOLERANCE


# Faults, each off by one, and each in one place alone where it can be.


def branching(tree):
    """The token behind which the most rows part."""
    children = {}
    for path in tree.paths:
        for parent, child in zip(path[:-1].tolist(), path[1:].tolist(), strict=True):
            children.setdefault(parent, set()).add(child)
    return max(children, key=lambda place: len(children[place]))


def with_tree(batch, **changes):
    return replace(batch, tree=replace(batch.tree, **changes))


def later_behind_a_branch(batch):
    """Positions skip one there: a shift of all of them rotary embeddings could not see."""
    tree = batch.tree
    parting = branching(tree)
    behind = (tree.positions_L > tree.positions_L[parting]).astype(int)
    return with_tree(batch, positions_L=tree.positions_L + behind)


def one_earlier(batch):
    """One token stands where its parent does."""
    positions_L = batch.tree.positions_L.copy()
    positions_L[batch.predictors_N[3]] -= 1
    return with_tree(batch, positions_L=positions_L)


def shift_one(values_N, step):
    """One of them is off by one."""
    values_N = values_N.clone()
    values_N[3] += step
    return values_N


BATCH_FAULTS = {
    "positions behind a branch": later_behind_a_branch,
    "one position": one_earlier,
    "one predictor too late": lambda batch: replace(
        batch, predictors_N=shift_one(batch.predictors_N, 1)
    ),
    "one predictor too early": lambda batch: replace(
        batch, predictors_N=shift_one(batch.predictors_N, -1)
    ),
    "predictors": lambda batch: replace(batch, predictors_N=batch.predictors_N.roll(1)),
    "targets": lambda batch: replace(batch, targets_N=batch.targets_N.roll(1)),
}


@pytest.mark.parametrize("name", BATCH_FAULTS)
def test_an_error_by_one_in_the_layout_would_be_seen(name):
    rows = all_shapes()
    wanted, _ = plain_scores(one_at_a_time, make_model(), rows)
    batch = make_micro_batch(rows)
    assert gap(score_tokens(make_model(), batch).logprobs_N, wanted) < TOLERANCE
    found = score_tokens(make_model(), BATCH_FAULTS[name](batch)).logprobs_N
    assert gap(found, wanted) > VISIBLE


def in_one_bucket(change):
    """Has `change` tamper with the last sequence of the largest bucket."""

    def lay_out(tree, device):
        layout = bucket_layout(tree)
        buckets = list(layout.buckets)
        number = max(range(len(buckets)), key=lambda i: buckets[i].mask_BQK.numel())
        bucket = buckets[number]
        fields = {name: getattr(bucket, name).clone() for name in ("keys_BK", "mask_BQK")}
        change(fields["keys_BK"][-1], fields["mask_BQK"][-1])
        buckets[number] = replace(bucket, **fields)
        return replace(layout, buckets=tuple(buckets))

    return lay_out


def sees_the_next_token(keys_K, mask_QK):
    mask_QK[:, 1:] = torch.maximum(mask_QK[:, 1:], mask_QK[:, :-1].clone())


def sees_not_itself(keys_K, mask_QK):
    mask_QK[:, :-1] = mask_QK[:, 1:].clone()
    mask_QK[:, -1] = -torch.inf


def sees_not_the_root(keys_K, mask_QK):
    mask_QK[:, 0] = -torch.inf


def sees_a_token_of_another_row(keys_K, mask_QK):
    keys_K[1] += 1


def sees_its_path_shifted(keys_K, mask_QK):
    keys_K[:] = keys_K.roll(1)


def one_query_sees_one_token_more(keys_K, mask_QK):
    mask_QK[0] = mask_QK[1].clone()


BUCKET_FAULTS = [
    sees_the_next_token,
    sees_not_itself,
    sees_not_the_root,
    sees_a_token_of_another_row,
    sees_its_path_shifted,
    one_query_sees_one_token_more,
]


def places_off_by_one(tree, device):
    layout = bucket_layout(tree)
    return replace(layout, places_L=layout.places_L.roll(1))


@pytest.mark.parametrize("share_prefixes", [True, False])
@pytest.mark.parametrize(
    "lay_out",
    [*map(in_one_bucket, BUCKET_FAULTS), places_off_by_one],
    ids=[*(fault.__name__ for fault in BUCKET_FAULTS), "places_off_by_one"],
)
def test_an_error_by_one_in_a_bucket_would_be_seen(lay_out, share_prefixes, monkeypatch):
    rows = all_shapes()
    wanted, _ = plain_scores(one_at_a_time, make_model(), rows)
    monkeypatch.setattr(logprobs, "lay_out", lay_out)
    batch = make_micro_batch(rows, share_prefixes=share_prefixes)
    assert gap(score_tokens(make_model(), batch).logprobs_N, wanted) > VISIBLE


def ends_changed(step, *, only=None):
    def change(tree):
        ends_L = tree.ends_L.copy()
        places = slice(None) if only is None else only(tree)
        ends_L[places] += step
        return replace(tree, ends_L=ends_L)

    return change


END_FAULTS = {
    "all too long": ends_changed(1),
    "one too long": ends_changed(1, only=lambda tree: int(tree.paths[1][-1])),
    # By one it would change a leaf alone, which predicts nothing.
    "all too short": ends_changed(-2),
}


@pytest.mark.parametrize("name", [None, *END_FAULTS])
def test_an_error_by_one_in_the_ends_would_be_seen_by_a_block_mask(name, monkeypatch):
    change = END_FAULTS.get(name, lambda tree: tree)
    monkeypatch.setattr(flex_attention, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)
    monkeypatch.setattr(
        logprobs,
        "lay_out",
        lambda tree, device: TreeLayout(block_mask=block_mask(change(tree), device)),
    )
    rows = all_shapes()
    with torch.no_grad():  # on a CPU flex attention knows no way back
        wanted, _ = plain_scores(one_at_a_time, make_model(), rows)
        found = score_tokens(make_model(), make_micro_batch(rows)).logprobs_N
    assert gap(found, wanted) < TOLERANCE if name is None else gap(found, wanted) > VISIBLE


DENOMINATOR_FAULTS = [
    ("token_mean", "num_tokens"),
    ("sequence_mean", "num_sequences"),
    ("dr_grpo", "num_sequences"),
    ("dr_grpo", "max_tokens"),
]


@pytest.mark.parametrize(("name", "count"), DENOMINATOR_FAULTS)
@pytest.mark.parametrize("step", [1, -1])
def test_an_error_by_one_in_the_denominator_would_be_seen(name, count, step, monkeypatch):
    def wrong(kind, **counts):
        return global_denominator(kind, **counts | {count: counts[count] + step})

    monkeypatch.setattr(trainer_update, "global_denominator", wrong)
    model = make_model()
    found = update(model, sampled_rows(), CONFIGS[name])
    metrics, wanted = plain_update(name)
    assert largest_gap(gradients(model), wanted) > VISIBLE
    assert abs(found.metrics["loss"] - metrics["loss"]) > VISIBLE


@pytest.mark.parametrize("name", ["token_mean", "sequence_mean", "dr_grpo"])
def test_denominators_of_single_micro_batches_would_be_seen(name, monkeypatch):
    def wrong(tokens, algorithm, *, denominator):
        own = global_denominator(
            algorithm.aggregation,
            num_tokens=int(tokens.mask_T.sum()),
            num_sequences=tokens.num_sequences,
            max_tokens=MAX_TOKENS,
        )
        return policy_objective(tokens, algorithm, denominator=own)

    monkeypatch.setattr(trainer_update, "policy_objective", wrong)
    model = make_model()
    update(model, sampled_rows(), CONFIGS[name], micro_batch_tokens=A_FEW)
    assert largest_gap(gradients(model), plain_update(name)[1]) > VISIBLE


ROW_FAULTS = {
    "rows": lambda batch: replace(batch, rows_N=batch.rows_N.roll(1)),
    "advantages": lambda batch: replace(batch, advantages_N=batch.advantages_N.roll(1)),
    "sampler": lambda batch: replace(batch, sampler_logprobs_N=batch.sampler_logprobs_N.roll(1)),
}


@pytest.mark.parametrize("fault", ROW_FAULTS)
def test_what_belongs_to_another_token_would_be_seen(fault, monkeypatch):
    def wrong(rows, **options):
        return ROW_FAULTS[fault](make_micro_batch(rows, **options))

    monkeypatch.setattr(trainer_update, "make_micro_batch", wrong)
    model = make_model()
    update(model, sampled_rows(), CONFIGS["gspo"])
    assert largest_gap(gradients(model), plain_update("gspo")[1]) > VISIBLE
