"""Bit Matcher (ToN 2020) in plain Python, to measure against."""

from collections.abc import Sequence

Step = tuple[int, int, int]
"""Level, giver and taker: 2^level addresses change hands."""


def transactions(partition: Sequence[int], width: int) -> list[Step]:
    """The fewest transactions that leave all 2^width addresses with one target, the smallest first:
    with that target's match-all rule as many as there are rules, less one.

    Seen from a level, each odd target gives or receives one unit. Those receive whose bits, compared
    from the lowest, come later.
    """
    left = list(partition)
    found = []
    for level in range(width):
        odd = sorted(
            (place for place, units in enumerate(left) if units & 1),
            key=lambda place: f"{left[place]:0{width + 1}b}"[::-1],
        )
        half = len(odd) // 2
        for giver, taker in zip(odd[:half], odd[half:], strict=True):
            left[giver] -= 1
            left[taker] += 1
            found.append((level, giver, taker))
        left = [units >> 1 for units in left]
    return found
