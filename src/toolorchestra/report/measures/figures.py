"""Pictures of measures: which tools are called (Figure 5), and accuracy by turns (Figure 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from toolorchestra.report.figures import COLOURS, blank, save
from toolorchestra.report.measures.shares import Shares
from toolorchestra.report.measures.turns import TurnPoint

MAX_TOOLS = 10
"""Tools with a colour of their own; the rest are shown as one."""
HATCHES = ("", "///")
"""Tell apart tools whose colours repeat, as they do once."""
OTHERS = "others"
OTHERS_COLOUR = "#BBBBBB"
MARKERS = "osD^vP*"


def draw_call_shares(
    shares: Shares, png: Path, *, shown_as: Mapping[str, str], title: str, is_simulated: bool
) -> None:
    """Draw one bar a policy, made of the shares of tools in its calls.

    Args:
        shares: Of tools by policy, from 0 to 1.
        png: Where the picture goes.
        shown_as: What readers call a tool.
        title: Heading of the picture.
        is_simulated: Whether simulated tools were involved, which the caption then says.
    """
    figure, axes = blank(title, is_simulated=is_simulated)
    policies = list(shares)
    ends = [0.0] * len(policies)
    axes.set_axisbelow(True)
    for number, (name, widths) in enumerate(parts_of(shares).items()):
        is_rest = name == OTHERS
        axes.barh(
            range(len(policies)),
            widths,
            left=ends,
            height=0.7,
            color=OTHERS_COLOUR if is_rest else COLOURS[number % len(COLOURS)],
            hatch="" if is_rest else HATCHES[number // len(COLOURS)],
            edgecolor="white",
            label=shown_as.get(name, name),
        )
        ends = [end + width for end, width in zip(ends, widths, strict=True)]
    axes.set_yticks(range(len(policies)), policies)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of all calls")
    if any(ends):
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=11)
    save(figure, png)


def parts_of(shares: Shares) -> dict[str, list[float]]:
    """The share of each tool by policy, the most called first and the rarest as one part."""
    names = {name for found in shares.values() for name in found}
    by_tool = {
        name: [found[name].value if name in found else 0.0 for found in shares.values()]
        for name in names
    }
    order = sorted(names, key=lambda name: (-sum(by_tool[name]), name))
    parts = {name: by_tool[name] for name in order[:MAX_TOOLS]}
    if rest := order[MAX_TOOLS:]:
        parts[OTHERS] = [sum(column) for column in zip(*(by_tool[n] for n in rest), strict=True)]
    return parts


def draw_turn_curves(
    points: Sequence[TurnPoint], png: Path, *, title: str, is_simulated: bool
) -> None:
    """Draw accuracy over cost, one line a policy, a mark for each limit of turns.

    Args:
        points: In rising order of limits; those that a run cannot tell are left out.
        png: Where the picture goes.
        title: Heading of the picture; says whether the points are derived or of separate runs.
        is_simulated: Whether simulated tools were involved, which the caption then says.
    """
    figure, axes = blank(title, is_simulated=is_simulated)
    for number, policy in enumerate(dict.fromkeys(point.policy for point in points)):
        limits: dict[tuple[float, float], list[str]] = {}
        for point in points:
            if point.policy == policy and point.cost_cents and point.accuracy:
                place = (point.cost_cents.value, point.accuracy.value)
                limits.setdefault(place, []).append(str(point.max_turns))
        if not limits:
            continue
        cents, accuracies = zip(*limits, strict=True)
        colour = COLOURS[number % len(COLOURS)]
        marker = MARKERS[number % len(MARKERS)]
        axes.plot(cents, accuracies, color=colour, marker=marker, linewidth=2, label=policy)
        for place, names in limits.items():
            axes.annotate(
                ", ".join(names), place, xytext=(5, 6), textcoords="offset points", color=colour
            )
    axes.set_xlabel("mean cost of an episode (US cents); a number is the turns allowed")
    axes.set_ylabel("accuracy (share of episodes solved)")
    axes.margins(x=0.1, y=0.12)
    if axes.lines:
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=11)
    save(figure, png)
