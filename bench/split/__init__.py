"""The papers' experiments on weighted splits: python -m bench.split, or each by its name, as
python -m bench.split.error. Each prints a table and draws an SVG.

Random partitions are ordered, each equally likely, as in "Optimal Weighted Load Balancing in
TCAMs"; seeds are fixed. Errors are shares of all addresses.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from turnout.cli.output import table
from turnout.cli.plot import save
from turnout.split import Split

FIGURES = Path(__file__).parents[2] / "docs" / "figures"

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Experiment:
    """What is measured, as rows with the same columns, and how they are drawn."""

    name: str
    measure: Callable[[int], list[Row]]
    """From how many random instances, or rounds, each row is to be."""
    draw: Callable[[list[Row]], Figure]
    samples: int


def command_of(*experiments: Experiment) -> click.Command:
    """A command that runs them."""

    @click.command(context_settings={"help_option_names": ["-h", "--help"]})
    @click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        default=FIGURES,
        help="Folder of the drawings.  [default: docs/figures]",
    )
    def command(out: Path) -> None:
        """Print tables and draw figures on weighted splits."""
        for experiment in experiments:
            run(experiment, out)

    return command


def run(experiment: Experiment, out: Path) -> None:
    """Measures, prints the table and draws split-NAME.svg in `out`, which is made if missing."""
    rows = experiment.measure(experiment.samples)
    print(table([name.upper() for name in rows[0]], [[*map(_short, r.values())] for r in rows]))
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"split-{experiment.name}.svg"
    save(experiment.draw(rows), path)
    print(f"drawn: {path}\n", flush=True)


def _short(value: object) -> object:
    return float(f"{value:.3g}") if isinstance(value, float) else value


def partitions(samples: int, targets: int, width: int) -> list[list[int]]:
    """Partitions of 2^width over so many targets, of which each ordered one is equally likely; the
    same for the same numbers."""
    random = np.random.default_rng([targets, width])
    places = (1 << width) + targets - 1
    found = []
    for _ in range(samples):
        # A composition is where targets - 1 bars stand among the addresses.
        bars = np.sort(random.choice(places, targets - 1, replace=False, shuffle=False))
        found.append((np.diff(bars, prepend=-1, append=places) - 1).tolist())
    return found


def pareto(samples: int, targets: int) -> list[list[int]]:
    """Heavy-tailed weights, in thousandths of the least possible: the one above x with
    probability 1/x."""
    random = np.random.default_rng([targets, 1])
    return [_thousandths(1 + random.pareto(1, targets)) for _ in range(samples)]


def bimodal(samples: int, targets: int) -> list[list[int]]:
    """Weights near 4 and near 16, a coin for each, in thousandths: Niagara's evaluation."""
    random = np.random.default_rng([targets, 2])
    found = []
    for _ in range(samples):
        means = np.where(random.random(targets) < 0.5, 4, 16)
        found.append(_thousandths(np.maximum(random.normal(means, 1), 0)))
    return found


def _thousandths(weights: Any) -> list[int]:
    return np.rint(1000 * weights).astype(np.int64).tolist()  # type: ignore[no-any-return]


def share(split: Split) -> float:
    """Its error as a share of all addresses."""
    return float(split.error / (1 << split.width))


def line(
    axes: Axes, rows: Sequence[Row], across: str, up: str, label: str, style: str = "o-"
) -> None:
    """A line through the rows. What is 0 is not on a logarithmic axis and is left out."""
    shown = [(row[across], row[up]) for row in rows if row[up]]
    axes.plot(*zip(*shown, strict=True), style, label=label, markersize=3, linewidth=1)


def label(axes: Axes, across: str, up: str, title: str = "") -> None:
    """Names of the axes, a light grid and a legend."""
    axes.set(xlabel=across, ylabel=up, title=title)
    axes.minorticks_off()
    axes.tick_params(left=False, bottom=False)
    axes.grid(linewidth=0.3)
    axes.legend(fontsize="small")
