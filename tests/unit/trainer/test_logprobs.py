"""The output layer, chunk by chunk."""

import pytest
import torch
from tests.unit.trainer.rows import (
    PROMPT_A,
    VOCAB,
    all_shapes,
    gradients,
    largest_gap,
    make_model,
    make_row,
)
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from toolorchestra.trainer.batch import make_micro_batch
from toolorchestra.trainer.logprobs import score_tokens

TOLERANCE = 1e-11


def num_predictors(batch):
    return len(set(batch.predictors_N.tolist()))


def differentiate(scores):
    """Backward from a loss in which every log-probability and entropy weighs differently."""
    weights = torch.linspace(-1, 1, len(scores.logprobs_N))
    (scores.logprobs_N * weights + scores.entropy_N * weights.square()).sum().backward()


@pytest.mark.parametrize("is_tied", [True, False])
@pytest.mark.parametrize("chunk_size", [1, 2, 7])
def test_chunks_change_neither_values_nor_gradients(chunk_size, is_tied):
    batch = make_micro_batch(all_shapes())
    assert num_predictors(batch) > 2 * 7
    model = make_model(is_tied=is_tied)
    whole = score_tokens(model, batch)
    differentiate(whole)
    wanted = gradients(model)
    # what does not make another whole row of logits is no reason for a bigger chunk
    scores = score_tokens(model, batch, chunk_logits=(chunk_size + 1) * VOCAB - 1)
    differentiate(scores)
    for ours, theirs in zip(scores, whole, strict=True):
        assert float((ours - theirs).abs().max().detach()) < TOLERANCE
    assert largest_gap(gradients(model), wanted) < TOLERANCE


def test_a_chunk_holds_one_token_even_where_the_vocabulary_is_larger():
    batch, model = make_micro_batch(all_shapes()), make_model()
    found = score_tokens(model, batch, chunk_logits=1).logprobs_N
    assert torch.allclose(found, score_tokens(model, batch).logprobs_N, rtol=0, atol=TOLERANCE)


def num_saved_logits(batch, **options):
    """Numbers in the largest tensor over the vocabulary that waits for the backward pass."""
    model = make_model(is_tied=False)
    sizes = [0]

    def note(tensor):
        is_weight = tensor.data_ptr() == model.lm_head.weight.data_ptr()
        if tensor.dim() == 2 and tensor.shape[1] == VOCAB and not is_weight:
            sizes.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        score_tokens(model, batch, **options)
    return max(sizes)


def test_with_several_chunks_no_logits_wait_for_the_backward_pass():
    batch = make_micro_batch(all_shapes())
    assert num_saved_logits(batch) == num_predictors(batch) * VOCAB
    assert num_saved_logits(batch, chunk_logits=3 * VOCAB) == 0


class LargestLogits(TorchDispatchMode):
    """Most rows over the vocabulary that any operation gave, forward or backward."""

    def __init__(self, hidden_size):
        super().__init__()
        self.hidden_size, self.rows = hidden_size, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        for leaf in tree_leaves(out):
            if isinstance(leaf, torch.Tensor) and leaf.shape[-1:] == (VOCAB,):
                rows = leaf.numel() // VOCAB
                if rows != self.hidden_size:  # the output layer's own weights, transposed
                    self.rows = max(self.rows, rows)
        return out


@pytest.mark.parametrize("chunk_size", [1, 3, 5])
def test_no_operation_of_either_pass_makes_more_logits_than_a_chunk_holds(chunk_size):
    batch, model = make_micro_batch(all_shapes()), make_model(is_tied=False)
    with LargestLogits(model.config.hidden_size) as seen:
        differentiate(score_tokens(model, batch, chunk_logits=chunk_size * VOCAB))
    assert seen.rows == chunk_size


def test_tokens_told_from_the_same_past_share_their_logits():
    # Each says another token, but after the same prompt: one row of logits serves both.
    rows = [make_row(PROMPT_A, "s", seed=seed) for seed in range(2)]
    batch, model = make_micro_batch(rows), make_model(is_tied=False)
    assert batch.targets_N[0] != batch.targets_N[1]
    with LargestLogits(model.config.hidden_size) as seen:
        scores = score_tokens(model, batch)
    assert seen.rows == 1
    assert scores.entropy_N[0] == scores.entropy_N[1]
    assert scores.logprobs_N[0] != scores.logprobs_N[1]


@pytest.mark.parametrize("options", [{}, {"chunk_logits": VOCAB}])
def test_a_batch_without_loss_tokens_has_no_scores_and_no_gradient(options):
    model = make_model()
    scores = score_tokens(model, make_micro_batch([make_row(PROMPT_A, "cc", seed=0)]), **options)
    assert len(scores.logprobs_N) == len(scores.entropy_N) == 0
    scores.logprobs_N.sum().backward()
    assert all(not g.any() for g in gradients(model).values())


def test_scores_come_in_the_precision_of_the_weights_save_half_precision():
    batch = make_micro_batch(all_shapes())
    found = {}
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        scores = score_tokens(make_model().to(dtype), batch)
        found[scores.logprobs_N.dtype, scores.entropy_N.dtype, dtype] = scores.logprobs_N
    wide, single, half = found
    assert wide[:2] == (torch.float64, torch.float64)
    assert single[:2] == half[:2] == (torch.float32, torch.float32)
    assert float((found[wide] - found[single]).abs().max().detach()) < 1e-4


def test_embeddings_that_are_not_trained_still_show_their_gradient():
    model = make_model(is_tied=False)
    model.get_input_embeddings().weight.requires_grad_(False)
    scores = score_tokens(model, make_micro_batch(all_shapes()))
    scores.logprobs_N.sum().backward()
    assert scores.embedded_LD.grad.abs().max() > 0
    assert model.get_input_embeddings().weight.grad is None


def test_without_gradient_nothing_is_kept():
    with torch.no_grad():
        scores = score_tokens(make_model(), make_micro_batch(all_shapes()), chunk_logits=VOCAB)
    assert not any(tensor.requires_grad for tensor in scores)


@pytest.mark.parametrize("most_loss_tokens", [1, 60])
def test_every_rank_passes_the_output_layer_as_often_as_the_fullest(most_loss_tokens):
    # 3 tokens a chunk: with 60 elsewhere 20 passes, though this one alone would need fewer
    model, rows = make_model(), all_shapes()
    alone = make_micro_batch(rows)
    batch = make_micro_batch(rows, most_loss_tokens=most_loss_tokens)
    passes = []
    model.lm_head.register_forward_hook(lambda *_: passes.append(1))
    scores = score_tokens(model, batch, chunk_logits=3 * VOCAB)
    needed = -(-max(len(alone.targets_N), most_loss_tokens) // 3)
    assert len(passes) == needed
    scores.logprobs_N.sum().backward()
    assert len(passes) == 2 * needed, "empty ones are computed again like the others"
    wanted = score_tokens(model, alone).logprobs_N
    assert torch.allclose(scores.logprobs_N, wanted, atol=1e-12)
