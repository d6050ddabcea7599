"""Mean and variance of the least error against rules n, targets k, width W and n/k: python -m
bench.split.error"""

from statistics import fmean, pvariance

from matplotlib.figure import Figure

from bench.split import Experiment, Row, command_of, label, line, partitions, share
from turnout.split import approximate

Case = tuple[int, int, int]

RULES = [(10, width, n) for width in (8, 12, 16) for n in (1, 2, 4, 6, 8, 10, 13, 16, 20, 25, 30)]
RATIO = [(k, 16, k * per // 4) for k in (8, 20, 52) for per in range(2, 11)]
TARGETS = [(k, 16, k * per // 2) for per in (2, 3, 4) for k in (4, 8, 16, 32, 64, 128)]
WIDTH = [(10, width, n) for n in (10, 15, 20) for width in (6, 8, 10, 12, 16, 20, 24)]


def measure(samples: int) -> list[Row]:
    return [_row(samples, *case) for case in dict.fromkeys([*RULES, *RATIO, *TARGETS, *WIDTH])]


def _row(samples: int, targets: int, width: int, rules: int) -> Row:
    errors = [
        share(approximate(partition, width, rules))
        for partition in partitions(samples, targets, width)
    ]
    return {
        "k": targets,
        "W": width,
        "n": rules,
        "n/k": rules / targets,
        "mean": fmean(errors),
        "variance": pvariance(errors),
    }


def draw(rows: list[Row]) -> Figure:
    found = {(row["k"], row["W"], row["n"]): row for row in rows}
    figure = Figure(figsize=(12, 6), layout="constrained")
    grid = figure.subplots(2, 4, sharex="col", sharey="row")
    for (mean, variance), cases, across, name in zip(
        grid.T,
        (RULES, RATIO, TARGETS, WIDTH),
        ("n", "n/k", "k", "W"),
        ("W = {W}", "k = {k}", "n = {n/k:g} k", "n = {n}"),
        strict=True,
    ):
        lines: dict[str, list[Row]] = {}
        for case in cases:
            lines.setdefault(name.format_map(found[case]), []).append(found[case])
        for axes, up in ((mean, "mean"), (variance, "variance")):
            for text, points in lines.items():
                line(axes, points, across, up, text)
            axes.set_yscale("log")
            label(axes, across, up if across == "n" else "")
        if across == "k":
            mean.set_xscale("log", base=2)
    for axes, title in zip(grid[0], ("k = 10", "W = 16", "W = 16", "k = 10"), strict=True):
        axes.set_title(title)
    figure.suptitle("Least largest error of a target, as a share of all addresses")
    return figure


EXPERIMENT = Experiment("error", measure, draw, samples=300)

if __name__ == "__main__":
    command_of(EXPERIMENT)()
