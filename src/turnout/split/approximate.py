"""The best split that a number of rules allows, and the fewest rules that an error allows.

Targets are parts / scale addresses, exact; they are not rounded to a partition first, which would
change what is best.
"""

from collections.abc import Sequence
from fractions import Fraction
from numbers import Rational
from typing import Literal

import numpy as np

from turnout.split import relative, windows
from turnout.split.box import Boxes
from turnout.split.evaluate import evaluate
from turnout.split.exact import NO_LIMIT, rules_of
from turnout.split.model import (
    NORMS,
    RELATIVE,
    Ints,
    Norm,
    Rule,
    Shares,
    Split,
    Weight,
    checked_budget,
    checked_width,
    shares,
)
from turnout.split.niagara import niagara
from turnout.split.transactions import from_transactions

Heuristic = Literal["niagara", "bit_matcher"]


def approximate(
    weights: Sequence[Weight],
    width: int,
    budget: int | None = None,
    norm: Norm = "linf",
    heuristic: Heuristic | None = None,
) -> Split:
    """The split of least error with at most `budget` rules (None: no limit), the match-all rule
    among them.

    `linf` is the largest error of a target, `linf_plus` the largest excess, both in addresses;
    `linf_rel` and `linf_plus_rel` are the same as shares of what was asked for; `l1` is the sum of all errors
    in addresses (twice the average error of the SPAA 2018 talk). Under a relative norm a target of
    weight 0 gets nothing.

    A `heuristic` is for comparison: the largest `budget` transactions of a method that was made for
    exact splits, and the error that they have in `norm`. That of Niagara is best in `l1`; what Bit
    Matcher's leave out may be large, and cost more than twice the least `linf`.

    Raises ValueError for a weight that is not rational or below 0, all weights 0, a width outside
    0..62, more targets than addresses, a budget below 1, an unknown norm or heuristic.
    """
    wanted = shares(weights, checked_width(width))
    limit = checked_budget(budget)
    if _checked(norm) == "l1" and heuristic is None:
        heuristic = "niagara"  # there, not one but the optimum
    if heuristic is not None:
        return _of_rules(_truncated(wanted, width, limit, heuristic), wanted, width, norm)
    most = limit or NO_LIMIT
    if norm in RELATIVE:
        found = relative.narrowest(wanted, width, most, two_sided=norm == "linf_rel")
    else:
        found = windows.narrowest(wanted, width, most, above_only=norm == "linf_plus")
    return _split(found, wanted, width, norm)


def fewest(weights: Sequence[Weight], width: int, norm: Norm, max_error: Weight) -> Split | None:
    """The split of fewest rules whose error is at most `max_error`; None where there is none.

    Raises ValueError as `approximate` does, and for an error below 0.
    """
    wanted = shares(weights, checked_width(width))
    if not isinstance(max_error, Rational) or max_error < 0:
        raise ValueError(f"max_error: {max_error}: expected 0 or more, an integer or Fraction")
    error = Fraction(max_error)
    if _checked(norm) == "l1":
        steps = niagara(wanted.parts, wanted.scale, width, None)
        # The error falls with each transaction, so that the first to do is the fewest.
        low, high = 1, len(steps)
        while low < high:
            middle = (low + high) // 2
            if _of_rules(from_transactions(steps[:middle]), wanted, width, norm).error <= error:
                high = middle
            else:
                low = middle + 1
        found = _of_rules(from_transactions(steps[:low]), wanted, width, norm)
        return found if found.error <= error else None
    best = Boxes(width).cheapest(*_windows(wanted, width, norm, error))
    return None if best is None else _split(best, wanted, width, norm)


def _checked(norm: str) -> str:
    if norm not in NORMS:
        raise ValueError(f"norm: {norm!r}: expected one of {', '.join(NORMS)}")
    return norm


def _truncated(wanted: Shares, width: int, budget: int | None, heuristic: Heuristic) -> list[Rule]:
    """The rules of the largest transactions."""
    match heuristic:
        case "niagara":
            return from_transactions(niagara(wanted.parts, wanted.scale, width, budget))
        case "bit_matcher":
            nearest = windows.narrowest(wanted, width, NO_LIMIT, above_only=False)
            return rules_of(nearest, width)[-(budget or NO_LIMIT) :]
    raise ValueError(f"heuristic: {heuristic!r}: expected 'niagara' or 'bit_matcher'")


def _of_rules(rules: list[Rule], wanted: Shares, width: int, norm: Norm) -> Split:
    return _made(rules, evaluate(rules, width, len(wanted)), wanted, width, norm)


def _split(found: Ints, wanted: Shares, width: int, norm: Norm) -> Split:
    return _made(rules_of(found, width), found.tolist(), wanted, width, norm)


def _made(rules: list[Rule], partition: list[int], wanted: Shares, width: int, norm: Norm) -> Split:
    error = error_of(partition, wanted, norm)
    return Split(width, tuple(rules), tuple(partition), wanted, error, norm)


def error_of(partition: Sequence[int], wanted: Shares, norm: Norm) -> Fraction:
    """The error of `partition`. Under a relative norm that of a target that should have nothing and
    has something is none: the caller never makes it. Raises ValueError for another number of targets
    than `wanted` has."""
    if len(partition) != len(wanted):
        raise ValueError(f"partition: {len(partition)} targets: expected {len(wanted)}, as wanted")
    scale = wanted.scale
    if norm in ("linf", "linf_plus"):
        over, under = _extremes(np.array(partition, np.int64), wanted)
        return Fraction(over if norm == "linf_plus" else max(over, under), scale)
    overs = [scale * got - part for got, part in zip(partition, wanted.parts, strict=True)]
    if norm == "l1":
        return Fraction(sum(map(abs, overs)), scale)
    both = zip(overs, wanted.parts, strict=True)
    return max(Fraction(abs(o) if norm == "linf_rel" else o, p) for o, p in both if p)


def _extremes(partition: Ints, wanted: Shares) -> tuple[int, int]:
    """How much any target has above what it should, and below, in units of 1 / scale."""
    whole, rest = wanted.divided
    more = partition - whole
    most, least = more.max(), more.min()
    return (
        int(most) * wanted.scale - int(rest[more == most].min()),
        int(rest[more == least].max()) - int(least) * wanted.scale,
    )


def _windows(wanted: Shares, width: int, norm: Norm, error: Fraction) -> tuple[Ints, Ints]:
    """The least and the most addresses of each target within an error."""
    if norm in RELATIVE:
        return relative.Windows(wanted, width, norm == "linf_rel").at(error)
    above, below = error.numerator * wanted.scale, error.denominator
    divisor, whole = wanted.scale * below, 1 << width
    high = [min(whole, (part * below + above) // divisor) for part in wanted.parts]
    low = [0] * len(high)
    if norm == "linf":
        low = [max(0, -((above - part * below) // divisor)) for part in wanted.parts]
    return np.array(low, np.int64), np.array(high, np.int64)
