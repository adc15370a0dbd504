"""The pictures of experiments: which tools are called, and accuracy over cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from toolorchestra.experiment.declared import Column, Experiment, Row
from toolorchestra.experiment.extract import Extract
from toolorchestra.experiment.figures import Played, figure
from toolorchestra.report.stats import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NOTE = "The local world. Models and web search named sim/ are simulated experts."


def draw(experiment: Experiment, kept: Mapping[str, Extract], png: Path) -> bool:
    """Draws the picture of an experiment, if it has one and there is anything to show.

    Returns:
        Whether a picture was drawn.
    """
    rows = [row for row in experiment.local.rows if row.run in kept]
    if not experiment.local.picture or not rows:
        return False
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    picture = Figure(figsize=(10, 6.2), dpi=100, layout="constrained")
    FigureCanvasAgg(picture)
    axes = picture.subplots()
    axes.set_title(experiment.title, fontsize=15)
    axes.spines[["top", "right"]].set_visible(False)
    picture.supxlabel(NOTE, fontsize=10, color="#444444")
    {"shares": _draw_shares, "costs": _draw_costs}[experiment.local.picture](axes, rows, kept)
    png.parent.mkdir(parents=True, exist_ok=True)
    aside = png.with_name(png.name + ".new")
    picture.savefig(aside, format="png", metadata={"Software": None})
    aside.replace(png)
    return True


def _draw_shares(axes: Axes, rows: Sequence[Row], kept: Mapping[str, Extract]) -> None:
    """A bar a row: each tool's share of all its calls."""
    from matplotlib import colormaps

    shown = {tool: name for row in rows for tool, name in kept[row.run].shown_as.items()}
    labels = [row.label for row in rows][::-1]
    left = [0.0] * len(rows)
    for i, tool in enumerate(sorted(shown)):
        column = Column(name=tool, measure="share", tool=tool)
        shares = [figure(column, [Played(kept=kept[r.run], policy=r.policy)]) for r in rows][::-1]
        widths = [share if isinstance(share, float) else 0.0 for share in shares]
        if any(widths):
            colour = colormaps["tab20"](i % 20)
            axes.barh(labels, widths, left=left, label=shown[tool], color=colour)
            left = [start + width for start, width in zip(left, widths, strict=True)]
    axes.set_xlabel("share of all calls (%)")
    axes.set_xlim(0, 100)
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=4, fontsize=9)


def _draw_costs(axes: Axes, rows: Sequence[Row], kept: Mapping[str, Extract]) -> None:
    """A line a group of rows: accuracy over mean cost, with intervals."""
    accuracy, cents = (Column(name=name, measure=name) for name in ("accuracy", "cents"))
    for i, group in enumerate(dict.fromkeys(row.group for row in rows)):
        points = []
        for row in rows:
            runs = [Played(kept=kept[row.run], policy=row.policy)]
            x, y = figure(cents, runs), figure(accuracy, runs)
            if row.group == group and isinstance(x, Estimate) and isinstance(y, Estimate):
                points.append((x.value, y.value, y.value - y.low, y.high - y.value))
        if points:
            xs, ys, below, above = zip(*points, strict=True)
            marker = "osD^vP*"[i % 7]
            axes.errorbar(xs, ys, yerr=[below, above], marker=marker, capsize=3, label=group)
    axes.set_xlabel("mean cost of an episode (US cents)")
    axes.set_ylabel("accuracy (%)")
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, loc="best")
