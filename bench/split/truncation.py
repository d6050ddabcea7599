"""Tables for exact splits cut off after n rules against the best of n rules, in linf: python -m
bench.split.truncation"""

from statistics import fmean

from matplotlib.figure import Figure

from bench.split import Experiment, Row, command_of, label, line, partitions, share
from turnout.split import approximate

WIDTH, TARGETS = 16, 10


def measure(samples: int) -> list[Row]:
    asked = partitions(samples, TARGETS, WIDTH)
    return [_row(asked, n) for n in (1, 2, 3, 4, 6, 8, 10, 12, 15, 18, 21, 24)]


def _row(asked: list[list[int]], rules: int) -> Row:
    optimum = [share(approximate(p, WIDTH, rules)) for p in asked]
    niagara = [share(approximate(p, WIDTH, rules, "linf", "niagara")) for p in asked]
    matcher = [share(approximate(p, WIDTH, rules, "linf", "bit_matcher")) for p in asked]
    return {
        "n": rules,
        "n/k": rules / TARGETS,
        "optimum": fmean(optimum),
        "Niagara": fmean(niagara),
        "Bit Matcher": fmean(matcher),
        "Niagara, worst ratio": _worst(niagara, optimum),
        "Bit Matcher, worst ratio": _worst(matcher, optimum),
    }


def _worst(errors: list[float], optimum: list[float]) -> float | None:
    return max(
        (error / best for error, best in zip(errors, optimum, strict=True) if best), default=None
    )


def draw(rows: list[Row]) -> Figure:
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    errors, ratios = figure.subplots(1, 2)
    for colour, (method, style) in enumerate(
        (("optimum", "-"), ("Niagara", ":"), ("Bit Matcher", "-"))
    ):
        line(errors, rows, "n", method, method, f"C{colour}o{style}")
    for colour, method in enumerate(("Niagara", "Bit Matcher"), 1):
        shown = [row | {"ratio": row[method] / row["optimum"]} for row in rows if row["optimum"]]
        line(ratios, shown, "n", "ratio", f"{method}, of the means", f"C{colour}o-")
        line(ratios, rows, "n", f"{method}, worst ratio", f"{method}, the worst", f"C{colour}o--")
    errors.set_yscale("log")
    label(errors, "n", "mean largest error, share of addresses")
    label(ratios, "n", "error / least error")
    figure.suptitle(f"Cut off after n rules, k = {TARGETS}, W = {WIDTH}")
    return figure


EXPERIMENT = Experiment("truncation", measure, draw, samples=300)

if __name__ == "__main__":
    command_of(EXPERIMENT)()
