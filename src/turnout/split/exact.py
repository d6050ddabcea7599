"""The fewest prefix rules that give each target exactly its addresses."""

from collections.abc import Iterator, Sequence
from heapq import heapify, heappush, heapreplace
from itertools import islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from turnout.split.model import Rule, checked_partition, checked_width
from turnout.split.transactions import Transaction, from_transactions

Values = NDArray[np.uint64]


def exact(
    partition: Sequence[int], width: int, method: Literal["bit_matcher", "niagara"] = "bit_matcher"
) -> list[Rule]:
    """A table of fewest rules that induces `partition`, the longest prefix first.

    "bit_matcher" (ToN 2020) works from the lowest bit up, "niagara" (CoNEXT 2015, run to the end)
    from the largest error down: they check each other.

    Raises ValueError for another method, and for what is no partition of 2^width.
    """
    parts = checked_partition(partition, checked_width(width))
    if method == "bit_matcher":
        return from_transactions(matched(np.array(parts, np.uint64), width))
    if method == "niagara":
        return from_transactions(niagara(parts, 1, width, None))
    raise ValueError(f"method: {method!r}: expected 'bit_matcher' or 'niagara'")


def count(partition: Sequence[int], width: int) -> int:
    """Rules that `exact` needs. Raises ValueError as it does."""
    values = np.array(checked_partition(partition, checked_width(width)), np.uint64)
    return 1 + sum(len(up) for _, up, _ in _levels(values, width))


def matched(values: Values, width: int) -> list[Transaction]:
    """Bit Matcher's transactions for values with sum 2^width, the smallest first."""
    left = values.copy()
    sequence = [
        Transaction(width - level, giver, taker)
        for level, up, down in _levels(left, width)
        for giver, taker in zip(down.tolist(), up.tolist(), strict=True)
    ]
    return [*sequence, Transaction(0, int(left.argmax()), None)]


def bit_order(values: Values) -> Values:
    """Keys whose order is that of the bits compared from the least significant on."""
    keys = values.copy()
    for shift, mask in (
        (1, 0x5555555555555555),
        (2, 0x3333333333333333),
        (4, 0x0F0F0F0F0F0F0F0F),
        (8, 0x00FF00FF00FF00FF),
        (16, 0x0000FFFF0000FFFF),
        (32, 0x00000000FFFFFFFF),
    ):
        by, low = np.uint64(shift), np.uint64(mask)
        keys = (keys >> by & low) | (keys & low) << by
    return keys


def _levels(values: Values, width: int) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.intp]]]:
    """(level, who receives 2^level, who gives it): of the odd ones, those later in the order of
    their bits receive. At the end `values` is 1 at the root and 0 elsewhere."""
    for level in range(width):
        odd = np.flatnonzero(values & np.uint64(1))
        values >>= np.uint64(1)
        if len(odd):
            half = len(odd) // 2
            order = np.argpartition(bit_order(values[odd]), half)
            up, down = odd[order[half:]], odd[order[:half]]
            values[up] += np.uint64(1)
            yield level, up, down


def niagara(parts: Sequence[int], scale: int, width: int, budget: int | None) -> list[Transaction]:
    """Niagara's transactions towards parts / scale addresses, at most `budget`, the largest first.

    Everything starts on the heaviest target; then the power of two moves from the one most over to
    the one most under that lowers their errors most, of equals the largest. Each prefix of the
    sequence has the least L1 error of all tables of so many rules (TNSM 2023).
    """
    moves = _moves(parts, scale, width)
    return list(moves if budget is None else islice(moves, budget))


def _moves(parts: Sequence[int], scale: int, width: int) -> Iterator[Transaction]:
    root = max(range(len(parts)), key=parts.__getitem__)
    yield Transaction(0, root, None)
    over = [(parts[root] - (scale << width), root)]
    under = [(-part, place) for place, part in enumerate(parts) if place != root]
    heapify(under)
    # A target is in one heap: what is over gives until it is under, and the other way round.
    while over and under:
        too_much, too_little = -over[0][0], -under[0][0]
        move = _best(too_much, too_little, scale)
        if move is None:
            return
        richest, poorest = over[0][1], under[0][1]
        # Executed, a sequence goes back to the root: the rule of the one under is given back.
        yield Transaction(width - move.bit_length() + 1, poorest, richest)
        _shift(over, under, too_much - move * scale, richest)
        _shift(under, over, too_little - move * scale, poorest)


def _shift(
    home: list[tuple[int, int]], other: list[tuple[int, int]], left: int, place: int
) -> None:
    """The head of `home` has `left` of its error; below 0 it belongs to `other`."""
    if left > 0:
        heapreplace(home, (-left, place))
        return
    last = home.pop()
    if home:
        heapreplace(home, last)
    if left < 0:
        heappush(other, (left, place))


def _best(a: int, b: int, scale: int) -> int | None:
    """The power of two, in addresses, that lowers the errors a and b (in 1 / scale) most."""
    low, high = sorted((a, b))
    largest = high // scale
    if largest:
        power = 1 << largest.bit_length() - 1
        if power * scale >= low:
            return power
        # None lies between the two errors: below, the gain is the power; above, what is left.
        return 2 * power if a + b - 2 * power * scale >= power * scale else power
    return 1 if a + b > scale else None
