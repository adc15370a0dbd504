import psutil
import pytest
import torch

from toolorchestra.engine.memory import Prompt, Slots, side_by_side

CPU = torch.device("cpu")


def make_slots():
    return Slots(
        num_layers=2,
        num_slots=4,
        num_heads=1,
        head_dim=2,
        max_length=6,
        dtype=torch.float32,
        device=CPU,
    )


def write(slots, slot, places, value, *, layer=0):
    states = torch.full((len(places), 1, 2), float(value))
    slots.write(
        layer, torch.tensor([slot] * len(places)), torch.tensor(places), states, states + 0.5
    )


def keys(slots, first, last, length=6, *, layer=0):
    return slots.read(layer, first, last, length)[0][:, 0, :, 0].tolist()


def test_what_is_written_comes_back_at_its_place():
    slots = make_slots()
    write(slots, 1, [2, 3], 5)
    found = slots.read(0, 1, 1, 5)
    assert found[0][0, 0, :, 0].tolist() == [0, 0, 5, 5, 0]
    assert found[1][0, 0, :, 1].tolist() == [0, 0, 5.5, 5.5, 0]


def test_other_slots_and_layers_are_left_alone():
    slots = make_slots()
    write(slots, 1, [0], 7)
    write(slots, 2, [1], 1)
    assert keys(slots, 0, 3, 2) == [[0, 0], [7, 0], [0, 1], [0, 0]]
    assert keys(slots, 0, 3, 2, layer=1) == [[0, 0]] * 4


def test_slots_are_read_in_place():
    slots = make_slots()
    found, _ = slots.read(0, 1, 2, 6)
    write(slots, 2, [0], 3)
    assert found[1, 0, 0, 0] == 3


def prompt(length, value):
    layers = tuple(torch.full((1, length, 2), value + layer) for layer in (0.0, 0.5))
    return Prompt(keys=layers, values=tuple(-states for states in layers))


def test_prompts_stand_side_by_side_padded_at_the_end():
    prompts = side_by_side([prompt(2, 1.0), prompt(3, 2.0)])
    assert (len(prompts), prompts.width) == (2, 3)
    assert prompts.keys[0][:, 0, :, 0].tolist() == [[1, 1, 0], [2, 2, 2]]
    assert prompts.values[1][:, 0, :, 1].tolist() == [[-1.5, -1.5, 0], [-2.5, -2.5, -2.5]]


def test_some_of_the_prompts_are_taken_in_the_order_asked_for():
    prompts = side_by_side([prompt(1, 1.0), prompt(1, 2.0), prompt(1, 3.0)]).take([2, 0])
    assert prompts.keys[0].flatten().tolist() == [3, 3, 1, 1]
    assert prompts.values[1].flatten().tolist() == [-3.5, -3.5, -1.5, -1.5]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_slots_that_nobody_fills_take_no_room(dtype):
    process = psutil.Process()
    before = process.memory_info().rss
    slots = Slots(
        num_layers=2,
        num_slots=256,
        num_heads=4,
        head_dim=64,
        max_length=1024,
        dtype=dtype,
        device=CPU,
    )
    num_bytes = 2 * 2 * 256 * 4 * 64 * 1024 * dtype.itemsize  # keys and values of two layers
    assert num_bytes >= 512 * 2**20
    assert process.memory_info().rss - before < num_bytes / 10
    states, values = slots.read(1, 7, 7, 2)
    assert states.dtype == dtype and states.abs().sum() == values.abs().sum() == 0
