"""From a flow's hash to its member: the data path's rule, over many hashes at once."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turnout.core import least_prime, library


def lookup(table: ArrayLike, hashes: ArrayLike, usable: ArrayLike) -> NDArray[np.int32]:
    """Index of the member for each flow, or -1 where no member is usable; shape of `hashes`.

    `table` as from `build`; `hashes` are 64-bit flow hashes, of which the high half h counts;
    `usable` says of each member whether it may take flows, shape (members,).

    Slot (h * M) >> 32; if its member is not usable, the slots of second tries 1..8; after
    them all members in an order drawn from h (bpf/flow.h). So a flow of a usable member never
    moves, and none goes to one that is not. Raises ValueError where the table names a member beyond
    `usable`.
    """
    slots = np.ascontiguousarray(table, np.uint16)
    flows = np.ascontiguousarray(hashes, np.uint64)
    flags = np.ascontiguousarray(usable, np.bool_)
    if slots.size == 0 or int(slots.max()) >= flags.size:
        raise ValueError(f"table of {slots.size} slots for {flags.size} members")
    found = np.empty(flows.shape, np.int32)
    library().turnout_lookup(
        slots.ctypes.data,
        slots.size,
        flags.ctypes.data,
        flags.size,
        least_prime(flags.size),
        flows.ctypes.data,
        flows.size,
        found.ctypes.data,
    )
    return found
