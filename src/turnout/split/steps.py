"""From one table to another in steps, each of which moves few addresses (Niagara, CoNEXT 2015, section
on updates, where a pattern of the new rules grows; here it grows in the order of addresses)."""

from collections.abc import Iterable

from turnout.split import function
from turnout.split.evaluate import moved
from turnout.split.model import Rule, Weight, checked_share, checked_width


def plan(
    old: Iterable[Rule], new: Iterable[Rule], width: int, max_churn: Weight
) -> list[list[Rule]]:
    """Tables to install one after the other, each of which moves at most `max_churn` of all addresses
    (0 to 1); the last is `new`. There are as few as can be, and no address moves twice.

    A table in between is new below an address and old from there on, in the fewest rules; of the
    addresses where the step may end, it ends at the roundest, so that little is cut. It has at most
    `width` rules more than the two tables together.

    Raises ValueError for a table that is not legal and a `max_churn` of less than one address or more
    than all.
    """
    limit = int(checked_share(max_churn, "max_churn") * (1 << checked_width(width)))
    if not limit:
        raise ValueError(
            f"max_churn: {max_churn}: expected at least 1/{1 << width}, one address of {width} bits"
        )
    before, after = [*old], [*new]
    ranges = [*moved(before, after, width)]
    total = sum(end - start for start, end in ranges)
    trees = function.of(after), function.of(before)
    tables: list[list[Rule]] = []
    liked = {*before, *after}
    done = 0
    for left in range(-(-total // limit) - 1, 0, -1):
        # What is left must fit into the steps that are left; the step itself must not move one more.
        at = _roundest(_end(ranges, total - left * limit), _end(ranges, done + limit + 1) - 1)
        done = sum(min(end, at) - start for start, end in ranges if start < at)
        tables.append(function.rules(function.cut(*trees, at, width), liked))
    return [*tables, after]


def _end(ranges: list[tuple[int, int]], addresses: int) -> int:
    """Where the first so many addresses in `ranges` end; there are as many."""
    for start, end in ranges:
        if addresses <= end - start:
            return start + addresses
        addresses -= end - start
    raise AssertionError


def _roundest(first: int, last: int) -> int:
    """Of first..last, not 0, the one with most zeros at its end."""
    power = last.bit_length()
    while last >> power << power < first:
        power -= 1
    return last >> power << power
