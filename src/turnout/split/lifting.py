"""The cheapest partition in a box low <= x <= high, level by level from the lowest bit up
("Optimal Weighted Load Balancing in TCAMs", sections IV and V).

Solves the boxes of the norms here: all as wide as each other up to one, or with every low at 0.
"""

import numpy as np
from numpy.typing import NDArray

from turnout.core import library

Ints = NDArray[np.int64]


def cheapest(low: Ints, high: Ints, width: int) -> Ints | None:
    """A partition of 2^width in the box that needs the fewest rules, None where there is none.

    0 <= low, high <= 2^width. Raises ValueError for a box that is of neither kind and where one
    target is fixed at an odd value while another has room.
    """
    bottom, top = (np.array(side, np.uint64) for side in (low, high))
    values = np.empty(len(bottom), np.int64)
    found = library().turnout_cheapest(
        bottom.ctypes.data, top.ctypes.data, len(bottom), width, values.ctypes.data
    )
    if found < 0:
        raise MemoryError("box: not enough memory")
    if found == 2:
        raise ValueError("box: a target has one odd value and another has room: not solved here")
    return None if found else values
