"""Attention over a tree is dense attention under the tree's mask, and none of plain models'."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.trainer.rows import (
    MODELS,
    VOCAB,
    all_shapes,
    flat_scores,
    gradients,
    largest_gap,
    make_model,
)
from torch.nn import functional
from torch.nn.attention import flex_attention
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from toolorchestra.model.attention import NAME, exchange_attention
from toolorchestra.trainer import logprobs
from toolorchestra.trainer.attention import (
    MAX_PADDING,
    TreeLayout,
    block_mask,
    bucket_layout,
    lay_out,
)
from toolorchestra.trainer.batch import make_micro_batch
from toolorchestra.trainer.logprobs import score_tokens
from toolorchestra.trainer.tree import token_tree

TOLERANCE = 1e-12
CPU = torch.device("cpu")
QUERY_HEADS, KEY_HEADS, HEAD_DIM, SCALING = 4, 2, 8, 0.3

sequences = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=12), min_size=1, max_size=9)


@pytest.fixture(scope="module", autouse=True)
def plain_flex():
    """Without a compiler flex attention takes milliseconds a shape, not seconds; forward it is
    the same."""
    before = flex_attention._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG
    flex_attention._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = True
    yield
    flex_attention._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = before


def states(tree, *, has_gradient=False):
    """Queries, keys and values of a tree's tokens."""
    generator = torch.Generator().manual_seed(0)
    return [
        torch.randn(
            (1, heads, tree.num_tokens, HEAD_DIM),
            generator=generator,
            dtype=torch.float64,
            requires_grad=has_gradient,
        )
        for heads in (QUERY_HEADS, KEY_HEADS, KEY_HEADS)
    ]


def attend(query, key, value, layout):
    """As transformers calls it."""
    module = torch.nn.Module()
    module.layer_idx = 0
    out, weights = ALL_ATTENTION_FUNCTIONS[NAME](
        module, query, key, value, None, scaling=SCALING, attend=layout
    )
    assert weights is None
    return out


