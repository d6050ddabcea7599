"""The cheapest partition in a box low <= x <= high, level by level from the lowest bit up
("Optimal Weighted Load Balancing in TCAMs", sections IV and V; the three facts are spelled out
where they are used).

Solves the boxes of the norms here: all as wide as each other up to one, or with every low at 0.
"""

import numpy as np
from numpy.typing import NDArray

from turnout.split.exact import bit_order

Ints = NDArray[np.int64]


def cheapest(low: Ints, high: Ints, width: int) -> Ints | None:
    """A partition of 2^width in the box that needs the fewest rules, None where there is none.

    0 <= low, high <= 2^width. Raises ValueError for a box that is of neither kind and where one
    target is fixed at an odd value while another has room.
    """
    want = 1 << width
    if (low > high).any() or not _total(low) <= want <= _total(high):
        return None
    if (high - low <= 1).all():
        # Unit ranges: who must have one more is later in the order of the bits.
        return low + _last(low, high > low, want - _total(low))
    up, down = (low + 1) >> 1, high >> 1  # reached without a transaction of this level
    if (up > down).any():
        raise ValueError("box: a target has one odd value and another has room: not solved here")
    half = want >> 1
    if _total(down) < half:
        # Saturation: everyone at the top; as many as are missing have one more, each at the cost of
        # one transaction of this level with another odd one.
        return _saturated(down, high & 1 == 1, half - _total(down), width)
    if _total(up) > half:
        # The mirror image: everyone at the bottom, and so many of the odd ones have one less.
        odd = low & 1 == 1
        spare = _total(up) - half
        kept = _last(up - 1, odd, int(odd.sum()) - spare)
        less = odd & (kept == 0)
        partners = np.flatnonzero(odd & ~less)[:spare]
        values = 2 * up
        values[less] -= 1
        values[partners] -= 1
        return values
    # Even windows: a partition without transactions of this level is among the best.
    above = cheapest(up, down, width - 1)
    return None if above is None else 2 * above


def _saturated(down: Ints, odd: NDArray[np.bool_], missing: int, width: int) -> Ints | None:
    if 2 * missing > int(odd.sum()):
        return None
    lifted = _last(down, odd, missing) == 1
    partners = np.flatnonzero(odd & ~lifted)[:missing]
    values = 2 * down
    values[lifted] += 1
    values[partners] += 1
    return values


def _last(values: Ints, allowed: NDArray[np.bool_], number: int) -> Ints:
    """1 for the `number` allowed ones that are last in the order of their bits, 0 for others."""
    chosen = np.zeros_like(values)
    places = np.flatnonzero(allowed)
    order = np.argsort(bit_order(values[places].astype(np.uint64)), kind="stable")
    chosen[places[order[len(places) - number :]]] = 1
    return chosen


def _total(values: Ints) -> int:
    """The exact sum: that of 2^31 values below 2^62 is more than 64 bits."""
    return (int((values >> 31).sum()) << 31) + int((values & 0x7FFFFFFF).sum())
