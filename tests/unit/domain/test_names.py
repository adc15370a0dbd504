import random

from toolorchestra.domain.names import name_maker


def test_no_two_names_share_their_first_four_letters():
    make = name_maker(random.Random(1))
    names = [make() for _ in range(500)]
    assert len({name[:4] for name in names}) == 500


def test_names_depend_on_the_generator_alone():
    first, second = (name_maker(random.Random(3)) for _ in range(2))
    assert [first() for _ in range(5)] == [second() for _ in range(5)]
