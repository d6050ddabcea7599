"""The cheapest partition in a box low <= x <= high, level by level from the lowest bit up
("Optimal Weighted Load Balancing in TCAMs", sections IV and V)."""

import numpy as np

from turnout.core import library
from turnout.split.model import Ints


class UnsolvedError(Exception):
    """On some level a target has one value, an odd one, and another target has room."""


def cheapest(low: Ints, high: Ints, width: int) -> tuple[Ints, int] | None:
    """A partition of 2^width in the box that needs the fewest rules, and how many; None where there
    is none.

    0 <= low, high <= 2^width. Raises UnsolvedError for boxes that this way does not solve: none of those
    whose sides are all as wide as each other up to one, or whose lows are all 0.
    """
    low, high = np.ascontiguousarray(low), np.ascontiguousarray(high)
    values = np.empty(len(low), np.int64)
    found = library().turnout_cheapest(
        low.ctypes.data, high.ctypes.data, len(low), width, values.ctypes.data
    )
    if found == -1:
        raise MemoryError("box: not enough memory")
    if found == -3:
        raise UnsolvedError
    return None if found < 0 else (values, int(found))
