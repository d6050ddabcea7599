"""Two targets: closed forms (SPAA 2018)."""

from turnout.split.exact import exact
from turnout.split.model import Rule, checked_budget, checked_partition, checked_width
from turnout.split.signed_bits import weight


def two(c1: int, c2: int, budget: int | None = None) -> list[Rule]:
    """The table for c1 and c2 addresses, c1 + c2 a power of two: exact without a budget, in
    min(phi(c1), phi(c2)) + 1 rules; else of least error with at most `budget` rules.

    The best is floor or ceiling of one of the two at some power of two: anything farther can be
    moved nearer by the lowest power that it has, at no cost. Raises ValueError for a sum that is
    no power of two up to 2^62, a negative number, a budget below 1.
    """
    whole = c1 + c2
    if whole < 1 or whole & (whole - 1):
        raise ValueError(f"c1 + c2: {whole}: expected a power of two")
    width = checked_width(whole.bit_length() - 1)
    if not width:
        return [Rule(0, 0, 0 if c1 else 1)]
    checked_partition((c1, c2), width)
    limit = checked_budget(budget)
    if limit is None:
        return exact((c1, c2), width)
    candidates = {
        (c >> power << power) + up if first else whole - ((c >> power << power) + up)
        for c, first in ((c1, True), (c2, False))
        for power in range(width + 1)
        for up in (0, 1 << power)
    }
    cheap = [d for d in candidates if 0 <= d <= whole and rules(d, whole - d) <= limit]
    nearest = min(cheap, key=lambda d: (abs(d - c1), rules(d, whole - d), d))
    return exact((nearest, whole - nearest), width)


def rules(c1: int, c2: int) -> int:
    """How many rules c1 and c2 addresses need, c1 + c2 a power of two."""
    return min(weight(c1), weight(c2)) + 1
