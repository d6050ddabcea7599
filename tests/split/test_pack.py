"""Several VIPs in one TCAM, against every way to hand out the rules and every map of addresses."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.split.brute import error, fewest_over, fewest_rules
from tests.split.test_defaults import counts
from turnout.split import Demand, Rule, evaluate, pack
from turnout.split.pack import handed_out

Stair = list[Fraction]

FALLS = st.lists(st.integers(0, 20), max_size=6)


def least(stairs: Sequence[Stair], rules: int) -> Fraction:
    """The least sum, of all ways to hand out the rules."""
    return min(
        sum((stair[n] for stair, n in zip(stairs, given, strict=True)), Fraction(0))
        for given in product(*(range(len(stair)) for stair in stairs))
        if sum(given) <= rules
    )


def convex(stair: Stair) -> bool:
    falls = [a - b for a, b in pairwise(stair)]
    return falls == sorted(falls, reverse=True)


@given(st.lists(FALLS, min_size=1, max_size=4), st.booleans(), st.integers(0, 14))
def test_rules_are_handed_out_where_they_help_most(
    falls: list[list[int]], ordered: bool, rules: int
) -> None:
    stairs = [
        [Fraction(sum(steps[at:])) for at in range(len(steps) + 1)]
        for steps in (sorted(steps, reverse=True) if ordered else steps for steps in falls)
    ]
    given = handed_out(stairs, rules)
    assert sum(given) <= rules
    got = sum(stair[n] for stair, n in zip(stairs, given, strict=True))
    optimum = least(stairs, rules)
    if all(map(convex, stairs)):
        assert got == optimum
    # Else what does not fit in the end may be missing, and no more: one stair.
    assert optimum <= got <= optimum + max(stair[0] for stair in stairs)


def test_a_plateau_is_no_end() -> None:
    stairs = [[Fraction(9), Fraction(9), Fraction(0)], [Fraction(3), Fraction(1), Fraction(0)]]
    assert handed_out(stairs, 3) == [2, 1]
    # Where both its rules do not fit, they go where they do.
    assert handed_out(stairs, 1) == [0, 1]


DEMANDS = st.lists(
    st.builds(
        Demand,
        st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any),
        st.integers(1, 30) | st.fractions(Fraction(1, 9), 9, max_denominator=9),
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=50)
@given(DEMANDS, st.integers(2, 4), st.sampled_from([None, 0, 1, 2]), st.integers(0, 12))
def test_a_packing_is_the_best_of_all(
    demands: list[Demand], width: int, power: int | None, more: int
) -> None:
    needed = len(demands) if power is None else 1 << power
    found = pack(demands, needed + more, width, power)
    assert found.used <= needed + more
    whole = 1 << width
    total = sum(Fraction(demand.traffic) for demand in demands)
    sizes = fewest_rules(width, 4) if power is None else fewest_over(width, 4, power)
    stairs = []
    for place, demand in enumerate(demands):
        wanted = [Fraction(w * whole, sum(map(Fraction, demand.weights))) for w in demand.weights]
        rules = found.rules[place]
        got = evaluate(rules, width, 4) if power is None else counts(rules, width, 4, power)
        assert evaluate(found.table(place), width, 4) == got
        assert found.imbalances[place] == half(got, wanted)
        stairs.append(
            [
                Fraction(demand.traffic)
                / total
                * min(half(partition, wanted) for partition, size in sizes.items() if size <= n)
                for n in range(power is None, max(sizes.values()) + 1)
            ]
        )
    parts = (Fraction(demand.traffic) / total for demand in demands)
    assert found.imbalance == sum(p * i for p, i in zip(parts, found.imbalances, strict=True))
    optimum = least(stairs, more)
    assert found.imbalance >= optimum
    if all(map(convex, stairs)):
        assert found.imbalance == optimum


def half(partition: Sequence[int], wanted: list[Fraction]) -> Fraction:
    """The share of addresses at a wrong target."""
    l1 = error("l1", tuple(partition), wanted)
    assert l1 is not None
    return l1 / (2 * sum(partition))


@settings(max_examples=30)
@given(DEMANDS, st.integers(2, 8), st.integers(1, 12))
def test_the_best_is_that_of_the_best_default_rules(
    demands: list[Demand], width: int, capacity: int
) -> None:
    each = [
        pack(demands, capacity, width, power)
        for power in (None, 0, 1, 2)
        if capacity >= (len(demands) if power is None else 1 << power)
    ]
    best = pack(demands, capacity, width, "best")
    assert best.imbalance == min(packing.imbalance for packing in each)
    assert best in each


def test_default_rules_leave_vips_that_fit_without_a_rule() -> None:
    demands = [Demand([1, 1, 1, 1], 5), Demand([0, 0, 3, 1], 2), Demand([1, 2, 0, 1])]
    found = pack(demands, 6, 4, 2)
    assert [len(rules) for rules in found.rules] == [0, 1, 1]
    assert found.defaults == tuple(Rule(block, 2, block) for block in range(4))
    assert found.imbalance == 0
    assert found.used == 6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pack([], 9, 4), "demands: none: expected one at least"),
        (
            lambda: pack([Demand([1, 1])] * 3, 2, 4),
            "capacity: 2: expected at least 3, one for each",
        ),
        (lambda: pack([Demand([1] * 4)], 3, 4, 2), "capacity: 3: expected at least 4, for the def"),
        (lambda: pack([Demand([1])], 0, 4), "capacity: 0: expected an integer >= 1"),
        (lambda: pack([Demand([1])], True, 4), "capacity: True: expected"),
        (lambda: pack([Demand([1]), Demand([1], 0)], 9, 4), r"demands\[1\]: traffic: 0: expected"),
        (lambda: pack([Demand([1], 0.5)], 9, 4), "traffic: 0.5: expected an integer or Fraction"),  # type: ignore[arg-type]
        (lambda: pack([Demand([0])], 9, 4), "weights: all are zero"),
        (lambda: pack([Demand([1] * 4), Demand([1] * 3)], 9, 4, 2), "power: 2: expected 0 to 1"),
        (lambda: pack([Demand([1])], 9, 63), "width: 63"),
    ],
)
def test_what_cannot_be_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
