"""What weights cost where members are replicated in a hash table (WCMP, EuroSys 2014)."""

from collections.abc import Sequence
from fractions import Fraction
from math import gcd

from turnout.split.model import Weight, shares


def entries(partition: Sequence[int]) -> int:
    """Entries of the smallest table with exactly these ratios.

    Raises ValueError for a negative number, and where all are zero.
    """
    if any(part < 0 for part in partition) or not any(partition):
        raise ValueError(f"partition: {list(partition)}: expected integers >= 0, one above 0")
    return sum(partition) // gcd(*partition)


def reduce(weights: Sequence[Weight], size: int) -> list[int]:
    """Entries of each member in a table of at most `size`: grown one entry at a time where the
    member is short of most, and of all tables on the way the one whose largest oversubscription is
    least (EuroSys 2014, section 4; the smallest of equals). A weight of 0 gets none.

    Raises ValueError for weights that are not rational, below 0 or all 0, and for a size with
    less than an entry for each weight above 0.
    """
    parts = shares(weights, 62).parts
    total = sum(parts)
    members = [place for place, part in enumerate(parts) if part]
    if size < len(members):
        raise ValueError(f"size: {size}: expected at least {len(members)}, one for each weight")
    table = [int(part > 0) for part in parts]
    used = len(members)
    best, least = list(table), _oversubscription(table, parts, used, total)
    while used < size:
        growing = min(members, key=lambda place: Fraction(table[place] + 1, parts[place]))
        table[growing] += 1
        used += 1
        worst = _oversubscription(table, parts, used, total)
        if worst < least:
            best, least = list(table), worst
    return best


def _oversubscription(table: list[int], parts: list[int], used: int, total: int) -> Fraction:
    return max(
        Fraction(got * total, used * part) for got, part in zip(table, parts, strict=True) if part
    )
