"""What a table does, found from its rules alone."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from turnout.split.model import Rule, checked_targets, checked_width


def evaluate(rules: Iterable[Rule], width: int, targets: int) -> list[int]:
    """Addresses of each of `targets` targets.

    Raises ValueError for a table that is not legal: a rule out of range, two rules for one prefix,
    an address that no rule matches.
    """
    checked_targets(targets, checked_width(width))
    table = [Rule(*rule) for rule in rules]
    for rule in table:
        if not 0 <= rule.target < targets:
            raise ValueError(f"target: {rule.target}: expected 0 to {targets - 1}")
    counts = [0] * targets
    for start, end, target in segments(table, width):
        counts[target] += end - start
    return counts


def churn(old: Iterable[Rule], new: Iterable[Rule], width: int) -> int:
    """Addresses whose target is another in `new`. Raises ValueError as `evaluate` does."""
    return sum(end - start for start, end in moved(old, new, width))


def moved(old: Iterable[Rule], new: Iterable[Rule], width: int) -> Iterator[tuple[int, int]]:
    """Ranges of addresses (start, end) whose target is another in `new`, in order. Raises ValueError
    as `evaluate` does."""
    checked_width(width)
    before, after = segments(old, width), segments(new, width)
    at = 0
    _, end_before, was = next(before)
    _, end_after, becomes = next(after)
    while True:
        upto = min(end_before, end_after)
        if was != becomes:
            yield at, upto
        at = upto
        if at == 1 << width:
            return
        if end_before == at:
            _, end_before, was = next(before)
        if end_after == at:
            _, end_after, becomes = next(after)


def segments(rules: Iterable[Rule], width: int) -> Iterator[tuple[int, int, int]]:
    """Ranges of addresses (start, end, target), in order and without gaps: each rule's range
    less the longer rules in it. Raises ValueError as `evaluate` does."""
    table = sorted((_checked(rule, width) for rule in rules), key=lambda rule: rule[:2])
    for one, other in pairwise(table):
        if one[:2] == other[:2]:
            raise ValueError(
                f"rule: prefix {one[0] >> width - one[1]} of length {one[1]} twice: expected once"
            )
    around: list[tuple[int, int]] = []
    at = 0
    for start, length, target in [*table, (1 << width, 0, -1)]:
        while around and around[-1][0] <= start:
            end, inner = around.pop()
            if end > at:
                yield at, end, inner
                at = end
        if start > at:
            if not around:
                raise ValueError(f"rules: address {at} matches none: expected a rule for each")
            yield at, start, around[-1][1]
            at = start
        around.append((start + (1 << width - length), target))


def _checked(rule: Rule, width: int) -> tuple[int, int, int]:
    """(first address, length, target)."""
    prefix, length, target = rule
    if not 0 <= length <= width:
        raise ValueError(f"rule length: {length}: expected 0 to {width}")
    if not 0 <= prefix < 1 << length:
        raise ValueError(f"rule prefix: {prefix}: expected 0 to {(1 << length) - 1}")
    if target < 0:
        raise ValueError(f"target: {target}: expected 0 or more")
    return prefix << width - length, length, target
