"""The fewest prefix rules that give each target exactly its addresses."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from turnout.core import library
from turnout.split.model import Ints, Rule, checked_partition, checked_width
from turnout.split.niagara import niagara
from turnout.split.super_states import super_states
from turnout.split.transactions import from_transactions, laid_out

NO_LIMIT = 1 << 62
"""More rules than any table has."""


def exact(
    partition: Sequence[int],
    width: int,
    method: Literal["bit_matcher", "niagara", "super_states"] = "bit_matcher",
) -> list[Rule]:
    """A table of fewest rules that induces `partition`, the longest prefix first.

    "bit_matcher" (ToN 2020) works from the lowest bit up, "niagara" (CoNEXT 2015, run to the end)
    from the largest error down, "super_states" (SPAA 2018) tries who gives and who receives, for up
    to 10 targets: they check each other.

    Raises ValueError for another method, more targets than it takes, and for what is no partition
    of 2^width.
    """
    parts = checked_partition(partition, checked_width(width))
    if method == "bit_matcher":
        return rules_of(parts, width)
    if method == "niagara":
        return from_transactions(niagara(parts.tolist(), 1, width, None))
    if method == "super_states":
        return from_transactions(super_states(parts.tolist(), width))
    raise ValueError(f"method: {method!r}: expected 'bit_matcher', 'niagara' or 'super_states'")


def count(partition: Sequence[int], width: int) -> int:
    """Rules that `exact` needs. Raises ValueError as it does."""
    return needed(checked_partition(partition, checked_width(width)), width)


def needed(values: Ints, width: int, limit: int = NO_LIMIT) -> int:
    """Rules that a partition needs; limit + 1 where they are more than `limit`. Its sum, 2^width,
    is not looked at."""
    left = values.copy()
    found = library().turnout_match(left.ctypes.data, len(left), width, limit, None, None, None)
    if found < 0:
        raise MemoryError("rules: not enough memory to count")
    return int(found)


def rules_of(values: Ints, width: int) -> list[Rule]:
    """Bit Matcher's table for a partition whose sum, 2^width, is not looked at."""
    left = values.copy()
    room = len(left) * width // 2 + 1
    lengths, givers, takers = (np.empty(room, np.uint32) for _ in range(3))
    found = library().turnout_match(
        left.ctypes.data,
        len(left),
        width,
        NO_LIMIT,
        lengths.ctypes.data,
        givers.ctypes.data,
        takers.ctypes.data,
    )
    if found < 0:
        raise MemoryError("rules: not enough memory")
    backwards = slice(found - 1, None, -1)
    return laid_out(lengths[backwards], givers[backwards], takers[backwards], np.arange(len(left)))
