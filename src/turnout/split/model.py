"""The words of a split: rules, splits, norms, and what may be asked for.

Addresses are keys of `width` bits, each equally likely. The longest matching prefix wins.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from numbers import Integral, Rational
from typing import Literal, NamedTuple, SupportsIndex, TypeAlias

Norm = Literal["linf", "linf_plus", "linf_plus_rel", "l1"]
NORMS: tuple[Norm, ...] = ("linf", "linf_plus", "linf_plus_rel", "l1")
Weight: TypeAlias = int | Fraction

MAX_WIDTH = 62


class Rule(NamedTuple):
    """Addresses whose top `length` bits are `prefix` go to `target` (0-based), unless a longer
    rule matches them."""

    prefix: int
    length: int
    target: int


@dataclass(frozen=True, slots=True)
class Split:
    """A table of rules and how near it comes to what was asked for."""

    width: int
    rules: tuple[Rule, ...]
    partition: tuple[int, ...]
    """Addresses of each target; the sum is 2^width."""
    requested: tuple[Fraction, ...]
    """Addresses that each target should have; the sum is 2^width."""
    error: Fraction
    """In `norm`: in addresses, or relative for the relative norms."""
    norm: Norm

    @property
    def scale(self) -> int:
        """The least number that makes all that was requested whole."""
        return lcm(*(wanted.denominator for wanted in self.requested))


def checked_width(width: SupportsIndex) -> int:
    """`width` as int. Raises ValueError outside 0..62."""
    if isinstance(width, bool) or not isinstance(width, Integral):
        raise ValueError(f"width: {width!r}: expected an integer, 0 to {MAX_WIDTH}")
    bits = int(width)
    if not 0 <= bits <= MAX_WIDTH:
        raise ValueError(f"width: {bits}: expected 0 to {MAX_WIDTH}")
    return bits


def checked_targets(count: int, width: int) -> None:
    """Raises ValueError for no target, and for more targets than addresses."""
    if not 1 <= count <= 1 << width:
        raise ValueError(f"targets: {count}: expected 1 to {1 << width} for width {width}")


def checked_partition(partition: Sequence[SupportsIndex], width: int) -> list[int]:
    """`partition` as ints. Raises ValueError unless it is of integers >= 0 with sum 2^width."""
    checked_targets(len(partition), width)
    for place, part in enumerate(partition):
        if isinstance(part, bool) or not isinstance(part, Integral) or part < 0:
            raise ValueError(f"partition[{place}]: {part!r}: expected an integer >= 0")
    parts = [int(part) for part in partition]
    if sum(parts) != 1 << width:
        raise ValueError(f"partition: sum {sum(parts)}: expected {1 << width}, 2^{width}")
    return parts


def checked_budget(budget: SupportsIndex | None) -> int | None:
    """`budget` as int, None for no limit. Raises ValueError below 1."""
    if budget is None:
        return None
    if isinstance(budget, bool) or not isinstance(budget, Integral) or budget < 1:
        raise ValueError(f"budget: {budget!r}: expected an integer >= 1, the match-all rule counts")
    return int(budget)


def shares(weights: Sequence[Weight], width: int) -> tuple[list[int], int]:
    """What each target should have, exactly: (parts, scale) for parts / scale addresses.

    The sum of parts is scale * 2^width. Raises ValueError for a weight that is not a rational
    >= 0 (a float is none: it says less than it seems to), and where all are zero.
    """
    checked_targets(len(weights), width)
    for place, weight in enumerate(weights):
        if isinstance(weight, bool) or not isinstance(weight, Rational) or weight < 0:
            raise ValueError(f"weights[{place}]: {weight!r}: expected an integer or Fraction >= 0")
    exact = [Fraction(int(weight.numerator), int(weight.denominator)) for weight in weights]
    total = sum(exact)
    if not total:
        raise ValueError("weights: all are zero: expected one above 0")
    of_all = [weight / total for weight in exact]
    scale = lcm(*(share.denominator for share in of_all))
    return [int(share * scale) << width for share in of_all], scale
