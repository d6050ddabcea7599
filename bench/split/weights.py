"""Heavy-tailed and bimodal weights beside uniform partitions: python -m bench.split.weights. They
stand for the papers' data from real services, which are not published."""

from statistics import fmean, quantiles

from matplotlib.figure import Figure

from bench.split import Experiment, Row, bimodal, command_of, label, line, pareto, partitions, share
from turnout.split import approximate

WIDTH, TARGETS = 16, 20
RULES = (1, 2, 4, 7, 10, 15, 20, 25, 30, 35, 40)


def measure(samples: int) -> list[Row]:
    kinds = {
        "uniform": partitions(samples, TARGETS, WIDTH),
        "Pareto": pareto(samples, TARGETS),
        "bimodal": bimodal(samples, TARGETS),
    }
    return [_row(kind, asked, n) for kind, asked in kinds.items() for n in RULES]


def _row(kind: str, asked: list[list[int]], rules: int) -> Row:
    errors = [share(approximate(weights, WIDTH, rules)) for weights in asked]
    tenths = quantiles(errors, n=10, method="inclusive")
    return {
        "weights": kind,
        "n": rules,
        "n/k": rules / TARGETS,
        "mean": fmean(errors),
        "one in ten below": tenths[0],
        "one in ten above": tenths[-1],
    }


def draw(rows: list[Row]) -> Figure:
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for colour, kind in enumerate(dict.fromkeys(row["weights"] for row in rows)):
        own = [row for row in rows if row["weights"] == kind]
        line(axes, own, "n", "mean", kind, f"C{colour}o-")
        low, high = ([row[f"one in ten {side}"] for row in own] for side in ("below", "above"))
        axes.fill_between([row["n"] for row in own], low, high, color=f"C{colour}", alpha=0.15)
    axes.set_yscale("log")
    label(axes, "n", "least largest error, share of addresses")
    axes.set_title(f"k = {TARGETS}, W = {WIDTH}; mean, and all but a tenth on each side")
    return figure


EXPERIMENT = Experiment("weights", measure, draw, samples=300)

if __name__ == "__main__":
    command_of(EXPERIMENT)()
