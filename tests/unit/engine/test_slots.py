import torch

from toolorchestra.engine.slots import SlotCache


def make_cache():
    return SlotCache(
        num_layers=2,
        num_slots=4,
        num_heads=1,
        head_dim=2,
        max_length=6,
        dtype=torch.float32,
        device=torch.device("cpu"),
    )


def write(cache, slots, positions, value, *, layer=0, visible=6):
    positions_BT = torch.tensor(positions)
    cache.aim(torch.tensor(slots), positions_BT, visible)
    shape = (len(slots), 1, positions_BT.shape[1], 2)
    keys = torch.full(shape, float(value))
    return cache.update(keys, keys + 0.5, layer)


def test_what_is_written_comes_back_at_its_position():
    keys, values = write(make_cache(), [1], [[2, 3]], 5)
    assert keys[0, 0, :, 0].tolist() == [0, 0, 5, 5, 0, 0]
    assert values[0, 0, :, 0].tolist() == [0, 0, 5.5, 5.5, 0, 0]


def test_rows_stand_at_different_positions_and_only_the_visible_ones_come_back():
    keys, _ = write(make_cache(), [0, 1], [[0], [3]], 1, visible=4)
    assert keys[:, 0, :, 0].tolist() == [[1, 0, 0, 0], [0, 0, 0, 1]]


def test_slots_that_do_not_lie_side_by_side_are_gathered_in_the_rows_order():
    cache = make_cache()
    for slot in range(4):
        write(cache, [slot], [[0]], slot + 1)
    keys, _ = write(cache, [0, 3], [[1], [1]], 9, visible=2)
    assert keys[:, 0, :, 0].tolist() == [[1, 9], [4, 9]]


def test_other_slots_and_layers_are_left_alone():
    cache = make_cache()
    write(cache, [1], [[0]], 7)
    assert write(cache, [2], [[0]], 1)[0][0, 0, :, 0].tolist() == [1, 0, 0, 0, 0, 0]
    assert write(cache, [1], [[1]], 2, layer=1)[0][0, 0, :, 0].tolist() == [0, 2, 0, 0, 0, 0]


def test_a_copy_shares_nothing_with_its_source():
    cache = make_cache()
    write(cache, [0], [[0, 1, 2]], 3)
    cache.copy(0, [2, 3], 2)
    write(cache, [0], [[0]], 8)
    keys, _ = write(cache, [2, 3], [[5], [5]], 4)
    assert keys[:, 0, :, 0].tolist() == [[3, 3, 0, 0, 0, 4]] * 2
