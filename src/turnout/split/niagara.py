"""Niagara's transactions, run to the end or cut off (CoNEXT 2015; why each prefix of the sequence has
the least L1 error: TNSM 2023)."""

from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heappush, heapreplace
from itertools import islice
from typing import NamedTuple

from turnout.split.transactions import Transaction


class Move(NamedTuple):
    """`size` addresses, a power of two, go from one target to another."""

    size: int
    giver: int
    taker: int


def niagara(parts: Sequence[int], scale: int, width: int, budget: int | None) -> list[Transaction]:
    """Niagara's transactions towards parts / scale addresses, at most `budget`, the largest first.

    Everything starts on the heaviest target; then the power of two moves from the one most over to
    the one most under that lowers their errors most, of equals the largest. Each prefix of the
    sequence has the least L1 error of all tables of so many rules (TNSM 2023).
    """
    root = heaviest(parts)
    held = [0] * len(parts)
    held[root] = 1 << width
    # Executed, a sequence goes back to the root: what one takes here it gives back.
    steps = (
        Transaction(width - move.size.bit_length() + 1, move.taker, move.giver)
        for move in moves(parts, scale, held)
    )
    return [Transaction(0, root, None), *islice(steps, None if budget is None else budget - 1)]


def heaviest(parts: Sequence[int]) -> int:
    """Which target should have most, the first of equals."""
    return max(range(len(parts)), key=parts.__getitem__)


def moves(
    parts: Sequence[int],
    scale: int,
    held: Sequence[int],
    most: Callable[[int, int, int], int] | None = None,
) -> Iterator[Move]:
    """Niagara's moves from a state in which targets have `held` addresses towards parts / scale.

    `most` gives, for the target most over and the two errors in 1 / scale, the largest power of two
    that may move; it is asked before each move, after the one before was taken. None: any.
    """
    errors = [scale * has - part for has, part in zip(held, parts, strict=True)]
    over = [(-error, place) for place, error in enumerate(errors) if error > 0]
    under = [(error, place) for place, error in enumerate(errors) if error < 0]
    heapify(over)
    heapify(under)
    # A target is in one heap: what is over gives until it is under, and the other way round.
    while over and under:
        too_much, too_little = -over[0][0], -under[0][0]
        size = _best(too_much, too_little, scale)
        if size is None:
            return
        richest, poorest = over[0][1], under[0][1]
        if most is not None:
            # Less than the best still helps.
            size = min(size, most(richest, too_much, too_little))
        yield Move(size, richest, poorest)
        _shift(over, under, too_much - size * scale, richest)
        _shift(under, over, too_little - size * scale, poorest)


def _shift(
    home: list[tuple[int, int]], other: list[tuple[int, int]], left: int, place: int
) -> None:
    """The head of `home` has `left` of its error; below 0 it belongs to `other`."""
    if left > 0:
        heapreplace(home, (-left, place))
        return
    heappop(home)
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
