"""Tables as sequences of transactions, and back ("Optimal Weighted Load Balancing in TCAMs",
section III).

A transaction gives 2^(width - length) addresses of one target back to another. Executed from the
smallest on, a table's transactions leave everything with one target: that of the match-all rule.
Sizes are written as lengths of prefixes, so that the width does not matter.
"""

from collections.abc import Iterable
from typing import NamedTuple

from turnout.split.model import Rule


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
    twice. Raises ValueError for a sequence that leaves no block to cut.
    """
    given = sorted(map(Transaction._make, sequence), key=lambda step: step.length)
    if not given or given[0].taker is not None or any(s.taker is None for s in given[1:]):
        raise ValueError("transactions: expected exactly one without a taker, of length 0")
    root = given[0].giver
    rules = [Rule(0, 0, root)]
    # target -> length -> prefixes of the blocks that it has; a rule's own block is the last one
    # that may be cut at its length, and only into smaller ones.
    cuttable: dict[int, dict[int, list[int]]] = {root: {0: [0]}}
    whole: dict[int, dict[int, list[int]]] = {}
    for length, giver, taker in given[1:]:
        assert taker is not None
        prefix = _cut(cuttable, whole, taker, length)
        if prefix is None:
            raise ValueError(f"transactions: target {taker} has no block of length < {length}")
        rules.append(Rule(prefix, length, giver))
        cuttable.setdefault(giver, {}).setdefault(length, []).append(prefix)
    return rules[::-1]


def _cut(
    cuttable: dict[int, dict[int, list[int]]],
    whole: dict[int, dict[int, list[int]]],
    target: int,
    length: int,
) -> int | None:
    """A block of `length` out of those of `target`. What is left of halves is cuttable too, and
    may be had whole: `whole` knows them."""
    mine = cuttable.setdefault(target, {})
    size = max((had for had, blocks in mine.items() if had < length and blocks), default=None)
    if size is None:
        halves = whole.get(target, {}).get(length, [])
        while halves:
            prefix = halves.pop()
            if prefix in mine.get(length, []):
                mine[length].remove(prefix)
                return prefix
        return None
    prefix = mine[size].pop()
    for had in range(size + 1, length + 1):
        prefix <<= 1
        mine.setdefault(had, []).append(prefix | 1)
        whole.setdefault(target, {}).setdefault(had, []).append(prefix | 1)
    return prefix
