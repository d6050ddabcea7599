"""Running times, as ratios to Bit Matcher in plain Python in the same round: python -m
bench.split.times"""

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from matplotlib.figure import Figure

from bench.split import Experiment, Row, command_of, label, line, pareto
from bench.split.reference import transactions
from turnout.split import approximate, count, exact

WIDTH = 32
TARGETS = (10, 100, 1000, 10_000, 100_000)


def measure(samples: int, targets: tuple[int, ...] = TARGETS) -> list[Row]:
    return [row for k in targets for row in _rows(samples, k)]


def _rows(rounds: int, targets: int) -> list[Row]:
    (weights,) = pareto(1, targets)
    partition = approximate(weights, WIDTH).partition
    rules = count(partition, WIDTH)
    actions: dict[str, Callable[[], Any]] = {
        "count": partial(count, partition, WIDTH),
        "exact": partial(exact, partition, WIDTH),
        "linf": partial(approximate, weights, WIDTH, rules // 2, "linf"),
        "linf_plus": partial(approximate, weights, WIDTH, rules // 2, "linf_plus"),
        "l1": partial(approximate, weights, WIDTH, rules // 2, "l1"),
        "reference": partial(transactions, partition, WIDTH),
    }
    assert len(transactions(partition, WIDTH)) + 1 == rules, "not as many as the reference"
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            begin = time.perf_counter()
            action()
            times[name].append((time.perf_counter() - begin) * 1e3)
    return [
        {
            "k": targets,
            "exact rules": rules,
            "what": name,
            "ms": statistics.median(found),
            "ratio": statistics.median(
                a / b for a, b in zip(found, times["reference"], strict=True)
            ),
        }
        for name, found in times.items()
    ]


def draw(rows: list[Row]) -> Figure:
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for axes, up, name in zip(
        figure.subplots(1, 2),
        ("ms", "ratio"),
        ("milliseconds", "ratio to the reference"),
        strict=True,
    ):
        for colour, what in enumerate(dict.fromkeys(row["what"] for row in rows)):
            own = [row for row in rows if row["what"] == what]
            line(axes, own, "k", up, what, f"C{colour}o-")
        axes.set(xscale="log", yscale="log")
        label(axes, "k", name)
    figure.suptitle(f"Medians, W = {WIDTH}, Pareto weights, half the rules of an exact split")
    return figure


EXPERIMENT = Experiment("times", measure, draw, samples=5)

if __name__ == "__main__":
    command_of(EXPERIMENT)()
