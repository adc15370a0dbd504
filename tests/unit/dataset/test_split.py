from toolorchestra.dataset.split import digest, side_of


def test_a_digest_is_the_same_in_every_process():
    # python -c "import hashlib; print(hashlib.blake2b(b'Velmora', digest_size=4).hexdigest())"
    assert digest("Velmora") == 0x52F5F436


def test_about_one_part_in_five_is_held_out():
    sides = [side_of(str(i), num_parts=5) for i in range(2000)]
    assert 330 < sides.count("heldout") < 470  # 400 expected, standard deviation 18


def test_the_side_depends_on_the_key_alone():
    assert side_of("a") == side_of("a")
