import pytest

from toolorchestra.domain.parcels import track_parcel
from toolorchestra.domain.registry import find_function


def test_a_function_is_found_by_its_names():
    assert find_function("parcels", "track_parcel") is track_parcel


def test_an_unknown_domain_is_refused_with_those_that_exist():
    with pytest.raises(ValueError, match="'parsels' is not allowed; use parcels"):
        find_function("parsels", "track_parcel")


def test_an_unknown_function_is_refused_with_those_that_exist():
    with pytest.raises(ValueError, match="'track' is not allowed.*use track_parcel"):
        find_function("parcels", "track")
