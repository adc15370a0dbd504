"""What a folder declares is read, and what is wrong with it is named."""

import pytest
from tests.unit.experiment.declared import YAML, write_experiment

from toolorchestra.experiment.declared import find_experiments, is_experiment, read_experiment


def test_a_folder_is_read_with_what_it_leaves_out(tmp_path):
    experiment = read_experiment(write_experiment(tmp_path / "table9"))
    assert (experiment.name, experiment.title) == ("table9", "Table 9")
    assert experiment.local.columns[0].digits == 1
    second = experiment.local.runs["second"]
    assert second.after == ["first"]
    assert second.resolved({"first": "there"}) == ["model.path=there/model"]


def test_folders_are_found_below_the_one_that_holds_them(tmp_path):
    for name in ("b", "a"):
        write_experiment(tmp_path / name)
    (tmp_path / "c").mkdir()
    assert [experiment.name for experiment in find_experiments(tmp_path)] == ["a", "b"]
    assert is_experiment(tmp_path / "a") and not is_experiment(tmp_path / "c")
    with pytest.raises(ValueError, match=r"c holds no experiment\.yaml; use experiments"):
        find_experiments(tmp_path / "c")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("command: train", "command: tune", "runs.first.command: 'tune' is not allowed; use train"),
        ("{first}", "{third}", "'third' is not allowed; use the name of a run above it"),
        ("run: second", "run: third", r"rows \(trained\): 'third' is not allowed; use first, sec"),
        ("measure: gain", "measure: pain", "'pain' is not allowed; use accuracy"),
        ("note: A note.", "nota: A note.", "nota"),
        ("minutes: 4", "minutes: four", "four"),
        ("title: Table 9", "title: [", "experiment.yaml"),
    ],
)
def test_what_is_wrong_is_named_with_its_file(tmp_path, old, new, message):
    folder = write_experiment(tmp_path / "table9", YAML.replace(old, new))
    with pytest.raises(ValueError, match=message):
        read_experiment(folder)
