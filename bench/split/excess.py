"""Least largest error against least largest excess: python -m bench.split.excess"""

from statistics import fmean

from matplotlib.figure import Figure

from bench.split import Experiment, Row, command_of, label, line, partitions, share
from turnout.split import approximate

WIDTH = 16


def measure(samples: int) -> list[Row]:
    return [_row(samples, k, k * per // 4) for k in (8, 20, 52) for per in range(2, 11)]


def _row(samples: int, targets: int, rules: int) -> Row:
    asked = partitions(samples, targets, WIDTH)
    linf = fmean(share(approximate(p, WIDTH, rules, "linf")) for p in asked)
    excess = fmean(share(approximate(p, WIDTH, rules, "linf_plus")) for p in asked)
    return {
        "k": targets,
        "n": rules,
        "n/k": rules / targets,
        "linf": linf,
        "linf_plus": excess,
        "ratio": excess / linf if linf else None,
    }


def draw(rows: list[Row]) -> Figure:
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    errors, ratios = figure.subplots(1, 2)
    for colour, targets in enumerate(dict.fromkeys(row["k"] for row in rows)):
        own = [row for row in rows if row["k"] == targets]
        line(errors, own, "n/k", "linf", f"error, k = {targets}", f"C{colour}o-")
        line(errors, own, "n/k", "linf_plus", f"excess, k = {targets}", f"C{colour}o--")
        line(ratios, own, "n/k", "ratio", f"k = {targets}", f"C{colour}o-")
    errors.set_yscale("log")
    label(errors, "n/k", "mean, share of addresses")
    label(ratios, "n/k", "least excess / least error")
    figure.suptitle(f"Largest error and largest excess, W = {WIDTH}")
    return figure


EXPERIMENT = Experiment("excess", measure, draw, samples=300)

if __name__ == "__main__":
    command_of(EXPERIMENT)()
