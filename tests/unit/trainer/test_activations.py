"""What is reckoned of activations, against what really stays alive on this CPU.

The CPU's attention differs from a GPU's (`shapes.sdpa_bytes`, `activations.flex_bytes`); all other
tensors are the same on both.
"""

from __future__ import annotations

from functools import partial

import pytest
import torch
from tests.unit.trainer.bytes_alive import BytesAlive, weights_and_gradients
from tests.unit.trainer.shapes import (
    QWEN3_8B,
    model_of,
    random_batch,
    random_rows,
    sdpa_bytes,
    shape,
)
from torch.nn.attention import flex_attention as flex

from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.trainer import logprobs
from toolorchestra.trainer.activations import (
    CHUNK_COPIES,
    CHUNK_COPIES_WITH_ENTROPY,
    CHUNK_LOGITS,
    activations,
    flex_bytes,
    head_bytes,
    kept_bytes,
    last_bytes,
    layer_bytes,
    passing_bytes,
)
from toolorchestra.trainer.attention import block_mask
from toolorchestra.trainer.config import TrainerConfig
from toolorchestra.trainer.flops import costs_of
from toolorchestra.trainer.logprobs import score_tokens
from toolorchestra.trainer.ranks import Ranks
from toolorchestra.trainer.update import accumulate_gradients

SHAPE = shape()
CHUNK = 2**18
"""128 of the small model's tokens."""
SIZES = {"float32": 4, "bfloat16": 2}
TOLERANCE = 0.05
CASES = [
    (dtype, num_rows, is_checkpointed)
    for dtype, sizes in (("float32", (4, 8)), ("bfloat16", (4,)))  # which a CPU is slow at
    for num_rows in sizes
    for is_checkpointed in (False, True)
]
LENGTH = 256


def reckoned(num_bytes, num_tokens, *, is_checkpointed, copies=CHUNK_COPIES, chunk=CHUNK):
    """Bytes kept after the forward pass, and at the peak, with the CPU's attention."""
    layer = layer_bytes(SHAPE, num_bytes) + sdpa_bytes(SHAPE, num_bytes, length=LENGTH)
    kept = kept_bytes(SHAPE, num_bytes, layer, is_checkpointed=is_checkpointed)
    kept = num_tokens * (kept + 4 * LENGTH)  # the mask
    last = num_tokens * last_bytes(SHAPE, num_bytes)
    head = last + head_bytes(SHAPE, num_bytes, chunk, copies=copies)
    again = layer if is_checkpointed else 0
    passing = num_tokens * (passing_bytes(SHAPE, num_bytes) + again)
    return kept + last, kept + max(head, passing)


def measured(dtype, num_rows, *, is_checkpointed, chunk=CHUNK):
    """The same, and what autograd was handed to save."""
    model = model_of(SHAPE, dtype, is_checkpointed=is_checkpointed)
    batch = random_batch(num_rows, LENGTH, vocab=SHAPE.vocab_size)
    alive = BytesAlive(weights_and_gradients(model))
    start = alive.now
    weights = {weight.untyped_storage()._cdata for weight in model.parameters()}
    saved = {}

    def note(tensor):
        storage = tensor.untyped_storage()
        saved[storage._cdata] = (storage.nbytes(), storage)
        return tensor

    with alive:
        with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            scores = score_tokens(model, batch, chunk_logits=chunk)
        kept = alive.now - start
        num_saved = sum(size for key, (size, _) in saved.items() if key not in weights)
        saved.clear()
        loss = -scores.logprobs_N.mean()
        del scores
        loss.backward()
        del loss
    return kept, alive.peak - start, num_saved


@pytest.mark.parametrize(("dtype", "num_rows", "is_checkpointed"), CASES)
def test_what_is_kept_for_the_backward_pass_and_the_peak_of_both(dtype, num_rows, is_checkpointed):
    num_tokens = num_rows * LENGTH
    expected = reckoned(SIZES[dtype], num_tokens, is_checkpointed=is_checkpointed)
    kept, peak, num_saved = measured(dtype, num_rows, is_checkpointed=is_checkpointed)
    assert expected == pytest.approx((kept, peak), rel=TOLERANCE)
    if not is_checkpointed:  # else the layers' inputs are held beside autograd
        assert expected[0] == pytest.approx(num_saved, rel=TOLERANCE)


def test_checkpointing_keeps_the_inputs_of_layers_instead_of_what_they_compute():
    # Two bytes: 36 layers keep 215,336 B of each token, or 8,192; the rotations take 512 in all.
    layer = layer_bytes(QWEN3_8B, 2) + flex_bytes(QWEN3_8B, 2)
    assert layer == 215_336 + 128  # the second sum of each head
    assert kept_bytes(QWEN3_8B, 2, layer, is_checkpointed=False) == 36 * 215_464 + 512
    assert kept_bytes(QWEN3_8B, 2, layer, is_checkpointed=True) == 36 * 8_192 + 512


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_flex_attention_saves_what_is_reckoned(monkeypatch):
    # It refuses a CPU where a backward pass may follow; what it saves for one can be seen anyway.
    monkeypatch.setattr(flex, "_validate_device", lambda *_: None)
    heads, groups, size, length = 8, 2, 64, 256
    line = [
        torch.zeros(1, length, count, size, dtype=torch.bfloat16, requires_grad=True)
        for count in (heads, groups, groups)
    ]
    mask = flex.create_block_mask(lambda b, h, q, k: q >= k, None, None, length, length, "cpu")
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (saved.append(t), t)[1], lambda t: t):
        out = flex.flex_attention(
            *(states.transpose(1, 2) for states in line), block_mask=mask, enable_gqa=True
        )
    assert out.transpose(1, 2).is_contiguous(), "the last matrix needs no copy"
    values = [tensor for tensor in saved if tensor.is_floating_point()]
    expected = flex_bytes(shape(num_attention_heads=heads, num_key_value_heads=groups), 2)
    assert sum(tensor.nbytes for tensor in values) == length * expected


