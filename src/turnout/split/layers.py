"""All partitions in a box as paths through layers, one path for each target.

A target with x addresses has, at level l, about x / 2^l blocks of 2^l: from level `width`, where one
target has one block and the others none, each level doubles the number and takes or gives one block
at most: x_l = 2 x_(l+1) + d, with d in -1, 0, 1. Each d that is not 0 is half a transaction, and on
each level the d of all targets sum to 0.

What binds the targets together is only these sums. Where a block has a price on each level instead,
the cheapest path of each target alone is a lower bound (Lagrange), found here in integers and so
exactly. Linear programming finds the prices; how good they are changes how good the bound is, not
whether it holds.

Of the nodes (level, x) between floor(low / 2^level) and ceil(high / 2^level) at most two at each end
can leave the box again; those between are all alike, and one node stands for them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from turnout.split.model import Ints

Bools = NDArray[np.bool_]
Places = NDArray[np.intp]

DIGITS = np.array([-1, 0, 1], np.int64)
SLOTS = 5
"""Nodes of a target and level: the two lowest x, all between, the two highest; fewer where the
range is small."""
ONE = 1 << 32
"""Prices are integers in 1 / ONE rules."""
NEVER = 1 << 60
"""The cost of what is not allowed. All others together are less."""


@dataclass(frozen=True, slots=True)
class Layers:
    """The nodes that paths may use, and where each digit leads from each node."""

    width: int
    values: Ints
    """[level, slot, target]: x, for the slot between the ends the lowest x."""
    allowed: Bools
    """[level, slot, target]."""
    below: NDArray[np.int8]
    """[level, slot, digit, target]: the slot at `level` to which the digit leads from the slot at
    the level above; SLOTS for none."""

    @classmethod
    def of(cls, low: Ints, high: Ints, width: int) -> "Layers":
        """All paths to low <= x <= high; 0 <= low < 2^width, 0 <= high <= 2^width."""
        level = np.arange(width + 1, dtype=np.int64)[:, None]
        first, last = low >> level, -(-high >> level)
        room = last - first
        values = np.stack([first, first + 1, first + 2, last - 1, last], axis=1)
        allowed = np.stack([room >= 0, room >= 1, room >= 4, room >= 3, room >= 2], axis=1)
        x = 2 * values[1:, :, None] + DIGITS[:, None]
        up, down = x - first[:-1, None, None], last[:-1, None, None] - x
        below = np.select([up == 0, up == 1, down == 0, down == 1], [0, 1, 4, 3], 2)
        below[(up < 0) | (down < 0) | ~allowed[1:, :, None]] = SLOTS
        return cls(width, values, allowed, below.astype(np.int8))

    @property
    def shape(self) -> tuple[int, int]:
        """Levels and targets."""
        return self.width, self.values.shape[2]

    def bound(self, prices: Ints) -> int:
        """A number of rules that no partition is below, whatever the prices of a block on each
        level: [width], in 1 / ONE rules."""
        down = self._leaves()
        for level, digits in enumerate(_digits(prices)):
            down = self._from_below(level, down, digits)[1]
        none, root = self._root(down)
        return _rules(sum(none.tolist()) + root)

    def arcs(self, prices: Ints, rules: int) -> Bools:
        """[level, slot, digit, target]: on the way to a partition of at most `rules`, as far as
        these prices can tell."""
        digits = _digits(prices)
        down, through = self._leaves(), []
        for level in range(self.width):
            cost, down = self._from_below(level, down, digits[level])
            through.append(cost)
        none, root = self._root(down)
        # What a target's path costs more than the cheapest of all: there, another is the root.
        up = np.full_like(down, NEVER)
        up[:SLOTS] = np.where(self.values[-1] == 1, -root, 0) - none
        up[:SLOTS][~self.allowed[-1]] = NEVER
        most = ONE * (rules - 1) - sum(none.tolist()) - root
        kept = []
        for level in reversed(range(self.width)):
            kept.append(through[level] + up[:SLOTS, None] <= most)
            above, up = up, np.full_like(up, NEVER)
            reached = above[:SLOTS, None] + digits[level][:, None]
            np.minimum.at(up, (self.below[level], self._targets()), reached)
        return np.stack(kept[::-1])

    def _targets(self) -> Places:
        return np.arange(self.values.shape[2])

    def _leaves(self) -> Ints:
        """The cost below each node of level 0, and of none: [SLOTS + 1, target]."""
        down = np.full((SLOTS + 1, self.values.shape[2]), NEVER, np.int64)
        down[:SLOTS][self.allowed[0]] = 0
        return down

    def _from_below(self, level: int, down: Ints, digits: Ints) -> tuple[Ints, Ints]:
        """The cost below each arc between `level` and the next: [slot, digit, target], and below
        each node of the next."""
        through: Ints = down[self.below[level], self._targets()] + digits[:, None]
        above = np.full_like(down, NEVER)
        above[:SLOTS] = np.where(self.allowed[level + 1], through.min(axis=1), NEVER)
        return through, above

    def _root(self, down: Ints) -> tuple[Ints, int]:
        """What each target costs that is not the root, and what the root costs more: that of the
        cheapest choice. No target has all addresses, so that each may be another than the root."""
        top, allowed = self.values[-1], self.allowed[-1]
        none, one = (
            np.where((top == x) & allowed, down[:SLOTS], NEVER).min(axis=0) for x in (0, 1)
        )
        return none, int((one - none).min())


def _digits(prices: Ints) -> Ints:
    """What each digit costs on each level: half a rule, and a block less or more."""
    costs: Ints = ONE // 2 * np.abs(DIGITS) - prices[:, None] * DIGITS
    return costs


def _rules(cost: int) -> int:
    """Transactions are whole, and the match-all rule is one more."""
    return 1 + -(-cost // ONE)