def attend_densely(query, key, value, tree):
    """Every pair of tokens, all but ancestors masked: read off the paths, not off `ends_L`."""
    mask = torch.zeros(tree.num_tokens, tree.num_tokens, dtype=torch.bool)
    for path in tree.paths:
        for depth, place in enumerate(path):
            mask[place, path[: depth + 1]] = True
    key, value = (x.repeat_interleave(QUERY_HEADS // KEY_HEADS, dim=1) for x in (key, value))
    out = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=SCALING)
    return out.transpose(1, 2)


def gap(ours, theirs):
    return float((ours - theirs).detach().abs().max())


def with_gradients(attention, inputs):
    out = attention(*inputs)
    weights = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view_as(out)
    return [out, *torch.autograd.grad((out * weights).sum(), inputs)]


@pytest.mark.parametrize("share", [True, False])
@settings(max_examples=40)
@given(given_sequences=sequences)
def test_buckets_give_the_values_and_gradients_of_dense_attention(share, given_sequences):
    tree = token_tree(given_sequences, share=share)
    inputs = states(tree, has_gradient=True)
    layout = bucket_layout(tree)
    found = with_gradients(lambda *qkv: attend(*qkv, layout), inputs)
    wanted = with_gradients(lambda *qkv: attend_densely(*qkv, tree), inputs)
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.shape == theirs.shape
        assert gap(ours, theirs) < TOLERANCE


@pytest.mark.parametrize("share", [True, False])
@settings(max_examples=20)
@given(given_sequences=sequences)
def test_a_block_mask_gives_the_values_of_dense_attention(share, given_sequences):
    tree = token_tree(given_sequences, share=share)
    inputs = states(tree)  # on a CPU flex attention knows no way back
    found = attend(*inputs, TreeLayout(block_mask=block_mask(tree, CPU)))
    assert gap(found, attend_densely(*inputs, tree)) < TOLERANCE


def test_trees_wider_than_a_block_of_the_mask_are_masked_right():
    # Flex attention masks by blocks of 128: here some are full, some empty, some in between.
    trunk = [0] * 150
    tree = token_tree([trunk + [1] * 140, trunk + [2] * 30, trunk[:20] + [3] * 140, [4] * 300])
    assert tree.num_tokens == 150 + 140 + 30 + 140 + 300
    inputs = states(tree)
    wanted = attend_densely(*inputs, tree)
    for layout in (bucket_layout(tree), TreeLayout(block_mask=block_mask(tree, CPU))):
        assert gap(attend(*inputs, layout), wanted) < TOLERANCE


def test_a_cpu_gets_buckets_and_no_block_mask():
    layout = lay_out(token_tree([[1, 2], [1, 3]]), CPU)
    assert layout.buckets and layout.block_mask is None


def test_buckets_by_hand():
    # Own tokens and path: [1 2] has 2 of 2, [1 3 4] 2 of 3, [5] 1 of 1; the fourth none. Together
    # the first two take 2 * 2 * 3 = 12 pairs, where 2 * 2 + 2 * 3 = 10 are wanted: 1.2 of them.
    # [5] with [1 2] would take 2 * 2 * 2 = 8 pairs where 5 are wanted: 1.6.
    tree = token_tree([[1, 2], [1, 3, 4], [5], [5]])
    assert tree.ids_L.tolist() == [1, 2, 3, 4, 5]
    alone, together = bucket_layout(tree).buckets
    assert alone.queries_BQ.tolist() == [[4]] and alone.keys_BK.tolist() == [[4]]
    assert alone.mask_BQK.tolist() == [[[0.0]]]
    inf = float("inf")
    assert together.queries_BQ.tolist() == [[0, 1], [2, 3]]
    assert together.keys_BK.tolist() == [[0, 1, 0], [0, 2, 3]]
    assert together.mask_BQK.tolist() == [
        [[0.0, -inf, -inf], [0.0, 0.0, -inf]],
        [[0.0, 0.0, -inf], [0.0, 0.0, 0.0]],
    ]
    assert bucket_layout(tree).places_L.tolist() == [1, 2, 3, 4, 0]


@given(given_sequences=sequences)
def test_buckets_are_padded_no_more_than_is_allowed(given_sequences):
    tree = token_tree(given_sequences)
    own = {int(path[-1]): count for path, count in zip(tree.paths, tree.own, strict=True) if count}
    depths = tree.positions_L + 1
    layout = bucket_layout(tree)
    num_members = 0
    for bucket in layout.buckets:
        size, width_Q, width_K = bucket.mask_BQK.shape
        assert bucket.queries_BQ.shape == (size, width_Q)
        assert bucket.keys_BK.shape == (size, width_K)
        members = [max(row) for row in bucket.queries_BQ.tolist()]  # each one's last token
        wanted = sum(own[last] * int(depths[last]) for last in members)
        assert size * width_Q * width_K <= MAX_PADDING * wanted
        num_members += size
    assert num_members == len(own)
    assert sorted(set(layout.places_L.tolist())) == sorted(layout.places_L.tolist())


def test_many_rows_of_like_lengths_take_few_buckets():
    rng = np.random.default_rng(0)
    tree = token_tree([rng.integers(0, 30, n).tolist() for n in rng.integers(20, 200, 300)])
    # Each bucket may be about 1.3 times as long as its shortest: from 20 to 200 that is 9 times.
    assert len(bucket_layout(tree).buckets) <= 15


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_without_a_tree_computes_what_it_did_before(kind):
    plain, ours = make_model(kind=kind), make_model(kind=kind)
    exchange_attention(ours)
    assert plain.config._attn_implementation == "sdpa"
    assert ours.config._attn_implementation == NAME
    ids = torch.arange(24).view(3, 8) % VOCAB
    padded = torch.ones_like(ids)
    padded[0, :3] = padded[1, 6:] = 0
    for mask in (None, torch.ones_like(ids), padded):
        results = []
        for model in (plain, ours):
            logits = model(input_ids=ids, attention_mask=mask).logits
            logits.square().sum().backward()
            results.append((logits, gradients(model)))
        assert torch.equal(results[0][0], results[1][0])
        assert largest_gap(results[0][1], results[1][1]) == 0


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_that_scored_trees_generates_what_it_did_before(kind):
    plain, ours = make_model(kind=kind).eval(), make_model(kind=kind).eval()
    score_tokens(ours, make_micro_batch(all_shapes()))
    ids = torch.tensor([[0, 0, 3, 1, 4], [9, 2, 6, 5, 3]])
    mask = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    options = {"max_new_tokens": 12, "do_sample": False, "use_cache": True, "pad_token_id": 0}
    options["eos_token_id"] = None
    wanted = plain.generate(ids, attention_mask=mask, **options)
    assert wanted.shape == (2, 17)
    assert torch.equal(ours.generate(ids, attention_mask=mask, **options), wanted)


def test_a_model_is_switched_once():
    model = make_model()
    exchange_attention(model)
    model.set_attn_implementation = None  # would be called
    exchange_attention(model)


@pytest.mark.parametrize("kind", MODELS)
def test_by_a_block_mask_a_model_gives_the_scores_of_plain_rows(kind, monkeypatch):
    monkeypatch.setattr(
        logprobs, "lay_out", lambda tree, device: TreeLayout(block_mask=block_mask(tree, device))
    )
    rows = all_shapes()
    with torch.no_grad():
        found = score_tokens(make_model(kind=kind), make_micro_batch(rows)).logprobs_N
        wanted = flat_scores(make_model(kind=kind), rows)
    assert gap(found, wanted) < 1e-10


@pytest.mark.parametrize("kind", MODELS)
def test_by_buckets_a_model_gives_the_scores_and_gradients_of_plain_rows(kind):
    rows, model, plain = all_shapes(), make_model(kind=kind), make_model(kind=kind)
    found = score_tokens(model, make_micro_batch(rows)).logprobs_N
    wanted = flat_scores(plain, rows)
    assert gap(found, wanted) < 1e-10
    weights = torch.linspace(-1, 1, len(found))
    (found * weights).sum().backward()
    (wanted * weights).sum().backward()
    assert largest_gap(gradients(model), gradients(plain)) < 1e-10


@pytest.mark.parametrize("kind", MODELS)
def test_layers_that_are_computed_again_give_the_same_gradients(kind):
    batch = make_micro_batch(all_shapes())
    found = []
    for is_checkpointing in (False, True):
        model = make_model(kind=kind).train()
        if is_checkpointing:
            model.gradient_checkpointing_enable()
        passes = []
        mlp = model.model.layers[0].mlp
        mlp.register_forward_pre_hook(lambda *_, passes=passes: passes.append(1))
        score_tokens(model, batch).logprobs_N.square().sum().backward()
        assert len(passes) == 1 + is_checkpointing
        found.append(gradients(model))
    assert largest_gap(*found) < TOLERANCE
