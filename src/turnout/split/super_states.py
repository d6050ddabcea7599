"""The search over super states (SPAA 2018): who gives and who receives is tried, not known.

Seen from a level, a target has what is left of its addresses, or one more: which of them have one
more is the state. So the search is as wide as there are sets of targets, and checks the methods
that know the order.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

from turnout.split.transactions import Transaction

MOST_TARGETS = 10

State = frozenset[int]


def super_states(parts: Sequence[int], width: int) -> list[Transaction]:
    """The fewest transactions of a partition of 2^width, the smallest first.

    Raises ValueError for more than 10 targets.
    """
    if len(parts) > MOST_TARGETS:
        raise ValueError(
            f"targets: {len(parts)}: expected at most {MOST_TARGETS} for 'super_states'"
        )
    # Of the ways to a state, one of fewest transactions.
    reached: dict[State, list[Transaction]] = {frozenset(): []}
    for level in range(width):
        above: dict[State, list[Transaction]] = {}
        left = [part >> level for part in parts]
        for state, steps in reached.items():
            for after, up, down in _choices(left, state):
                if after not in above or len(steps) + len(up) < len(above[after]):
                    above[after] = steps + [
                        Transaction(width - level, giver, taker)
                        for giver, taker in zip(down, up, strict=True)
                    ]
        reached = above
    state, steps = min(reached.items(), key=lambda item: len(item[1]))
    root = next(
        place for place, part in enumerate(parts) if (part >> width) + (place in state) == 1
    )
    return [*steps, Transaction(0, root, None)]


def _choices(
    left: list[int], state: State
) -> Iterator[tuple[State, tuple[int, ...], tuple[int, ...]]]:
    """(next state, who receives a unit, who gives one): half of the odd ones receive."""
    odd = [place for place, part in enumerate(left) if (part + (place in state)) & 1]
    # An even one stays as it is: one more than an odd number, or no more than an even one.
    kept = state.difference(odd)
    for up in combinations(odd, len(odd) // 2):
        yield kept.union(up), up, tuple(place for place in odd if place not in up)
