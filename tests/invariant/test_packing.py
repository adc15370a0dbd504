"""Shared prompts change nothing: scores, loss and gradient are those of plain rows, one by one."""

from dataclasses import replace

import pytest
import torch
from tests.unit.trainer.rows import all_shapes, flat_entropy, flat_logprobs, make_model, sampled_by

from toolorchestra.algorithm.aggregate import global_denominator
from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.algorithm.objective import Tokens, policy_objective
from toolorchestra.trainer.batch import make_micro_batch
from toolorchestra.trainer.logprobs import score_tokens
from toolorchestra.trainer.update import accumulate_gradients

TOLERANCE = 1e-10
MAX_TOKENS = 12
ALL_AT_ONCE, A_FEW, ONE_BY_ONE = 1000, 40, 17


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """For a model this small, threads only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def flat_scores(model, rows):
    return torch.cat(
        [flat_logprobs(model, item.row)[torch.tensor(item.row.loss_mask[1:]) == 1] for item in rows]
    )


def flat_loss(model, rows, algorithm, reference=None):
    """The loss of the rows written out in full, each alone in its forward pass."""
    masks = [torch.tensor(item.row.loss_mask[1:]) == 1 for item in rows]
    logprobs = flat_scores(model, rows)
    sampler = [
        torch.tensor(item.row.logprobs[1:])[mask] for item, mask in zip(rows, masks, strict=True)
    ]
    counts = torch.tensor([int(mask.sum()) for mask in masks])
    entropy = [flat_entropy(model, i.row)[mask] for i, mask in zip(rows, masks, strict=True)]
    tokens = Tokens(
        logprobs_T=logprobs,
        sampler_logprobs_T=torch.cat(sampler),
        advantages_T=torch.tensor([item.advantage for item in rows]).repeat_interleave(counts),
        mask_T=torch.ones(len(logprobs), dtype=torch.bool),
        sequences_T=torch.arange(len(rows)).repeat_interleave(counts),
        num_sequences=len(rows),
        old_logprobs_T=logprobs.detach() if algorithm.old_policy == "trainer" else None,
        ref_logprobs_T=None if reference is None else flat_scores(reference, rows).detach(),
        entropy_T=torch.cat(entropy),
    )
    denominator = global_denominator(
        algorithm.aggregation,
        num_tokens=int(counts.sum()),
        num_sequences=len(rows),
        max_tokens=MAX_TOKENS,
    )
    return policy_objective(tokens, algorithm, denominator=denominator)


def gradients(model):
    found = {name: weight.grad.clone() for name, weight in model.named_parameters()}
    model.zero_grad()
    return found


def packed_loss(model, rows, algorithm, micro_batch_tokens, reference=None):
    stats, num_tokens = accumulate_gradients(
        model,
        rows,
        algorithm=algorithm,
        max_tokens=MAX_TOKENS,
        micro_batch_tokens=micro_batch_tokens,
        backward=torch.Tensor.backward,
        reference=reference,
    )
    return stats, gradients(model), num_tokens


def largest_gap(ours, theirs):
    return max(float((ours[name] - theirs[name]).abs().max().detach()) for name in theirs)


CONFIGS = {
    "token_mean": AlgorithmConfig(),
    "sequence_mean": AlgorithmConfig(aggregation="sequence_mean"),
    "dr_grpo": AlgorithmConfig(aggregation="dr_grpo"),
    "trainer": AlgorithmConfig(old_policy="trainer"),
    "gspo": AlgorithmConfig(loss="gspo", clip_low=0.01, clip_high=0.01),
    "cispo": AlgorithmConfig(loss="cispo"),
    "entropy": AlgorithmConfig(entropy_coef=0.1),
    "kl": AlgorithmConfig(kl="k2", kl_coef=0.5),
}


@pytest.mark.parametrize("is_tied", [True, False])
def test_log_probabilities_and_entropies_are_those_of_plain_rows(is_tied):
    model = make_model(is_tied=is_tied)
    rows = all_shapes()
    scores = score_tokens(model, make_micro_batch(rows))
    assert scores.logprobs_N.dtype == torch.float64
    assert float((scores.logprobs_N - flat_scores(model, rows)).abs().max().detach()) < TOLERANCE
    entropies = torch.cat(
        [flat_entropy(model, i.row)[torch.tensor(i.row.loss_mask[1:]) == 1] for i in rows]
    )
    assert float((scores.entropy_N - entropies).abs().max().detach()) < TOLERANCE


@pytest.mark.parametrize("micro_batch_tokens", [ALL_AT_ONCE, A_FEW, ONE_BY_ONE])
@pytest.mark.parametrize("name", CONFIGS)
def test_loss_gradient_and_statistics_are_those_of_plain_rows(name, micro_batch_tokens):
    model, algorithm = make_model(), CONFIGS[name]
    reference = make_model(1) if name == "kl" else None
    rows = list(sampled_by(model, all_shapes()))
    flat = flat_loss(model, rows, algorithm, reference)
    flat.loss.backward()
    wanted = gradients(model)
    stats, found, _ = packed_loss(model, rows, algorithm, micro_batch_tokens, reference)
    assert largest_gap(wanted, {k: 0 * v for k, v in wanted.items()}) > 0.01
    assert stats["loss"] == pytest.approx(float(flat.loss.detach()), abs=TOLERANCE)
    assert largest_gap(found, wanted) < TOLERANCE
    assert {k: v for k, v in stats.items() if k != "loss"} == pytest.approx(flat.stats.means())
    if reference is not None:
        assert stats["kl"] > 0.01
        assert all(weight.grad is None for weight in reference.parameters())


def test_untied_embeddings_each_get_their_own_gradient():
    model = make_model(is_tied=False)
    rows = list(sampled_by(model, all_shapes()))
    flat_loss(model, rows, CONFIGS["token_mean"]).loss.backward()
    wanted = gradients(model)
    _, found, _ = packed_loss(model, rows, CONFIGS["token_mean"], ALL_AT_ONCE)
    assert "lm_head.weight" in wanted
    assert largest_gap(found, wanted) < TOLERANCE


def test_sharing_prompts_computes_fewer_tokens():
    # Written out: 15 + 8 + 11 + 13 + 13 + 6 + 4 + 4 = 74. A prompt's last token is computed with
    # each row: of A, 6 are shared by three rows, of B 3 by two: 74 - 2 * 6 - 3 = 59.
    rows = all_shapes()
    assert sum(len(item.row.ids) for item in rows) == 74
    *_, num_tokens = packed_loss(make_model(), rows, AlgorithmConfig(), ALL_AT_ONCE)
    assert num_tokens == 59


def plant(model, monkeypatch, change):
    """Has `change` tamper with the second pass, in which the rows attend to their prompts."""
    plain = model.model.forward

    def forward(**kwargs):
        if kwargs["past_key_values"].owner_R is not None:
            kwargs = change(kwargs)
        return plain(**kwargs)

    monkeypatch.setattr(model.model, "forward", forward)


def later_position(kwargs):
    return kwargs | {"position_ids": kwargs["position_ids"] + 1}


def sees_one_prompt_token_more(kwargs):
    mask = kwargs["attention_mask"].clone()
    width = mask.shape[-1] - mask.shape[-2]
    prompt = mask[..., :width]
    mask[..., 1:width] = prompt[..., 1:] | prompt[..., :-1]
    return kwargs | {"attention_mask": mask}


def sees_one_prompt_token_less(kwargs):
    mask = kwargs["attention_mask"].clone()
    width = mask.shape[-1] - mask.shape[-2]
    prompt = mask[..., :width].clone()
    mask[..., : width - 1] = prompt[..., 1:]
    mask[..., width - 1] = False
    return kwargs | {"attention_mask": mask}


def sees_the_next_token(kwargs):
    mask = kwargs["attention_mask"].clone()
    own = mask.shape[-2]
    mask[..., -own:] = torch.ones(own, own).tril(diagonal=1).bool()
    return kwargs | {"attention_mask": mask}


PASS_FAULTS = [
    later_position,
    sees_one_prompt_token_more,
    sees_one_prompt_token_less,
    sees_the_next_token,
]
BATCH_FAULTS = {
    "owner": lambda batch: replace(batch, owner_R=batch.owner_R.roll(1)),
    "mask": lambda batch: replace(batch, loss_mask_RT=batch.loss_mask_RT.roll(1, dims=1)),
    "targets": lambda batch: replace(batch, ids_RT=batch.ids_RT.roll(1, dims=1)),
    "prompt": lambda batch: replace(batch, prompt_lengths_P=batch.prompt_lengths_P - 1),
}


def gap_of(model, batch, rows):
    ours, theirs = score_tokens(model, batch).logprobs_N, flat_scores(model, rows)
    return float((ours - theirs).abs().max().detach()) if len(ours) == len(theirs) else float("inf")


@pytest.mark.parametrize("fault", PASS_FAULTS)
def test_an_error_by_one_in_the_second_pass_would_be_seen(fault, monkeypatch):
    model, rows = make_model(), all_shapes()
    assert gap_of(model, make_micro_batch(rows), rows) < TOLERANCE
    wanted = flat_scores(model, rows)
    plant(model, monkeypatch, fault)
    found = score_tokens(model, make_micro_batch(rows)).logprobs_N
    assert float((found - wanted).abs().max().detach()) > 1e6 * TOLERANCE


@pytest.mark.parametrize("name", BATCH_FAULTS)
def test_an_error_by_one_in_the_layout_would_be_seen(name):
    model, rows = make_model(), all_shapes()
    batch = BATCH_FAULTS[name](make_micro_batch(rows))
    assert gap_of(model, batch, rows) > 1e6 * TOLERANCE


def test_attention_that_would_misread_the_masks_is_refused():
    model = make_model()
    model.set_attn_implementation("eager")
    with pytest.raises(AssertionError, match="must be sdpa, not eager"):
        score_tokens(model, make_micro_batch(all_shapes()))
