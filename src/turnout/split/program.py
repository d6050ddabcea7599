"""The cheapest paths through the layers, by linear and integer programming (HiGHS)."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csc_array

from turnout.split.layers import DIGITS, ONE, SLOTS, Bools, Layers, Places
from turnout.split.model import Ints

NEARLY = 1e-6
MOST = 1 << 20
"""Rules that a block may be worth."""

Floats = NDArray[np.float64]


def relaxed(paths: Layers) -> tuple[int, Ints]:
    """A number of rules that no partition is below, and what a block on each level is worth, in
    1 / ONE rules: prices that prove it, but for what the solver rounds. Raises ArithmeticError
    where the solver gives up; there must be paths."""
    program = _Program.of(paths, paths.below < SLOTS)
    found = linprog(program.cost(), A_eq=program.rows, b_eq=program.sides, method="highs")
    if found.status:
        raise ArithmeticError(f"box: the linear program was not solved: {found.message}")
    # So that no path costs more than 64 bits hold.
    worth = np.clip(found.eqlin.marginals[: paths.width], -MOST, MOST) * ONE
    return 1 + math.ceil(found.fun - NEARLY), np.rint(worth).astype(np.int64)


def cheapest(paths: Layers, arcs: Bools) -> Ints | None:
    """The partition of fewest rules along `arcs`; None where the solver finds none."""
    program = _Program.of(paths, arcs)
    chosen = milp(
        program.cost(),
        integrality=np.ones(len(program.level)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(program.rows, program.sides, program.sides),
        options={"mip_rel_gap": 0},
    )
    return None if chosen.x is None else program.partition(chosen.x > 0.5, paths)


@dataclass(frozen=True, slots=True)
class _Program:
    """Arcs, and the rows that make them paths: the sum of each level, one root, each target once,
    each node as often left as entered."""

    level: Places
    root: Bools
    """Whether the arc begins at the root."""
    digit: Ints
    target: Places
    rows: csc_array
    sides: Floats

    @classmethod
    def of(cls, paths: Layers, arcs: Bools) -> "_Program":
        width, targets = paths.shape
        level, slot, digit, target = places = np.nonzero(arcs)
        to = paths.below[places].astype(np.intp)
        top = level == width - 1
        root = top & (paths.values[-1][slot, target] == 1)
        # Rows: levels, root, targets, and nodes between them.
        start = width + 1 + targets
        left = start + (level * SLOTS + slot) * targets + target
        left[top] = width + 1 + target[top]
        entered = start + ((level - 1) * SLOTS + to) * targets + target
        inner, roots = np.flatnonzero(level), np.flatnonzero(root)
        every = np.arange(len(level))
        which = np.concatenate((level, np.full(len(roots), width), left, entered[inner]))
        columns = np.concatenate((every, roots, every, inner))
        ones = np.ones(len(every))
        data = np.concatenate((DIGITS[digit], ones[roots], ones, -ones[inner]))
        named = np.zeros(start + width * SLOTS * targets, np.bool_)
        named[:start] = True
        named[which] = True
        number = np.cumsum(named) - 1
        sides = np.zeros(int(named.sum()))
        sides[width:start] = 1
        rows = csc_array((data, (number[which], columns)), shape=(len(sides), len(every)))
        return cls(level, root, DIGITS[digit], target, rows, sides)

    def cost(self) -> Floats:
        """In rules: two digits are a transaction."""
        return np.abs(self.digit) / 2

    def partition(self, taken: Bools, paths: Layers) -> Ints:
        """What each target has whose path is taken."""
        width, targets = paths.shape
        digits = np.zeros((width, targets), np.int64)
        digits[self.level[taken], self.target[taken]] = self.digit[taken]
        values = np.zeros(targets, np.int64)
        values[self.target[taken & self.root]] = 1
        for level in digits[::-1]:
            values = 2 * values + level
        return values
