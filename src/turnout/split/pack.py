"""Several VIPs in one TCAM: rules go where they lower the imbalance of all traffic most (Niagara, CoNEXT
2015, section on multiple aggregates).

The imbalance of a VIP is the share of its traffic at another target than its weights ask for: half of
the l1 error, as a share of all addresses.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush
from numbers import Integral, Rational
from typing import Literal

from turnout.split import function
from turnout.split.defaults import (
    Way,
    checked_power,
    default_rules,
    error_of_owners,
    laid_over,
    ways,
)
from turnout.split.model import Rule, Shares, Weight, checked_width, shares


@dataclass(frozen=True, slots=True)
class Demand:
    """What a VIP asks for."""

    weights: Sequence[Weight]
    traffic: Weight = 1
    """In any unit, above 0."""


@dataclass(frozen=True, slots=True)
class Packing:
    """Rules of several VIPs in one TCAM. Those of a VIP match the VIP too and win over the default
    rules, which match any."""

    width: int
    rules: tuple[tuple[Rule, ...], ...]
    """Of each VIP, the longest prefix first."""
    defaults: tuple[Rule, ...]
    imbalances: tuple[Fraction, ...]
    """Of each VIP."""
    imbalance: Fraction
    """Of all traffic."""

    @property
    def used(self) -> int:
        """Entries of the TCAM."""
        return len(self.defaults) + sum(map(len, self.rules))

    def table(self, vip: int) -> list[Rule]:
        """The rules by which addresses of a VIP go, its own and the default rules, as one table."""
        return function.rules(function.of(self.rules[vip], function.of(self.defaults)))


@dataclass(frozen=True, slots=True)
class _Stair:
    """The imbalance of a VIP with the fewest rules there can be, one more, ...: it never rises. For
    each, the way to the rules and how many of its moves."""

    imbalances: list[Fraction]
    ways: list[tuple[Way, int]]


def pack(
    demands: Sequence[Demand],
    capacity: int,
    width: int,
    defaults: int | Literal["best"] | None = None,
) -> Packing:
    """The rules of each VIP, at most `capacity` together.

    A rule at a time goes where the imbalance of all traffic falls most; where a rule alone does
    not help, several do as one. That is the least that `capacity` allows where each further rule
    of a VIP helps less than the one before. `defaults` is the power of two of the default rules that all
    VIPs share, block b of 2^defaults to target b; they count once, and a VIP that is near enough to them
    has no rule. None: no default rules, each VIP has one rule at least; "best": the best of all.

    Raises ValueError for no demand, traffic that is no rational above 0, weights and a width as
    `approximate`, more default rules than targets of a VIP, and a capacity below the rules that must be.
    """
    checked_width(width)
    traffic = checked_traffic(demands)
    wanted = [shares(demand.weights, width) for demand in demands]
    if isinstance(capacity, bool) or not isinstance(capacity, Integral) or capacity < 1:
        raise ValueError(f"capacity: {capacity!r}: expected an integer >= 1")
    targets = min(map(len, wanted))
    if defaults != "best":
        power = None if defaults is None else checked_power(defaults, targets, width)
        return _packed(wanted, traffic, width, int(capacity), power)
    powers: list[int | None] = [
        power for power in range(min(width, targets.bit_length() - 1) + 1) if 1 << power <= capacity
    ]
    if len(demands) <= capacity:
        powers.append(None)
    packings = (_packed(wanted, traffic, width, int(capacity), power) for power in powers)
    return min(packings, key=lambda packing: (packing.imbalance, packing.used))


def checked_traffic(demands: Sequence[Demand]) -> list[Fraction]:
    """The share of all traffic of each demand. Raises ValueError for none and as `pack` does."""
    if not demands:
        raise ValueError("demands: none: expected one at least")
    for place, demand in enumerate(demands):
        traffic = demand.traffic
        if isinstance(traffic, bool) or not isinstance(traffic, Rational) or traffic <= 0:
            raise ValueError(
                f"demands[{place}]: traffic: {traffic!r}: expected an integer or Fraction above 0"
            )
    total = sum(Fraction(demand.traffic) for demand in demands)
    return [Fraction(demand.traffic) / total for demand in demands]


def _packed(
    wanted: list[Shares], traffic: list[Fraction], width: int, capacity: int, power: int | None
) -> Packing:
    shared = () if power is None else tuple(default_rules(power))
    needed = len(shared) or len(wanted)
    if capacity < needed:
        what = "one for each VIP" if power is None else "for the default rules"
        raise ValueError(f"capacity: {capacity}: expected at least {needed}, {what}")
    stairs = [_stair(want, width, power, capacity) for want in wanted]
    given = handed_out(
        [
            [part * imbalance for imbalance in stair.imbalances]
            for part, stair in zip(traffic, stairs, strict=True)
        ],
        capacity - needed,
    )
    imbalances = [stair.imbalances[more] for stair, more in zip(stairs, given, strict=True)]
    return Packing(
        width,
        tuple(
            tuple(laid_over(*stair.ways[more], width, power))
            for stair, more in zip(stairs, given, strict=True)
        ),
        shared,
        tuple(imbalances),
        sum((p * i for p, i in zip(traffic, imbalances, strict=True)), Fraction(0)),
    )


def handed_out(stairs: Sequence[Sequence[Fraction]], rules: int) -> list[int]:
    """How many of `rules` each stair gets, so that the sum of its values at these places is small.

    `stairs[i][n]` is the value with n rules and never rises. A heap has the next step of each
    stair, the one that falls most a rule.
    """
    given = [0] * len(stairs)
    heap = [
        (-fall, place, size)
        for place, stair in enumerate(stairs)
        for fall, size in _step(stair, 0, rules)
    ]
    heapify(heap)
    while heap:
        _, place, size = heappop(heap)
        # What is too large by now becomes the best step that is not.
        if size <= rules:
            rules -= size
            given[place] += size
        for fall, size in _step(stairs[place], given[place], rules):
            heappush(heap, (-fall, place, size))
    return given


def _step(stair: Sequence[Fraction], at: int, rules: int) -> Iterator[tuple[Fraction, int]]:
    """The step of at most `rules` that falls most a rule, (fall a rule, rules), if any falls."""
    falls = [
        ((stair[at] - stair[at + size]) / size, -size)
        for size in range(1, min(rules, len(stair) - 1 - at) + 1)
    ]
    fall, size = max(falls, default=(Fraction(0), 0))
    if fall > 0:
        yield fall, -size


def _stair(wanted: Shares, width: int, power: int | None, most: int) -> _Stair:
    """The best of all ways for each number of rules, up to the last that helps or `most`."""
    points: dict[int, tuple[int, Way, int]] = {}
    for way in ways(wanted, width, power):
        for steps, error in enumerate(_errors(way, wanted, width)):
            rules = way.covering + steps
            if rules <= most and (rules not in points or error < points[rules][0]):
                points[rules] = error, way, steps
    least = min(points)
    best = points[least]
    chosen = [best]
    for rules in range(least + 1, max(points) + 1):
        if rules in points and points[rules][0] < best[0]:
            best = points[rules]
        chosen.append(best)
    while len(chosen) > 1 and chosen[-2][0] == chosen[-1][0]:
        chosen.pop()
    whole = wanted.scale << width + 1
    return _Stair(
        [Fraction(error, whole) for error, *_ in chosen],
        [(way, steps) for _, way, steps in chosen],
    )


def _errors(way: Way, wanted: Shares, width: int) -> Iterator[int]:
    """The l1 error after 0, 1, ... moves, in 1 / scale addresses."""
    block = (1 << width) // len(way.owners)
    over = [-part for part in wanted.parts]
    for owner in way.owners:
        over[owner] += block * wanted.scale
    error = error_of_owners(wanted, way.owners, width)
    yield error
    for size, giver, taker in way.moves:
        for place, change in ((giver, -size), (taker, size)):
            error -= abs(over[place])
            over[place] += change * wanted.scale
            error += abs(over[place])
        yield error
