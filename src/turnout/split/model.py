"""The words of a split: rules, splits, norms, and what may be asked for.

Addresses are keys of `width` bits, each equally likely. The longest matching prefix wins.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from numbers import Integral, Rational
from typing import Any, Literal, NamedTuple, SupportsIndex, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

Norm = Literal["linf", "linf_plus", "linf_rel", "linf_plus_rel", "l1"]
NORMS: tuple[Norm, ...] = ("linf", "linf_plus", "linf_rel", "linf_plus_rel", "l1")
RELATIVE: tuple[Norm, ...] = ("linf_rel", "linf_plus_rel")
Weight: TypeAlias = int | Fraction

Ints = NDArray[np.int64]
Wide = NDArray[Any]
"""Integers of 64 bits where they fit, Python's where they do not."""

MAX_WIDTH = 62


class Rule(NamedTuple):
    """Addresses whose top `length` bits are `prefix` go to `target` (0-based), unless a longer
    rule matches them."""

    prefix: int
    length: int
    target: int


class Shares(Sequence[Fraction]):
    """Addresses that each target should have: `weights` * 2^`left` / `scale`, with the least scale
    that makes all of them whole; their sum is 2^width. A sequence of fractions, made when they are
    asked for."""

    def __init__(self, weights: Wide, left: int, scale: int) -> None:
        self.weights = weights
        self.left = left
        self.scale = scale

    @cached_property
    def parts(self) -> list[int]:
        """What each should have, in units of 1 / `scale`."""
        return [weight << self.left for weight in self.weights.tolist()]

    @cached_property
    def divided(self) -> tuple[Ints, Wide]:
        """The whole addresses of each, and what is left in units of 1 / `scale`."""
        whole = self.weights // self.scale
        rest = self.weights - whole * self.scale
        left = room = self.left
        if self.scale < 1 << 62:
            rest, room = rest.astype(np.int64), 63 - self.scale.bit_length()
        # Long division, by digits of as many bits as there is room for.
        while left:
            bits = min(room, left)
            left -= bits
            digit = (rest << bits) // self.scale
            whole, rest = whole << bits | digit, (rest << bits) - digit * self.scale
        return whole.astype(np.int64), rest

    def __len__(self) -> int:
        return len(self.weights)

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


def checked_partition(partition: Sequence[SupportsIndex], width: int) -> Ints:
    """`partition` as an array. Raises ValueError unless it is of integers >= 0 with sum 2^width."""
    checked_targets(len(partition), width)
    parts = _plain(partition)
    if parts is None:
        for place, part in enumerate(partition):
            if isinstance(part, bool) or not isinstance(part, Integral) or part < 0:
                raise ValueError(f"partition[{place}]: {part!r}: expected an integer >= 0")
        parts = _wide([*map(int, partition)])
    if parts.sum() != 1 << width:
        raise ValueError(f"partition: sum {parts.sum()}: expected {1 << width}, 2^{width}")
    return parts.astype(np.int64, copy=False)


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
    whole = _plain(weights)
    if whole is None:
        for place, weight in enumerate(weights):
            if isinstance(weight, bool) or not isinstance(weight, Rational) or weight < 0:
                raise ValueError(
                    f"weights[{place}]: {weight!r}: expected an integer or Fraction >= 0"
                )
        common = lcm(*(int(weight.denominator) for weight in weights))
        whole = _wide([int(w.numerator) * (common // int(w.denominator)) for w in weights])
    total = int(whole.sum())
    if not total:
        raise ValueError("weights: all are zero: expected one above 0")
    divisor = int(np.gcd.reduce(whole))
    total //= divisor
    # Twos of the total cancel against those of 2^width.
    twos = min(width, (total & -total).bit_length() - 1)
    return Shares(whole // divisor, width - twos, total >> twos)


def _plain(numbers: Sequence[Any]) -> Wide | None:
    """The numbers, if all are ints >= 0, without a look at each in Python."""
    if set(map(type, numbers)) == {int}:
        found = _wide(numbers)
        if found.min() >= 0:
            return found
    return None


def _wide(numbers: Sequence[int]) -> Wide:
    """Of 64 bits where the sum, of numbers >= 0, fits too."""
    try:
        found = np.fromiter(numbers, np.int64, len(numbers))
    except OverflowError:
        return np.array(numbers, object)
    return found if int(found.max()) < (1 << 62) // len(found) else found.astype(object)
