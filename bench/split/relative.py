"""The least relative error to either side, against the same rules of Niagara, and the time to find
it: python -m bench.split.relative"""

import time
from statistics import fmean

from matplotlib.figure import Figure

from bench.split import Experiment, Row, command_of, label, line, pareto
from turnout.split import approximate

WIDTH = 16
TARGETS = (10, 30, 100)
RATIOS = (1.1, 1.25, 1.5, 1.75)
"""With fewer rules than targets one of them has nothing: an error of 1."""


def measure(samples: int, targets: tuple[int, ...] = TARGETS) -> list[Row]:
    return [_row(pareto(samples, k), k, ratio) for k in targets for ratio in RATIOS]


def _row(asked: list[list[int]], targets: int, ratio: float) -> Row:
    rules = round(targets * ratio)
    begin = time.perf_counter()
    optimum = [approximate(w, WIDTH, rules, "linf_rel").error for w in asked]
    seconds = (time.perf_counter() - begin) / len(asked)
    niagara = [approximate(w, WIDTH, rules, "linf_rel", "niagara").error for w in asked]
    return {
        "k": targets,
        "n": rules,
        "n/k": rules / targets,
        "optimum": float(fmean(optimum)),
        "Niagara": float(fmean(niagara)),
        "seconds": seconds,
    }


def draw(rows: list[Row]) -> Figure:
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    errors, times = figure.subplots(1, 2)
    for colour, k in enumerate(dict.fromkeys(row["k"] for row in rows)):
        own = [row for row in rows if row["k"] == k]
        line(errors, own, "n/k", "optimum", f"k = {k}", f"C{colour}o-")
        line(errors, own, "n/k", "Niagara", f"k = {k}, Niagara", f"C{colour}o:")
        line(times, own, "n/k", "seconds", f"k = {k}", f"C{colour}o-")
    errors.set_yscale("log")
    label(errors, "n/k", "mean relative error")
    label(times, "n/k", "seconds to find the optimum")
    figure.suptitle(f"Relative error to either side, Pareto weights, W = {WIDTH}")
    return figure


EXPERIMENT = Experiment("relative", measure, draw, samples=5)

if __name__ == "__main__":
    command_of(EXPERIMENT)()
