"""Attention of the engine's passes is that of each rollout alone."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from toolorchestra.engine.memory import Slots, side_by_side
from toolorchestra.engine.passes import PromptPass, Reading, SlotPass

CPU = torch.device("cpu")
HEADS, KEYS, DIM, SCALE, LAYERS, SLOTS, LONGEST = 4, 2, 8, 0.3, 2, 7, 40
TOLERANCE = 1e-12


def states(count):
    """Queries, keys and values of tokens in line, one triple a layer."""
    return [
        [torch.randn(heads, count, DIM, dtype=torch.float64) for heads in (HEADS, KEYS, KEYS)]
        for _ in range(LAYERS)
    ]


def alone(query, key, value):
    """Plain causal attention of the last queries; returns [L, H, D]."""
    mask = torch.ones(query.shape[1], key.shape[1]).tril(key.shape[1] - query.shape[1]).bool()
    key, value = (x.repeat_interleave(HEADS // KEYS, dim=0) for x in (key, value))
    out = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=SCALE)
    return out.transpose(0, 1)


def begin(lengths):
    """Prompts, their keys and values, and the largest difference from attending alone."""
    inputs = states(sum(lengths))
    attend = PromptPass(lengths, CPU)
    gap, parts = 0.0, [[triple[i].split(lengths, 1) for i in range(3)] for triple in inputs]
    for layer, triple in enumerate(inputs):
        out = attend(layer, *triple, SCALE).split(lengths)
        for b in range(len(lengths)):
            wanted = alone(*(parts[layer][i][b] for i in range(3)))
            gap = max(gap, float((out[b] - wanted).abs().max()))
    return attend.prompts(), parts, gap


def make_slots():
    return Slots(
        num_layers=LAYERS,
        num_slots=SLOTS,
        num_heads=KEYS,
        head_dim=DIM,
        max_length=LONGEST,
        dtype=torch.float64,
        device=CPU,
    )


@settings(max_examples=25)
@given(lengths=st.lists(st.integers(1, 12), min_size=1, max_size=5))
def test_prompts_in_one_line_attend_as_each_alone(lengths):
    prompts, parts, gap = begin(lengths)
    assert gap < TOLERANCE
    assert [len(prompt) for prompt in prompts] == lengths
    for b, prompt in enumerate(prompts):
        for layer in range(LAYERS):
            assert torch.equal(prompt.keys[layer], parts[layer][1][b])
            assert torch.equal(prompt.values[layer], parts[layer][2][b])


@st.composite
def rollouts(draw):
    """Lengths of prompts; of each rollout its slot, prompt, share of it, and tokens a turn."""
    lengths = draw(st.lists(st.integers(1, 9), min_size=1, max_size=3))
    slots = draw(st.permutations(range(SLOTS)))[: draw(st.integers(1, SLOTS))]
    chosen = []
    for slot in slots:
        prompt = draw(st.integers(0, len(lengths) - 1))
        shared = draw(st.integers(1, lengths[prompt]))
        counts = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
        chosen.append((slot, prompt, shared, counts))
    return lengths, chosen


@settings(max_examples=60)
@given(given_rollouts=rollouts())
def test_rollouts_that_read_their_prompts_together_attend_as_each_alone(given_rollouts):
    lengths, chosen = given_rollouts
    prompts, parts, _ = begin(lengths)
    slots = make_slots()
    past = {
        slot: [[parts[layer][i][prompt][:, :shared] for i in (1, 2)] for layer in range(LAYERS)]
        for slot, prompt, shared, _ in chosen
    }
    for turn in range(max(len(counts) for *_, counts in chosen)):
        playing = [one for one in chosen if turn < len(one[3])]
        read = sorted({prompt for _, prompt, _, _ in playing})
        rows = [
            Reading(
                slot=slot,
                prompt=read.index(prompt),
                shared=shared,
                start=sum(counts[:turn]),
                count=counts[turn],
            )
            for slot, prompt, shared, counts in playing
        ]
        beside = side_by_side(prompts).take(read)
        attend = SlotPass(slots, beside, rows, CPU)
        new = [row.count for row in rows]
        for layer, triple in enumerate(states(sum(new))):
            out = attend(layer, *triple, SCALE).split(new)
            split = [x.split(new, 1) for x in triple]
            for b, row in enumerate(rows):
                seen = past[row.slot][layer]
                for i in (0, 1):
                    seen[i] = torch.cat([seen[i], split[i + 1][b]], 1)
                gap = (out[b] - alone(split[0][b], *seen)).abs().max()
                assert float(gap) < TOLERANCE


def test_weights_of_a_low_precision_add_up_in_a_higher_one():
    # 300 equal weights: in bfloat16 a sum of ones stops at 256
    keys = torch.zeros(KEYS, 300, DIM, dtype=torch.bfloat16)
    query = torch.zeros(HEADS, 300, DIM, dtype=torch.bfloat16)
    attend = PromptPass([300], CPU)
    attend(0, query, keys, torch.ones_like(keys), SCALE)
    slots = Slots(
        num_layers=1,
        num_slots=1,
        num_heads=KEYS,
        head_dim=DIM,
        max_length=4,
        dtype=torch.bfloat16,
        device=CPU,
    )
    row = Reading(slot=0, prompt=0, shared=300, start=0, count=1)
    after = SlotPass(slots, side_by_side(attend.prompts()), [row], CPU)
    out = after(0, query[:, :1], keys[:, :1], torch.ones_like(keys[:, :1]), SCALE)
    assert out.dtype == torch.bfloat16
    torch.testing.assert_close(out.float(), torch.ones(1, HEADS, DIM), atol=0.005, rtol=0)
