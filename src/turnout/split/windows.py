"""The narrowest windows of one size around the targets that a number of rules can meet
("Optimal Weighted Load Balancing in TCAMs", section V: the search over the error)."""

import numpy as np

from turnout.split.lifting import cheapest
from turnout.split.model import Ints, Shares, Wide


def narrowest(wanted: Shares, width: int, limit: int, above_only: bool) -> Ints:
    """A partition of at most `limit` >= 1 rules in windows wanted - E..wanted + E with the least
    E, or in 0..wanted + E where `above_only`.

    At an E of 2^h or more the cheapest partition is one of multiples of 2^h: every window holds
    two of them, so that no transaction of a level below is needed. So h is found first, with
    windows in units of 2^h; after that E matters only where an end crosses a multiple of 2^h.
    """

    def partition(level: int, low: Ints, high: Ints) -> Ints | None:
        """One of at most `limit` rules, in units of 2^level."""
        low = np.zeros_like(low) if above_only else np.maximum(low, 0)
        found = cheapest(low, np.minimum(high, 1 << width - level), width - level)
        return None if found is None or found[1] > limit else found[0] << level

    whole, rest = wanted.divided
    fraction = rest > 0

    def at_power(level: int) -> Ints | None:
        """With an E of 2^level."""
        floor = whole >> level
        between = fraction | (floor << level < whole)
        return partition(level, floor - 1 + between, floor + 1)

    below, level, best = -1, width, None
    while level - below > 1:
        middle = (below + level) // 2
        found = at_power(middle)
        if found is None:
            below = middle
        else:
            best, level = found, middle
    if best is None:
        # At 2^width, everything may go to one target: one rule.
        best = at_power(width)
        assert best is not None
    unit, base = max(level - 1, 0), min(level, 1)
    floor = whole >> unit
    over, under = _to_multiples(wanted, unit)
    # Windows end at 0 and at all addresses: beyond, no E matters.
    candidates = under[floor + base < 1 << width - unit]
    if not above_only:
        candidates = np.concatenate((candidates, over[floor >= base]))
    candidates = np.append(candidates, 0)
    while len(candidates):
        half = len(candidates) // 2
        middle = np.partition(candidates, half)[half]
        found = partition(unit, floor - base + (over > middle), floor + base + (under <= middle))
        if found is None:
            candidates = candidates[candidates > middle]
        else:
            best, candidates = found, candidates[candidates < middle]
    return best


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
