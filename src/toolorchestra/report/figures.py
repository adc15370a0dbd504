"""The two pictures of a run: what was learned over the steps, and accuracy against cost.

Drawn on `Figure` objects of their own, so that no global state of pyplot is touched and threads and
tests stay apart. Colours are Okabe and Ito's, told apart by colour-blind readers. matplotlib is
loaded when something is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from toolorchestra.report.metrics import STEP, read_metrics
from toolorchestra.report.stats import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
SIMULATED_NOTE = 'Tools named "sim/" are simulated experts, not the real models.'
WINDOW = 5
"""Steps in the moving average of a reward curve."""


OFFSETS_PX = (8, -24, 26, -42, 44, -60, 62, -78)
"""Heights above its point at which a name may be written, best first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyPoint:
    """One policy in the picture of accuracy over cost."""

    name: str
    cost_cents: Estimate
    """Mean cost of an episode."""
    accuracy: Estimate


class _Box(NamedTuple):
    """A rectangle on the picture, in pixels."""

    left: float
    bottom: float
    right: float
    top: float

    @classmethod
    def beside(cls, x: float, y: float, text: str, dy: float, *, is_right: bool) -> _Box:
        """The room that `text` takes at 12 points, right or left of a point, `dy` above it."""
        width = 10.0 * len(text)
        left = x + 12 if is_right else x - 12 - width
        return cls(left, y + dy, left + width, y + dy + 17)

    def meets(self, other: _Box) -> bool:
        is_apart_x = self.right < other.left or other.right < self.left
        is_apart_y = self.top < other.bottom or other.top < self.bottom
        return not (is_apart_x or is_apart_y)


def draw_reward_curve(
    metrics_csv: Path, png: Path, *, series: Mapping[str, str], title: str, is_simulated: bool
) -> None:
    """Draw metrics over training steps: each step faint, the moving average strong.

    Args:
        metrics_csv: The run's metrics.csv.
        png: Where the picture goes.
        series: Label of each metric to draw, by its column, e.g. {"reward/mean": "mean reward"}.
            Columns that the file lacks are left out.
        title: Heading of the picture.
        is_simulated: Whether simulated tools were involved, which the caption then says.

    Raises:
        ValueError: If the file holds none of the metrics.
    """
    rows = read_metrics(metrics_csv)
    curves = {
        label: [(row[STEP], row[column]) for row in rows if column in row]
        for column, label in series.items()
    }
    if not any(curves.values()):
        raise ValueError(f"{metrics_csv} holds none of {', '.join(series)}: nothing to draw")
    figure, axes = blank(title, is_simulated=is_simulated)
    for (label, points), colour in zip(curves.items(), COLOURS, strict=False):
        if points:
            _draw_curve(axes, points, label=label, colour=colour)
    axes.set_xlabel("training step")
    axes.set_ylabel("share or reward (no unit)")
    axes.legend(frameon=False, loc="best")
    save(figure, png)


def draw_accuracy_over_cost(
    points: Sequence[PolicyPoint],
    png: Path,
    *,
    frontier: Sequence[tuple[float, float]],
    title: str,
    is_simulated: bool,
) -> None:
    """Draw each policy's accuracy over its cost, with intervals, beside the oracle's frontier.

    Args:
        points: The policies; at most seven, one colour each.
        png: Where the picture goes.
        frontier: (cents, accuracy) of the oracle as it weighs cost less and less.
        title: Heading of the picture.
        is_simulated: Whether simulated tools were involved, which the caption then says.
    """
    figure, axes = blank(title, is_simulated=is_simulated)
    if frontier:
        cents, accuracies = zip(*sorted(frontier), strict=True)
        axes.plot(cents, accuracies, color="#777777", linestyle="--", label="oracle frontier")
        axes.legend(frameon=False, loc="lower right")
    for i, point in enumerate(points):
        axes.errorbar(
            point.cost_cents.value,
            point.accuracy.value,
            xerr=_arms(point.cost_cents),
            yerr=_arms(point.accuracy),
            color=COLOURS[i % len(COLOURS)],
            marker="osD^vP*"[i % 7],
            markersize=9,
            capsize=3,
        )
    axes.set_xlabel("mean cost of an episode (US cents)")
    axes.set_ylabel("accuracy (share of episodes solved)")
    axes.margins(x=0.15, y=0.12)
    _label(axes, points)
    save(figure, png)


def blank(title: str, *, is_simulated: bool) -> tuple[Figure, Axes]:
    """An empty picture of 1000 x 620 pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6.2), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.set_title(title, fontsize=15)
    axes.xaxis.label.set_fontsize(13)
    axes.yaxis.label.set_fontsize(13)
    axes.tick_params(labelsize=12)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    if is_simulated:
        figure.supxlabel(SIMULATED_NOTE, fontsize=10, color="#444444")
    return figure, axes


def _draw_curve(
    axes: Axes, points: Sequence[tuple[float, float]], *, label: str, colour: str
) -> None:
    steps, values = zip(*points, strict=True)
    if len(points) <= 2 * WINDOW:  # too few to smooth, e.g. evaluations every 20 steps
        axes.plot(steps, values, color=colour, marker="o", linewidth=2, label=label)
        return
    axes.plot(steps, values, color=colour, alpha=0.25, linewidth=1)
    axes.plot(steps, _moving_average(values), color=colour, linewidth=2.5, label=label)


def _moving_average(values: Sequence[float]) -> list[float]:
    """Mean of each value and up to WINDOW - 1 before it."""
    windows = [values[max(0, i + 1 - WINDOW) : i + 1] for i in range(len(values))]
    return [sum(window) / len(window) for window in windows]


def _arms(estimate: Estimate) -> list[list[float]]:
    """Lengths below and above, in matplotlib's form; never negative through rounding."""
    low, high = estimate.value - estimate.low, estimate.high - estimate.value
    return [[max(low, 0.0)], [max(high, 0.0)]]


def _label(axes: Axes, points: Sequence[PolicyPoint]) -> None:
    """Write each name at the first spot near its point that is clear of points and names."""
    axes.figure.draw_without_rendering()  # type: ignore[union-attr]
    centres = [axes.transData.transform((p.cost_cents.value, p.accuracy.value)) for p in points]
    taken = [_Box(x - 11, y - 11, x + 11, y + 11) for x, y in centres]
    for i, point in enumerate(points):
        x, y = centres[i]
        spots = [
            _Box.beside(x, y, point.name, dy, is_right=r)
            for dy in OFFSETS_PX
            for r in (True, False)
        ]
        free = [spot for spot in spots if not any(spot.meets(box) for box in taken)]
        box = (free or spots)[0]
        taken.append(box)
        name = axes.annotate(
            point.name,
            (box.left, box.bottom),
            xycoords="figure pixels",
            fontsize=12,
            color=COLOURS[i % len(COLOURS)],
        )
        name.set_in_layout(False)  # its place was measured; the axes must not move again


def save(figure: Figure, png: Path) -> None:
    """Writes a picture aside and renames it, so that it is whole or absent."""
    png.parent.mkdir(parents=True, exist_ok=True)
    aside = png.with_name(png.name + ".new")
    figure.savefig(aside, format="png")
    aside.replace(png)
