"""The best split that a number of rules allows, and the fewest rules that an error allows.

Targets are parts / scale addresses, exact; they are not rounded to a partition first, which would
change what is best.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from numbers import Rational

import numpy as np

from turnout.split.evaluate import evaluate
from turnout.split.exact import count, exact
from turnout.split.lifting import cheapest
from turnout.split.model import (
    NORMS,
    Norm,
    Rule,
    Split,
    Weight,
    checked_budget,
    checked_width,
    shares,
)
from turnout.split.niagara import niagara
from turnout.split.transactions import from_transactions

Limits = Callable[[int, int, Fraction], tuple[int, int]]
"""(parts, scale, error) to the lowest and the highest number of addresses."""


def approximate(
    weights: Sequence[Weight], width: int, budget: int | None = None, norm: Norm = "linf"
) -> Split:
    """The split of least error with at most `budget` rules (None: no limit), the match-all rule
    among them.

    `linf` is the largest error of a target, `linf_plus` the largest excess, both in addresses;
    `linf_plus_rel` the largest excess as a share of what was asked for; `l1` the sum of all errors
    in addresses (twice the average error of the SPAA 2018 talk). Under a relative norm a target of
    weight 0 gets nothing.

    Raises ValueError for a weight that is not rational or below 0, all weights 0, a width outside
    0..62, more targets than addresses, a budget below 1, an unknown norm.
    """
    parts, scale = shares(weights, checked_width(width))
    limit = checked_budget(budget)
    if _checked(norm) == "l1":
        return _l1(parts, scale, width, limit)
    return _split(_search(parts, scale, width, limit, norm), parts, scale, width, norm)


def fewest(weights: Sequence[Weight], width: int, norm: Norm, max_error: Weight) -> Split | None:
    """The split of fewest rules whose error is at most `max_error`; None where there is none.

    Raises ValueError as `approximate` does, and for an error below 0.
    """
    parts, scale = shares(weights, checked_width(width))
    if not isinstance(max_error, Rational) or max_error < 0:
        raise ValueError(f"max_error: {max_error}: expected 0 or more, an integer or Fraction")
    error = Fraction(max_error)
    if _checked(norm) == "l1":
        steps = niagara(parts, scale, width, None)
        # The error falls with each transaction, so that the first to do is the fewest.
        low, high = 1, len(steps)
        while low < high:
            middle = (low + high) // 2
            if _l1(parts, scale, width, middle).error <= error:
                high = middle
            else:
                low = middle + 1
        found = _l1(parts, scale, width, low)
        return found if found.error <= error else None
    best = _best(parts, scale, width, norm, error)
    return None if best is None else _split(best, parts, scale, width, norm)


def _checked(norm: str) -> str:
    if norm not in NORMS:
        raise ValueError(f"norm: {norm!r}: expected one of {', '.join(NORMS)}")
    return norm


def _l1(parts: list[int], scale: int, width: int, budget: int | None) -> Split:
    rules = from_transactions(niagara(parts, scale, width, budget))
    return _made(rules, evaluate(rules, width, len(parts)), parts, scale, width, "l1")


def _split(partition: list[int], parts: list[int], scale: int, width: int, norm: Norm) -> Split:
    return _made(exact(partition, width), partition, parts, scale, width, norm)


def _made(
    rules: list[Rule], partition: list[int], parts: list[int], scale: int, width: int, norm: Norm
) -> Split:
    return Split(
        width,
        tuple(rules),
        tuple(partition),
        tuple(Fraction(part, scale) for part in parts),
        error_of(partition, parts, scale, norm),
        norm,
    )


def error_of(partition: Sequence[int], parts: Sequence[int], scale: int, norm: Norm) -> Fraction:
    """The error of `partition` against parts / scale. Under a relative norm that of a target that
    should have nothing and has something is none: the caller never makes it."""
    over = [scale * got - part for got, part in zip(partition, parts, strict=True)]
    match norm:
        case "linf":
            return Fraction(max(map(abs, over)), scale)
        case "linf_plus":
            return Fraction(max(over), scale)
        case "l1":
            return Fraction(sum(map(abs, over)), scale)
        case "linf_plus_rel":
            return max(Fraction(o, part) for o, part in zip(over, parts, strict=True) if part)


def _best(
    parts: list[int], scale: int, width: int, norm: Norm, error: Fraction, strict: bool = False
) -> list[int] | None:
    """A partition of fewest rules with an error of at most `error`, or below it where `strict`."""
    whole = 1 << width
    above = error.numerator
    below = error.denominator
    low = [0] * len(parts)
    if norm == "linf_plus_rel":
        tops = [(part * (below + above), scale * below) for part in parts]
    else:
        tops = [(part * below + above * scale, scale * below) for part in parts]
    high = [min(whole, (n - 1) // d if strict and n else n // d) for n, d in tops]
    if norm == "linf":
        low = [max(0, -((above * scale - part * below) // (scale * below))) for part in parts]
    found = cheapest(np.array(low, np.int64), np.array(high, np.int64), width)
    return None if found is None else [int(value) for value in found]


def _search(parts: list[int], scale: int, width: int, budget: int | None, norm: Norm) -> list[int]:
    """The partition of least error that `budget` rules allow."""

    def within(error: Fraction, strict: bool = False) -> list[int] | None:
        found = _best(parts, scale, width, norm, error, strict)
        if found is None or (budget is not None and count(found, width) > budget):
            return None
        return found

    whole = scale << width
    if norm == "linf_plus_rel":
        # Everything to the heaviest is one rule, and of those the best.
        heaviest = max(range(len(parts)), key=parts.__getitem__)
        best = [(1 << width) * (place == heaviest) for place in range(len(parts))]
        below, high = Fraction(0), error_of(best, parts, scale, norm)
        for _ in range(2 * width):
            error = (below + high) / 2
            found = within(error)
            if found is None:
                below = error
            else:
                best, high = found, error_of(found, parts, scale, norm)
        # Errors are rationals of many denominators: ask for less until there is none.
        while high and (found := within(high, strict=True)) is not None:
            best, high = found, error_of(found, parts, scale, norm)
        return best
    # Errors are multiples of 1 / scale.
    least, most = 0, whole
    found = within(Fraction(most, scale))
    assert found is not None
    best = found
    while least < most:
        middle = (least + most) // 2
        found = within(Fraction(middle, scale))
        if found is None:
            least = middle + 1
        else:
            best, most = found, middle
    return best
