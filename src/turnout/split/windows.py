"""The narrowest windows of one size around the targets that a number of rules can meet
("Optimal Weighted Load Balancing in TCAMs", section V: the search over the error)."""

from dataclasses import dataclass
from itertools import repeat
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from turnout.split.exact import needed
from turnout.split.layers import Ints
from turnout.split.lifting import cheapest
from turnout.split.model import Shares

Wide = NDArray[Any]
"""Integers of 64 bits where they fit, Python's where they do not."""


def narrowest(wanted: Shares, width: int, limit: int, above_only: bool) -> Ints:
    """A partition of at most `limit` >= 1 rules in windows wanted - E..wanted + E with the least
    E, or in 0..wanted + E where `above_only`.

    At an E of 2^h or more the cheapest partition is one of multiples of 2^h: every window holds
    two of them, so that no transaction of a level below is needed. So h is found first, with
    windows in units of 2^h; after that E matters only where an end crosses a multiple of 2^h.
    """
    around = _Around.of(wanted, width, limit, above_only)
    # At 2^width, everything may go to one target: one rule.
    below, level = -1, width
    best = _at_power(around, width)
    assert best is not None
    while level - below > 1:
        middle = (below + level) // 2
        found = _at_power(around, middle)
        if found is None:
            below = middle
        else:
            best, level = found, middle
    unit = max(level - 1, 0)
    windows = _Windows.of(around, unit, min(level, 1))
    candidates = np.concatenate((windows.over, windows.under))
    while len(candidates):
        half = len(candidates) // 2
        middle = np.partition(candidates, half)[half]
        found = windows.partition(middle)
        if found is None:
            candidates = candidates[candidates > middle]
        else:
            best, candidates = found, candidates[candidates < middle]
    return best


def _at_power(around: "_Around", level: int) -> Ints | None:
    return _Windows.of(around, level, 1).partition(0)


@dataclass(frozen=True, slots=True)
class _Around:
    """Targets of `whole` addresses and a fraction. `rest` orders the fractions, `missing` what is
    missing to the next whole number: together, 0 for none, in `bits` bits."""

    whole: Ints
    rest: Ints
    missing: Ints
    bits: int
    width: int
    limit: int
    above_only: bool

    @classmethod
    def of(cls, wanted: Shares, width: int, limit: int, above_only: bool) -> Self:
        whole, rest = zip(*map(divmod, wanted.parts, repeat(wanted.scale)), strict=True)
        if wanted.scale >> 62 - width:
            # In the place of numbers that are too large together, their ranks.
            parts = np.array(rest, np.int64 if wanted.scale >> 62 == 0 else object)
            both = np.concatenate(([0], parts, (wanted.scale - parts) % wanted.scale))
            ranks = np.unique(both, return_inverse=True)[1].astype(np.int64)
            left, missing = ranks[1 : 1 + len(rest)], ranks[1 + len(rest) :]
        else:
            left = np.array(rest, np.int64)
            missing = (wanted.scale - left) % wanted.scale
        bits = int(max(left.max(), missing.max())).bit_length()
        return cls(np.array(whole, np.int64), left, missing, bits, width, limit, above_only)


@dataclass(frozen=True, slots=True)
class _Windows:
    """Windows of `base` units of 2^level and a bit more on each side."""

    around: _Around
    level: int
    base: int
    over: Wide
    """How far a target is above a multiple of 2^level, its fraction in the lowest bits."""
    under: Wide
    """How far it is below the next one."""

    @classmethod
    def of(cls, around: _Around, level: int, base: int) -> Self:
        wide = np.int64 if level + around.bits < 62 else object
        over = around.whole & ((1 << level) - 1)
        under = (1 << level) - (around.rest > 0) - over
        return cls(
            around,
            level,
            base,
            over.astype(wide) << around.bits | around.rest,
            under.astype(wide) << around.bits | around.missing,
        )

    def partition(self, more: Any) -> Ints | None:
        """One of at most `limit` rules in windows with `more` on each side."""
        around, width = self.around, self.around.width - self.level
        floor = around.whole >> self.level
        low = np.maximum(floor - self.base + (self.over > more), 0)
        high = np.minimum(floor + self.base + (self.under <= more), 1 << width)
        found = cheapest(np.zeros_like(low) if around.above_only else low, high, width)
        if found is None or needed(found.view(np.uint64), width, around.limit) > around.limit:
            return None
        return found << self.level
