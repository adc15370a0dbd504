"""The pictures of experiments: which tools are called, and accuracy over cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from toolorchestra.experiment.declared import Column, Experiment, Row
from toolorchestra.experiment.extract import Extract
from toolorchestra.experiment.figures import Played, figure
from toolorchestra.report.figures import COLOURS, blank, save
from toolorchestra.report.measures.figures import MARKERS, draw_call_shares
from toolorchestra.report.stats import Estimate


def draw(experiment: Experiment, kept: Mapping[str, Extract], png: Path) -> bool:
    """Draws the picture of an experiment, if it has one and there is anything to show.

    Returns:
        Whether a picture was drawn.
    """
    rows = [row for row in experiment.local.rows if row.run in kept]
    if not experiment.local.picture or not rows:
        return False
    title = f"{experiment.title}: the local world"
    is_simulated = any(kept[row.run].is_simulated for row in rows)
    png.parent.mkdir(parents=True, exist_ok=True)
    if experiment.local.picture == "shares":
        shown_as = {tool: name for row in rows for tool, name in kept[row.run].shown_as.items()}
        shares = {row.label: _shares(row, kept, shown_as) for row in rows}
        draw_call_shares(shares, png, shown_as=shown_as, title=title, is_simulated=is_simulated)
    else:
        _draw_costs(rows, kept, png, title=title, is_simulated=is_simulated)
    return True


def _shares(row: Row, kept: Mapping[str, Extract], tools: Mapping[str, str]) -> dict[str, Estimate]:
    """Of each tool in the calls of a row's policy, from 0 to 1; without an interval."""
    shares = {}
    for tool in sorted(tools):
        found = figure(Column(name=tool, measure="share", tool=tool), [_played(row, kept)])
        if isinstance(found, float) and found:
            shares[tool] = Estimate(value=found / 100, low=found / 100, high=found / 100)
    return shares


def _played(row: Row, kept: Mapping[str, Extract]) -> Played:
    return Played(kept=kept[row.run], policy=row.policy)


def _draw_costs(
    rows: Sequence[Row], kept: Mapping[str, Extract], png: Path, *, title: str, is_simulated: bool
) -> None:
    """A line a group of rows: accuracy over mean cost, with intervals."""
    accuracy, cents = (Column(name=name, measure=name) for name in ("accuracy", "cents"))
    picture, axes = blank(title, is_simulated=is_simulated)
    for i, group in enumerate(dict.fromkeys(row.group for row in rows)):
        points = []
        for row in rows:
            runs = [_played(row, kept)]
            x, y = figure(cents, runs), figure(accuracy, runs)
            if row.group == group and isinstance(x, Estimate) and isinstance(y, Estimate):
                points.append((x.value, y.value, y.value - y.low, y.high - y.value))
        if points:
            xs, ys, below, above = zip(*points, strict=True)
            colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
            axes.errorbar(
                xs, ys, yerr=[below, above], color=colour, marker=marker, capsize=3, label=group
            )
    axes.set_xlabel("mean cost of an episode (US cents)")
    axes.set_ylabel("accuracy (%)")
    axes.legend(frameon=False, loc="best")
    save(picture, png)
