"""Drawings, as SVG. Needs matplotlib, which the extra `plot` brings."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from turnout.cli.trie import trie
from turnout.split import Rule, Split, approximate, fewest, request

MOST_RULES = 64
"""More lines of text cannot be read beside a curve."""

MOST_POINTS = 100
"""Of a curve, each of which is a search; fewer with many targets, where a search takes longer."""

INCHES_A_LINE, INCHES_A_LETTER = 0.17, 0.065


class Shown(NamedTuple):
    """A rule as it is written."""

    rule: Rule
    pattern: str
    target: str
    """Its name, printable."""
    share: float
    """Of all addresses: those that no longer rule takes."""


def split(found: Split, rules: Sequence[Shown]) -> Figure:
    """The trie of `rules`, the longest first, beside the least error against the number of rules.

    Of more than 64 rules the 64 shortest are drawn, and so with each those around it. Of a curve at
    most 100 points are searched for. What is not drawn is said.
    """
    drawn = rules[-MOST_RULES:]
    labels = [f"{r.pattern}  {r.target}  {r.share:.4%}" for r in drawn]
    letters = max(map(len, labels))
    trie_width = 3 + INCHES_A_LETTER * letters
    figure = Figure(
        figsize=(trie_width + 5, max(4, 0.9 + INCHES_A_LINE * len(drawn))), layout="constrained"
    )
    left, right = figure.subplots(1, 2, width_ratios=(trie_width, 5))
    _trie(left, drawn, labels, INCHES_A_LETTER * letters / trie_width)
    every = f"{len(rules)} rules"
    left.set_title(every if len(drawn) == len(rules) else f"the {len(drawn)} shortest of {every}")
    _curve(right, found)
    return figure


def save(figure: Figure, path: Path) -> None:
    """Writes `figure` as an SVG: text as text, and the same bytes for the same figure. Raises
    OSError where it cannot be written."""
    with (
        matplotlib.rc_context({"svg.hashsalt": "turnout", "svg.fonttype": "none"}),
        warnings.catch_warnings(),
    ):
        # Who looks at the drawing may have the font that is missing here.
        warnings.filterwarnings("ignore", "Glyph .* missing")
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def _trie(axes: Axes, rules: Sequence[Shown], labels: Sequence[str], for_labels: float) -> None:
    """Lengths from left to right, addresses from top to bottom."""
    few = all(shown.rule.target < 10 for shown in rules)
    colours = matplotlib.colormaps["tab10" if few else "tab20"]
    found = [*trie([shown.rule for shown in rules]).walk()]
    for node in found:
        for child in node.children:
            axes.plot(
                (node.length, node.length, child.length),
                (node.row, child.row, child.row),
                color="0.7",
                linewidth=0.8,
                zorder=1,
            )
        if node.rule is None:
            continue
        colour = colours(rules[node.rule].rule.target % colours.N)
        axes.plot(node.length, node.row, "o", color=colour, markersize=5)
        axes.annotate(
            labels[node.rule],
            (node.length, node.row),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            family="monospace",
            fontsize=7,
            parse_math=False,
        )
    deepest = max(node.length for node in found)
    # To the right of the deepest there is room for its label.
    axes.set(
        xlim=(-0.5, max(deepest, 1) / (1 - for_labels)), ylim=(len(rules) - 0.2, -0.8), yticks=[]
    )
    axes.set_xticks(range(0, deepest + 1, 1 + deepest // 12))
    axes.set_xlabel("length of the prefix; 0 goes up, 1 down")
    axes.spines[:].set_visible(False)


def _curve(axes: Axes, found: Split) -> None:
    """The drawn split is a point on it."""
    last, points = curve(found)
    errors = [(n, 100 * error) for n, error in points if error]
    if errors:
        axes.plot(*zip(*errors, strict=True), "o-", color="C0", markersize=3, linewidth=1)
        axes.set_yscale("log")
    least = points[-1][1]
    axes.axvline(last, color="0.5", linestyle=":")
    axes.annotate(
        f"{last} rules: " + (f"least error, {100 * least:.3g}%" if least else "exact"),
        (last, 0.98),
        xycoords=("data", "axes fraction"),
        xytext=(-4, 0),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=8,
    )
    error = float(100 * request.share(found.error, found.norm, found.width))
    if error:
        axes.plot(len(found.rules), error, "o", color="C1", markersize=7, label="this split")
        axes.legend(loc="lower left", fontsize=8)
    thinned = "" if len(points) == last else f" ({len(points)} of {last} numbers)"
    relative = found.norm.endswith("_rel")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("number of rules" + thinned)
    axes.set_ylabel(
        f"{found.norm}, % of " + ("what was asked for" if relative else "all addresses")
    )
    axes.grid(linewidth=0.3)


def curve(found: Split) -> tuple[int, list[tuple[int, float]]]:
    """The fewest rules of the least error, and the error as a share for numbers of rules up to
    that, the first and the last always among them."""
    wanted, width, norm = found.requested, found.width, found.norm
    least = approximate(wanted, width, None, norm).error
    best = fewest(wanted, width, norm, least)
    assert best is not None
    last = len(best.rules)
    # Each of linf_rel takes some programs.
    points = MOST_POINTS if norm != "linf_rel" else MOST_POINTS // 5
    most = min(last, points, max(10, 200_000 // len(wanted)))
    numbers = {1 + (last - 1) * place // max(most - 1, 1) for place in range(most)}
    return last, [(n, _share(approximate(wanted, width, n, norm))) for n in sorted(numbers)]


def _share(found: Split) -> float:
    return float(request.share(found.error, found.norm, found.width))
