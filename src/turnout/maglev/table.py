"""The lookup table: exact Maglev with integer weights.

Preference lists follow the paper (Eisenbud et al., NSDI 2016, section 3.4): offset and skip
come from a hash of the member's name alone. Members take turns in the order of their names'
bytes. With weights, each stops at its quota, and turn k of a member of weight w falls into
round ceil(k * heaviest / w): integers only, so that taking away one member shifts nobody
else's turns by rounding.
"""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike, NDArray

from turnout.core import is_prime, library

MAX_SIZE = 1 << 24
MAX_MEMBERS = 1 << 16
MAX_WEIGHT = (1 << 16) - 1
"""Bounds the rounds of a table, and with them the memory to build it."""


def preference(name: str, size: int) -> tuple[int, int]:
    """(offset, skip) of a member's permutation of the slots: slot j is offset + j * skip mod size.

    The first and the second 8 bytes of a 16-byte keyless BLAKE2b of the name in UTF-8, as
    little-endian numbers: offset = first mod size, skip = second mod (size - 1) + 1.
    """
    digest = blake2b(name.encode(), digest_size=16).digest()
    first, second = (int.from_bytes(half, "little") for half in (digest[:8], digest[8:]))
    return first % size, second % (size - 1) + 1


@lru_cache(maxsize=256)
def _seeds(names: tuple[str, ...]) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
    """Order of the names by their bytes; in that order the two numbers of each, shape (n, 2)."""
    encoded = [name.encode() for name in names]
    order = sorted(range(len(names)), key=encoded.__getitem__)
    digests = b"".join(blake2b(encoded[i], digest_size=16).digest() for i in order)
    return np.array(order, np.intp), np.frombuffer(digests, "<u8").reshape(-1, 2)


def quotas(weights: ArrayLike, size: int) -> NDArray[np.uint32]:
    """Slots that each weight is due of `size`: floor or ceiling of its share, the larger remainders
    first, ties in the order given. Shape (n,), sums to `size`."""
    due = np.asarray(weights, np.int64) * size
    total = int(np.sum(weights))
    slots, remainder = due // total, due % total
    short = size - int(slots.sum())
    slots[np.argsort(-remainder, kind="stable")[:short]] += 1
    return slots.astype(np.uint32)


def build(names: Sequence[str], weights: Sequence[int], size: int) -> NDArray[np.uint16]:
    """The lookup table: shape (size,), each slot the index of its member in `names`.

    The same members give the same table in whatever order they are named. With equal weights it
    is the paper's table. Raises ValueError for a size that is not a prime from the number of
    members to 2^24, no members or more than 65,536, a name twice, a weight below 1 or above
    65,535.
    """
    if not 0 < len(names) <= MAX_MEMBERS:
        raise ValueError(f"{len(names)} members, expected 1 to {MAX_MEMBERS}")
    if len(weights) != len(names):
        raise ValueError(f"{len(weights)} weights for {len(names)} members")
    if not len(names) <= size <= MAX_SIZE:
        raise ValueError(f"table size {size}, expected {len(names)} (members) to {MAX_SIZE}")
    if not is_prime(size):
        raise ValueError(f"table size {size} is not a prime")
    low, high = min(weights), max(weights)
    if low < 1 or high > MAX_WEIGHT:
        raise ValueError(f"weight {low if low < 1 else high}, expected 1 to {MAX_WEIGHT}")
    if len(set(names)) != len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise ValueError(f"member {twice!r} named twice")

    order, seeds = _seeds(tuple(names))
    in_turn = np.asarray(weights, np.uint32)[order]
    offsets = seeds[:, 0] % size
    # The only skip of two slots is 1, which x mod 1 + 1 gives too.
    skips = seeds[:, 1] % (size - 1) + 1
    return fill(offsets, skips, in_turn, size, order)


def fill(
    offsets: ArrayLike,
    skips: ArrayLike,
    weights: ArrayLike,
    size: int,
    labels: ArrayLike | None = None,
) -> NDArray[np.uint16]:
    """The table of given permutations, members in the order of their turns; shape (size,). Each
    slot holds the label of its member, by default its turn."""
    columns = [np.ascontiguousarray(column, np.uint32) for column in (offsets, skips, weights)]
    members = len(columns[0])
    columns.append(quotas(columns[2], size))
    named = np.ascontiguousarray(np.arange(members) if labels is None else labels, np.uint16)
    table = np.empty(size, np.uint16)
    if library().turnout_table(
        *(column.ctypes.data for column in columns),
        named.ctypes.data,
        members,
        size,
        table.ctypes.data,
    ):
        raise MemoryError(f"lookup table of {size} slots")
    return table


__all__ = ["MAX_MEMBERS", "MAX_SIZE", "MAX_WEIGHT", "build", "fill", "preference", "quotas"]
