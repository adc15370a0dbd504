"""The paper's figures are read as printed, and none without a source."""

import pytest
from tests.unit.experiment.declared import PAPER

from toolorchestra.experiment.paper import read_figures


def test_figures_keep_their_marks_and_order(tmp_path):
    path = tmp_path / "paper.csv"
    path.write_text(PAPER, encoding="utf-8")
    figures = read_figures(path)
    assert [(f.place, f.value) for f in figures] == [
        ("No tool / Small", "–∗"), ("Basic tools / Big", "35.1"), ("Basic tools / Big", "30.2"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"Table 9, row Small"', "", ":2: source: nothing is not allowed"),
        ("35.1", "", ":3: value: nothing is not allowed"),
        ("Big,Cost", "Big,HLE", ":4: Basic tools / Big, HLE was given before"),
        ("group,row", "row,group", "use group,row,column,value,source"),
        (",30.2,", ",", ":4: 5 fields are needed"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, old, new, message):
    path = tmp_path / "paper.csv"
    path.write_text(PAPER.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_figures(path)
