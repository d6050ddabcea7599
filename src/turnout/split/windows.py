"""The narrowest windows of one size around the targets that a number of rules can meet
("Optimal Weighted Load Balancing in TCAMs", section V: the search over the error)."""

from math import sqrt

import numpy as np

from turnout.split.exact import NO_LIMIT
from turnout.split.lifting import cheapest
from turnout.split.model import Ints, Shares, Wide


def narrowest(wanted: Shares, width: int, limit: int, above_only: bool) -> Ints:
    """A partition of at most `limit` >= 1 rules in windows wanted - E..wanted + E with the least
    E, or in 0..wanted + E where `above_only`.

    At an E of 2^h or more the cheapest partition is one of multiples of 2^h: every window holds
    two of them, so that no transaction of a level below is needed. So h is found first, with
    windows in units of 2^h; after that E matters only where an end crosses a multiple of 2^h.
    """

    def partition(level: int, low: Ints, high: Ints) -> tuple[Ints, int]:
        """In units of 2^level, and its number of rules; of more than any table has for none."""
        low = np.zeros_like(low) if above_only else np.maximum(low, 0)
        found = cheapest(low, np.minimum(high, 1 << width - level), width - level)
        return (low, NO_LIMIT + 1) if found is None else (found[0] << level, found[1])

    whole, rest = wanted.divided
    fraction = rest > 0

    def at_power(level: int) -> tuple[Ints, int]:
        """With an E of 2^level."""
        floor = whole >> level
        between = fraction | (floor << level < whole)
        return partition(level, floor - 1 + between, floor + 1)

    # At 2^width, everything may go to one target.
    below, level, best, few, many = -1, width, None, 1, NO_LIMIT + 1
    while level - below > 1:
        middle = (below + level) // 2
        found, rules = at_power(middle)
        if rules > limit:
            below, many = middle, rules
        else:
            level, best, few = middle, found, rules
    if best is None:
        best, few = at_power(width)
    unit, base = max(level - 1, 0), min(level, 1)
    floor = whole >> unit
    over, under = _to_multiples(wanted, unit)
    # Windows end at 0 and at all addresses: beyond, no E matters.
    candidates = under[floor + base < 1 << width - unit]
    if not above_only:
        candidates = np.concatenate((candidates, over[floor >= base]))
    candidates = np.append(candidates, 0)
    reach = 0.5
    while len(candidates):
        half = len(candidates) // 2
        at = half if many > NO_LIMIT else _guess(len(candidates), many - limit, many - few, reach)
        more = np.partition(candidates, at)[at]
        found, rules = partition(unit, floor - base + (over > more), floor + base + (under <= more))
        if rules > limit:
            candidates, many = candidates[candidates > more], rules
        else:
            candidates, best, few = candidates[candidates < more], found, rules
        if at != half and (rules > limit) == (at < half):
            reach *= 2
    return best


def _guess(count: int, saved: int, saving: int, reach: float) -> int:
    """Of candidates that save about equally many rules each, which to try: from where `saved` of
    `saving` rules should be reached a bit towards the middle, so that few are left if it is there."""
    half, expected, off = count // 2, count * saved / saving, reach * sqrt(count)
    return int(min(expected + off, half) if expected < half else max(expected - off, half))


def _to_multiples(wanted: Shares, level: int) -> tuple[Wide, Wide]:
    """How far each target is above a multiple of 2^level, and how far below the next one: numbers
    of the same order."""
    whole, rest = wanted.divided
    missing = (wanted.scale - rest) % wanted.scale
    largest = wanted.scale - 1
    if level + largest.bit_length() >= 62:
        # In the place of fractions that are too long, their ranks.
        both = np.concatenate(([0], rest, missing))
        ranks = np.unique(both, return_inverse=True)[1].astype(np.int64)
        rest, missing = ranks[1 : 1 + len(rest)], ranks[1 + len(rest) :]
        largest = int(ranks.max())
    bits = largest.bit_length()
    over = whole & ((1 << level) - 1)
    under = (1 << level) - (rest > 0) - over
    wide = np.int64 if level + bits < 62 else object
    return over.astype(wide) << bits | rest, under.astype(wide) << bits | missing
