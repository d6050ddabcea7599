"""n prefix rules against n entries of a hash table in which members are replicated (WCMP): python
-m bench.split.memory"""

from fractions import Fraction
from statistics import fmean

from matplotlib.figure import Figure

from bench.split import Experiment, Row, bimodal, command_of, label, line, pareto, share
from turnout.split import approximate, wcmp

WIDTH, TARGETS = 16, 16
SIZES = (16, 20, 24, 32, 40, 48)


def measure(samples: int) -> list[Row]:
    kinds = {"Pareto": pareto(samples, TARGETS), "bimodal": bimodal(samples, TARGETS)}
    return [_row(kind, asked, size) for kind, asked in kinds.items() for size in SIZES]


def _row(kind: str, asked: list[list[int]], size: int) -> Row:
    tables = [_table(weights, size) for weights in asked]
    return {
        "weights": kind,
        "n": size,
        "rules, linf": fmean(share(approximate(w, WIDTH, size)) for w in asked),
        "WCMP, linf": fmean(error for error, _ in tables),
        "rules, relative excess": fmean(
            float(approximate(w, WIDTH, size, "linf_plus_rel").error) for w in asked
        ),
        "WCMP, relative excess": fmean(excess for _, excess in tables),
    }


def _table(weights: list[int], size: int) -> tuple[float, float]:
    """Its largest error, as a share of all flows, and its largest relative excess, which is what
    WCMP makes small."""
    entries = wcmp.reduce(weights, size)
    total, used = sum(weights), sum(entries)
    shares = [
        (Fraction(got, used), Fraction(weight, total))
        for got, weight in zip(entries, weights, strict=True)
    ]
    return (
        float(max(abs(got - due) for got, due in shares)),
        float(max(got / due - 1 for got, due in shares if due)),
    )


def draw(rows: list[Row]) -> Figure:
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for axes, norm in zip(figure.subplots(1, 2), ("linf", "relative excess"), strict=True):
        for colour, kind in enumerate(dict.fromkeys(row["weights"] for row in rows)):
            own = [row for row in rows if row["weights"] == kind]
            line(axes, own, "n", f"rules, {norm}", f"rules, {kind}", f"C{colour}o-")
            line(axes, own, "n", f"WCMP, {norm}", f"WCMP, {kind}", f"C{colour}o--")
        axes.set_yscale("log")
        label(axes, "n", f"mean {norm}")
    figure.suptitle(f"n rules or n entries of a hash table, k = {TARGETS}, W = {WIDTH}")
    return figure


EXPERIMENT = Experiment("memory", measure, draw, samples=100)

if __name__ == "__main__":
    command_of(EXPERIMENT)()
