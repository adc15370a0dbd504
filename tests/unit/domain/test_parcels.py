import pytest

from toolorchestra.domain.parcels import load_parcels, track_parcel


def test_there_are_three_hundred_parcels_in_at_least_fifty_cities():
    parcels = load_parcels()
    assert len(parcels) == 300
    assert len({parcel.city for parcel in parcels.values()}) >= 50


@pytest.mark.parametrize("text", ["{}", "Where is parcel {} now?", "({}), please", "{}, {}"])
def test_a_parcel_is_found_wherever_its_number_stands(text):
    for number, parcel in list(load_parcels().items())[:20]:
        assert track_parcel(text.format(number, number)) == parcel.city
        assert track_parcel(text.format(number.lower(), number)) == parcel.city


@pytest.mark.parametrize("text", ["", "where is it?", "XP4821", "P48211", "P0000", "4821"])
def test_a_text_without_a_known_number_finds_nothing(text):
    assert track_parcel(text) is None


def test_two_numbers_in_one_text_find_nothing():
    first, second = list(load_parcels())[:2]
    assert track_parcel(f"{first} or {second}") is None
