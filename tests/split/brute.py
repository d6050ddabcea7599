"""Answers by trying everything: which map of addresses needs how many rules.

Nothing here knows of transactions or signed bits: the rules of a map are counted by the dynamic
program of Suri et al. over the tree of prefixes, minimised over all maps with the same counts.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

INFINITE = 1 << 30


@cache
def costs(width: int, targets: int) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Partition to the fewest rules below a node that inherits each target, in a tree of `width`."""
    if not width:
        return {
            tuple(int(t == owner) for t in range(targets)): tuple(
                int(t != owner) for t in range(targets)
            )
            for owner in range(targets)
        }
    below = costs(width - 1, targets)
    found: dict[tuple[int, ...], list[int]] = {}
    for one, left in below.items():
        for other, right in below.items():
            both = tuple(a + b for a, b in zip(one, other, strict=True))
            best = found.setdefault(both, [INFINITE] * targets)
            for t in range(targets):
                best[t] = min(best[t], left[t] + right[t])
    for best in found.values():
        own = min(best) + 1
        best[:] = [min(inherited, own) for inherited in best]
    return {partition: tuple(best) for partition, best in found.items()}


def fewest_rules(width: int, targets: int) -> dict[tuple[int, ...], int]:
    """Every partition of 2^width to the fewest rules that induce it, the match-all rule included."""
    return {partition: min(best) + 1 for partition, best in costs(width, targets).items()}


def fewest_over(width: int, targets: int, power: int) -> dict[tuple[int, ...], int]:
    """Partition to the fewest rules of a VIP, over all maps of addresses: those of `costs`, but that
    a block may also inherit no rule, and then goes where the default rules say."""

    @cache
    def costs(length: int, prefix: int) -> dict[tuple[int, ...], tuple[int, ...]]:
        if length == width:
            default = prefix >> width - power
            return {
                tuple(int(t == owner) for t in range(targets)): (
                    *(int(t != owner) for t in range(targets)),
                    int(default != owner),
                )
                for owner in range(targets)
            }
        found: dict[tuple[int, ...], list[int]] = {}
        for one, left in costs(length + 1, 2 * prefix).items():
            for other, right in costs(length + 1, 2 * prefix + 1).items():
                both = tuple(a + b for a, b in zip(one, other, strict=True))
                best = found.setdefault(both, [INFINITE] * (targets + 1))
                best[:] = [min(b, x + y) for b, x, y in zip(best, left, right, strict=True)]
        for best in found.values():
            own = min(best[:-1]) + 1
            best[:] = [min(inherited, own) for inherited in best]
        return {partition: tuple(best) for partition, best in found.items()}

    return {partition: best[-1] for partition, best in costs(0, 0).items()}


def error(norm: str, partition: tuple[int, ...], wanted: list[Fraction]) -> Fraction | None:
    """By the definition; None: infinite."""
    over = [got - want for got, want in zip(partition, wanted, strict=True)]
    if norm == "linf":
        return max(map(abs, over))
    if norm == "linf_plus":
        return max(over)
    if norm == "l1":
        return sum(map(abs, over), Fraction(0))
    if any(not want and got for got, want in zip(partition, wanted, strict=True)):
        return None
    if norm == "linf_rel":
        over = [*map(abs, over)]
    return max(o / want for o, want in zip(over, wanted, strict=True) if want)


def curve(norm: str, width: int, wanted: list[Fraction]) -> Iterator[Fraction]:
    """The least error with 1, 2, ... rules, to where more no longer help."""
    sizes = fewest_rules(width, len(wanted))
    for budget in range(1, max(sizes.values()) + 1):
        errors = (error(norm, p, wanted) for p, size in sizes.items() if size <= budget)
        yield min(e for e in errors if e is not None)
