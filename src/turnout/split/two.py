"""Two targets: closed forms (SPAA 2018)."""

from collections.abc import Iterator
from typing import Literal

from turnout.split.exact import exact
from turnout.split.model import Rule, checked_budget, checked_partition, checked_width
from turnout.split.signed_bits import weight


def two(
    c1: int, c2: int, budget: int | None = None, method: Literal["floors", "ranges"] = "floors"
) -> list[Rule]:
    """The table for c1 and c2 addresses, c1 + c2 a power of two: exact without a budget, in
    min(phi(c1), phi(c2)) + 1 rules; else of least error with at most `budget` rules.

    The best is floor or ceiling of one of the two at some power of two: anything farther can be
    moved nearer by the lowest power that it has, at no cost. "floors" tries all of these; "ranges"
    is the paper's way, in four cases, and has the same answer.

    Raises ValueError for a sum that is no power of two up to 2^62, a negative number, a budget
    below 1, another method.
    """
    whole = c1 + c2
    if whole < 1 or whole & (whole - 1):
        raise ValueError(f"c1 + c2: {whole}: expected a power of two")
    width = checked_width(whole.bit_length() - 1)
    ways = {"floors": _by_floors, "ranges": _by_ranges}
    if method not in ways:
        raise ValueError(f"method: {method!r}: expected 'floors' or 'ranges'")
    if not width:
        return [Rule(0, 0, 0 if c1 else 1)]
    checked_partition((c1, c2), width)
    limit = checked_budget(budget)
    if limit is None:
        return exact((c1, c2), width)
    found = ways[method](c1, width, limit)
    nearest = min(found, key=lambda d: (abs(d - c1), rules(d, whole - d), d))
    return exact((nearest, whole - nearest), width)


def rules(c1: int, c2: int) -> int:
    """How many rules c1 and c2 addresses need, c1 + c2 a power of two."""
    return min(weight(c1), weight(c2)) + 1


def _by_floors(c1: int, width: int, limit: int) -> Iterator[int]:
    """Floors and ceilings of both at each power of two, as addresses of the first, where they need
    at most `limit` rules."""
    whole = 1 << width
    for c, first in ((c1, True), (whole - c1, False)):
        for power in range(width + 1):
            for up in (0, 1 << power):
                d = (c >> power << power) + up
                if d <= whole and rules(d, whole - d) <= limit:
                    yield d if first else whole - d


def _by_ranges(c1: int, width: int, limit: int) -> Iterator[int]:
    """The nearest above and below in which the first, or the second, is the cheap one, as
    addresses of the first."""
    whole = 1 << width
    for c, first in ((c1, True), (whole - c1, False)):
        cheap = [y for y in (0, *least_around(c, width)) if weight(y) < limit]
        below, above = max(y for y in cheap if y <= c), min((y for y in cheap if y >= c), default=0)
        yield from (below, above) if first else (whole - below, whole - above)


def least_around(c: int, width: int) -> Iterator[int]:
    """For each power of two up to 2^width, its odd multiple y = x 2^a in whose range c > 0 is, if
    it is in one: the numbers nearer to y than 2^a, among which phi is least at y.

    That phi is least at y: a number between two neighbouring multiples of 2^a has one more than the
    smaller of them has, or still more, since phi(2 q + 1) = 1 + min(phi(q), phi(q + 1)); and by the
    same the multiples before and after y have phi(y) - 1 or more. One of them has just that, so that
    no wider range will do. (Half as wide, U_a = 2^(a-2) + 2^(a-4) + ... to each side, are the ranges
    in which y is what signed bits begin with. They are not enough: the best for 75 with two powers
    is 72 = 9 * 8, whose U_a is 2.)

    That the nearest number d below c with phi(d) <= m is one of these, if not 0: else d + 2^a would
    be no farther than c, for the lowest power 2^a in d, and phi(d + 2^a) <= phi(d) as d / 2^a is odd.
    Above c likewise.
    """
    for a in range(width + 1):
        # Even multiples of 2^a are in no range of this size.
        if c & (2 << a) - 1:
            yield (c >> a | 1) << a
