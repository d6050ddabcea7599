"""Tables as sequences of transactions, and back ("Optimal Weighted Load Balancing in TCAMs",
section III).

A transaction gives 2^(width - length) addresses of one target back to another. Executed from the
smallest on, a table's transactions leave everything with one target: that of the match-all rule.
Sizes are written as lengths of prefixes, so that the width does not matter.
"""

from collections.abc import Iterable
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from turnout.core import library
from turnout.split.model import MAX_WIDTH, Rule

Places = NDArray[np.uint32]


class Transaction(NamedTuple):
    """`giver` gives a block of prefixes of `length` to `taker`; None: the last one, which gives
    away everything."""

    length: int
    giver: int
    taker: int | None


def to_transactions(rules: Iterable[Rule]) -> list[Transaction]:
    """The sequence of a table with a match-all rule, the smallest first; redundant rules, whose
    closest enclosing rule has the same target, are none.

    Raises ValueError for a table without a match-all rule.
    """
    table = {(rule.length, rule.prefix): rule.target for rule in map(Rule._make, rules)}
    if (0, 0) not in table:
        raise ValueError("rules: no match-all rule: expected one of length 0")
    sequence = []
    for (length, prefix), giver in sorted(table.items(), reverse=True):
        if not length:
            break
        taker = next(
            table[shorter, prefix >> length - shorter]
            for shorter in range(length - 1, -1, -1)
            if (shorter, prefix >> length - shorter) in table
        )
        if taker != giver:
            sequence.append(Transaction(length, giver, taker))
    return [*sequence, Transaction(0, table[0, 0], None)]


def from_transactions(sequence: Iterable[Transaction]) -> list[Rule]:
    """A table with as many rules as there are transactions, the longest prefix first.

    Each block is cut from the smallest larger block that its taker has, so that no prefix is used
    twice. Raises ValueError for a sequence that leaves no block to cut, and for lengths outside
    0..62.
    """
    given = sorted(map(Transaction._make, sequence), key=lambda step: step.length)
    if not given or given[0].taker is not None or any(s.taker is None for s in given[1:]):
        raise ValueError("transactions: expected exactly one without a taker, of length 0")
    for step in (given[0], given[-1]):
        if not 0 <= step.length <= MAX_WIDTH:
            raise ValueError(f"transactions: length {step.length}: expected 0 to {MAX_WIDTH}")
    lengths, givers, takers = zip(*given, strict=True)
    targets, places = np.unique(np.array([*givers, givers[0], *takers[1:]]), return_inverse=True)
    return laid_out(
        np.array(lengths, np.uint32),
        places[: len(given)].astype(np.uint32),
        places[len(given) :].astype(np.uint32),
        targets,
    )


def laid_out(
    lengths: Places,
    givers: Places,
    takers: Places,
    targets: NDArray[Any],
) -> list[Rule]:
    """The table of transactions between places in `targets`, the largest first; the first one's
    taker is not looked at. Raises ValueError for one whose taker has no block to give."""
    lengths, givers, takers = map(np.ascontiguousarray, (lengths, givers, takers))
    prefixes = np.empty(len(lengths), np.uint64)
    stuck = library().turnout_prefixes(
        lengths.ctypes.data,
        givers.ctypes.data,
        takers.ctypes.data,
        len(lengths),
        len(targets),
        prefixes.ctypes.data,
    )
    if stuck < 0:
        raise MemoryError("transactions: not enough memory for their prefixes")
    if stuck:
        taker, length = targets[takers[stuck]], lengths[stuck]
        raise ValueError(f"transactions: target {taker} has no block of length < {length}")
    columns = (prefixes, lengths, targets[givers])
    made = zip(*(column[::-1].tolist() for column in columns), strict=True)
    # As Rule._make does, without its call for each of up to millions.
    return [*map(tuple.__new__, repeat(Rule), made)]
