"""The best split that a number of rules allows, and the fewest rules that an error allows.

Targets are parts / scale addresses, exact; they are not rounded to a partition first, which would
change what is best.
"""

from collections.abc import Sequence
from fractions import Fraction
from numbers import Rational
from typing import Literal

import numpy as np

from turnout.split.evaluate import evaluate
from turnout.split.exact import NO_LIMIT, needed, rules_of
from turnout.split.lifting import Ints, cheapest
from turnout.split.model import (
    NORMS,
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
from turnout.split.windows import narrowest

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
    `linf_plus_rel` the largest excess as a share of what was asked for; `l1` the sum of all errors
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
    if norm == "linf_plus_rel":
        return _split(_relative(wanted, width, limit or NO_LIMIT), wanted, width, norm)
    found = narrowest(wanted, width, limit or NO_LIMIT, above_only=norm == "linf_plus")
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
    best = _best(wanted, width, norm, error)
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
            nearest = narrowest(wanted, width, NO_LIMIT, above_only=False)
            return rules_of(nearest.view(np.uint64), width)[-(budget or NO_LIMIT) :]
    raise ValueError(f"heuristic: {heuristic!r}: expected 'niagara' or 'bit_matcher'")


def _of_rules(rules: list[Rule], wanted: Shares, width: int, norm: Norm) -> Split:
    return _made(rules, evaluate(rules, width, len(wanted)), wanted, width, norm)


def _split(found: Ints, wanted: Shares, width: int, norm: Norm) -> Split:
    return _made(rules_of(found.view(np.uint64), width), found.tolist(), wanted, width, norm)


def _made(rules: list[Rule], partition: list[int], wanted: Shares, width: int, norm: Norm) -> Split:
    error = error_of(partition, wanted, norm)
    return Split(width, tuple(rules), tuple(partition), wanted, error, norm)


def error_of(partition: Sequence[int], wanted: Shares, norm: Norm) -> Fraction:
    """The error of `partition`. Under a relative norm that of a target that should have nothing and
    has something is none: the caller never makes it."""
    scale = wanted.scale
    over = [scale * got - part for got, part in zip(partition, wanted.parts, strict=True)]
    match norm:
        case "linf":
            return Fraction(max(max(over), -min(over)), scale)
        case "linf_plus":
            return Fraction(max(over), scale)
        case "l1":
            return Fraction(sum(map(abs, over)), scale)
        case "linf_plus_rel":
            return max(Fraction(o, p) for o, p in zip(over, wanted.parts, strict=True) if p)


def _best(
    wanted: Shares, width: int, norm: Norm, error: Fraction, strict: bool = False
) -> Ints | None:
    """A partition of fewest rules with an error of at most `error`, or below it where `strict`."""
    whole = 1 << width
    above, below = error.numerator, error.denominator
    parts, scale = wanted.parts, wanted.scale
    low = [0] * len(parts)
    if norm == "linf_plus_rel":
        tops = [part * (below + above) for part in parts]
    else:
        tops = [part * below + above * scale for part in parts]
    if norm == "linf":
        low = [max(0, -((above * scale - part * below) // (scale * below))) for part in parts]
    high = [min(whole, (top - (strict and top > 0)) // (scale * below)) for top in tops]
    return cheapest(np.array(low, np.int64), np.array(high, np.int64), width)


def _relative(wanted: Shares, width: int, limit: int) -> Ints:
    """The partition of least relative excess that `limit` rules allow."""

    def within(error: Fraction, strict: bool = False) -> Ints | None:
        found = _best(wanted, width, "linf_plus_rel", error, strict)
        if found is None or needed(found.view(np.uint64), width, limit) > limit:
            return None
        return found

    def reached(found: Ints) -> Fraction:
        return error_of(found.tolist(), wanted, "linf_plus_rel")

    # Everything to the heaviest is one rule, and of those the best.
    best = np.zeros(len(wanted), np.int64)
    best[max(range(len(wanted)), key=wanted.parts.__getitem__)] = 1 << width
    below, error = Fraction(0), reached(best)
    for _ in range(2 * width):
        middle = (below + error) / 2
        found = within(middle)
        if found is None:
            below = middle
        else:
            best, error = found, reached(found)
    # Errors are rationals of many denominators: ask for less until there is none.
    while error and (found := within(error, strict=True)) is not None:
        best, error = found, reached(found)
    return best
