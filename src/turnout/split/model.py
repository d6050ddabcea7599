"""The words of a split: rules, splits, norms, and what may be asked for.

Addresses are keys of `width` bits, each equally likely. The longest matching prefix wins.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from numbers import Integral, Rational
from typing import Any, Literal, NamedTuple, SupportsIndex, TypeAlias, TypeGuard, overload

Norm = Literal["linf", "linf_plus", "linf_rel", "linf_plus_rel", "l1"]
NORMS: tuple[Norm, ...] = ("linf", "linf_plus", "linf_rel", "linf_plus_rel", "l1")
RELATIVE: tuple[Norm, ...] = ("linf_rel", "linf_plus_rel")
Weight: TypeAlias = int | Fraction

MAX_WIDTH = 62


class Rule(NamedTuple):
    """Addresses whose top `length` bits are `prefix` go to `target` (0-based), unless a longer
    rule matches them."""

    prefix: int
    length: int
    target: int


class Shares(Sequence[Fraction]):
    """Addresses that each target should have: `parts` / `scale`, with the least scale that makes
    all of them whole; their sum is 2^width. A sequence of fractions, made when they are asked for."""

    __slots__ = ("parts", "scale")

    def __init__(self, parts: list[int], scale: int) -> None:
        self.parts = parts
        self.scale = scale

    def __len__(self) -> int:
        return len(self.parts)

    @overload
    def __getitem__(self, at: int) -> Fraction: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Fraction, ...]: ...
    def __getitem__(self, at: int | slice) -> Fraction | tuple[Fraction, ...]:
        if isinstance(at, slice):
            return tuple(Fraction(part, self.scale) for part in self.parts[at])
        return Fraction(self.parts[at], self.scale)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


@dataclass(frozen=True, slots=True)
class Split:
    """A table of rules and how near it comes to what was asked for."""

    width: int
    rules: tuple[Rule, ...]
    partition: tuple[int, ...]
    """Addresses of each target; the sum is 2^width."""
    requested: Shares
    """Addresses that each target should have; the sum is 2^width."""
    error: Fraction
    """In `norm`: in addresses, or relative for the relative norms."""
    norm: Norm


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
    if _plain(partition):
        parts = [*partition]
    else:
        for place, part in enumerate(partition):
            if isinstance(part, bool) or not isinstance(part, Integral) or part < 0:
                raise ValueError(f"partition[{place}]: {part!r}: expected an integer >= 0")
        parts = [*map(int, partition)]
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


def checked_share(share: Weight, field: str) -> Fraction:
    """`share` as Fraction. Raises ValueError unless it is rational, 0 to 1."""
    if isinstance(share, bool) or not isinstance(share, Rational) or not 0 <= share <= 1:
        raise ValueError(f"{field}: {share}: expected an integer or Fraction, 0 to 1")
    return Fraction(share)


def shares(weights: Sequence[Weight], width: int) -> Shares:
    """What each target should have, exactly.

    Raises ValueError for a weight that is not a rational >= 0 (a float is none: it says less than
    it seems to), and where all are zero.
    """
    checked_targets(len(weights), width)
    if _plain(weights):
        whole = [*weights]
    else:
        for place, weight in enumerate(weights):
            if isinstance(weight, bool) or not isinstance(weight, Rational) or weight < 0:
                raise ValueError(
                    f"weights[{place}]: {weight!r}: expected an integer or Fraction >= 0"
                )
        common = lcm(*(int(weight.denominator) for weight in weights))
        whole = [int(weight.numerator) * (common // int(weight.denominator)) for weight in weights]
    total = sum(whole)
    if not total:
        raise ValueError("weights: all are zero: expected one above 0")
    divisor = gcd(*whole)
    total //= divisor
    # Twos of the total cancel against those of 2^width.
    twos = min(width, (total & -total).bit_length() - 1)
    left = width - twos
    return Shares([(weight // divisor) << left for weight in whole], total >> twos)


def _plain(numbers: Sequence[Any]) -> TypeGuard[Sequence[int]]:
    """Whether all are ints >= 0, without a look at each in Python."""
    return set(map(type, numbers)) == {int} and min(numbers) >= 0
