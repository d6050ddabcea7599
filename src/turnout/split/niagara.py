"""Niagara's transactions, run to the end or cut off (CoNEXT 2015; why each prefix of the sequence has
the least L1 error: TNSM 2023)."""

from collections.abc import Iterator, Sequence
from heapq import heapify, heappush, heapreplace
from itertools import islice

from turnout.split.transactions import Transaction


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