@pytest.mark.parametrize("num_rows", [4, 16])
def test_laying_out_attention_takes_three_bytes_a_pair_and_leaves_little(num_rows):
    batch = random_batch(num_rows, LENGTH, vocab=100)
    with BytesAlive() as alive:
        mask = block_mask(batch.tree, torch.device("cpu"))
    expected = activations(
        SHAPE, num_tokens=num_rows * LENGTH, num_bytes=2, is_checkpointed=True, chunk_logits=CHUNK
    )
    assert mask.shape[-1] == num_rows * LENGTH
    assert expected.laying_out == pytest.approx(alive.peak, rel=TOLERANCE)
    assert expected.layout == pytest.approx(alive.now, rel=TOLERANCE)


def test_chunks_of_logits_take_less_than_all_at_once_by_their_number():
    # 24,000 tokens x 151,936 logits x 4 B = 14.58 GB, three times at once; a chunk has 0.27 GB.
    all_logits = 24_000 * QWEN3_8B.vocab_size
    assert 4 * all_logits == 14_585_856_000
    heads = head_bytes(QWEN3_8B, 2, 0, copies=CHUNK_COPIES)
    assert heads == 3 * 2 * 151_936 * 4096  # three gradients of the layer's weights
    naive = head_bytes(QWEN3_8B, 2, all_logits, copies=CHUNK_COPIES) - heads
    chunked = head_bytes(QWEN3_8B, 2, CHUNK_LOGITS, copies=CHUNK_COPIES) - heads
    assert naive / chunked == pytest.approx(all_logits / 2**26) == pytest.approx(54.3, abs=0.1)


SMALL = shape(
    num_hidden_layers=1, hidden_size=16, intermediate_size=16, head_dim=8, vocab_size=8192
)
"""Of whose memory the output layer takes nearly all: a chunk of 2^18 logits is 1 MiB in float32,
all logits of 512 tokens are 16, and its weights are 0.5."""


def test_the_ratio_of_chunks_to_all_at_once_is_what_a_small_vocabulary_shows():
    peaks = []
    for chunk in (CHUNK, 512 * SMALL.vocab_size):
        model = model_of(SMALL)
        batch = random_batch(2, LENGTH, vocab=SMALL.vocab_size)
        alive = BytesAlive(weights_and_gradients(model))
        start = alive.now
        with alive:
            logprobs_N = score_tokens(model, batch, chunk_logits=chunk).logprobs_N
            logprobs_N.mean().backward()
        peaks.append(alive.peak - start)
    # 3 copies of 1 MiB and 3 gradients of 0.5 MiB, against 3 copies of 16 MiB
    assert peaks[0] == pytest.approx(4.5 * 2**20, rel=0.2)
    assert peaks[0] == pytest.approx(head_bytes(SMALL, 4, CHUNK, copies=CHUNK_COPIES), rel=0.2)
    assert peaks[1] / peaks[0] > 9


def update_peak(entropy_coef: float) -> int:
    """Peak of a whole update, the scores held through its backward pass as a run holds them."""
    model = model_of(SMALL)
    alive = BytesAlive(weights_and_gradients(model))
    start = alive.now
    with alive:
        accumulate_gradients(
            partial(score_tokens, model, chunk_logits=CHUNK),
            random_rows(2, LENGTH, vocab=SMALL.vocab_size),
            costs=costs_of(model.config),
            algorithm=AlgorithmConfig(
                geometric_low=0, geometric_high=1e9, entropy_coef=entropy_coef
            ),
            trainer=TrainerConfig(share_prefixes=False),
            max_tokens=LENGTH,
            backward=lambda loss, is_last: loss.backward(),
            ranks=Ranks(),
        )
    return alive.peak - start


def test_with_entropy_in_the_loss_a_chunk_takes_twice_as_much():
    expected = head_bytes(SMALL, 4, CHUNK, copies=CHUNK_COPIES_WITH_ENTROPY)
    assert update_peak(0.01) == pytest.approx(expected, rel=0.2)


def test_without_entropy_in_the_loss_no_chunk_outlives_its_backward_pass():
    expected = head_bytes(SMALL, 4, CHUNK, copies=CHUNK_COPIES)
    assert update_peak(0.0) == pytest.approx(expected, rel=0.2)


def test_a_dry_run_reckons_with_the_chunks_of_a_run():
    assert CHUNK_LOGITS == logprobs.CHUNK_LOGITS
