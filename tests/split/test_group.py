"""VIPs in groups."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.split import Demand, evaluate, group, imbalance, pack

DEMANDS = st.lists(
    st.builds(
        Demand,
        st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(any),
        st.integers(1, 30) | st.fractions(Fraction(1, 9), 9, max_denominator=9),
    ),
    min_size=1,
    max_size=12,
)


def parts(demand: Demand) -> list[Fraction]:
    total = sum(map(Fraction, demand.weights))
    return [Fraction(weight) / total for weight in demand.weights]


@given(DEMANDS, st.integers(1, 14))
def test_groups_are_means_and_each_vip_is_in_the_nearest(
    demands: list[Demand], groups: int
) -> None:
    found = group(demands, groups)
    assert found == group(demands, groups)
    distinct = {tuple(parts(demand)) for demand in demands}
    assert len(found.tags) == len(demands)
    assert set(found.tags) == set(range(len(found.demands)))
    assert len(found.demands) <= min(groups, len(distinct))
    if groups >= len(distinct):
        assert {tuple(parts(demand)) for demand in found.demands} == distinct
    for tag, mean in enumerate(found.demands):
        inside = [d for d, its in zip(demands, found.tags, strict=True) if its == tag]
        assert mean.traffic == sum(Fraction(d.traffic) for d in inside)
        for target, part in enumerate(parts(mean)):
            heavy = sum(d.traffic * parts(d)[target] for d in inside)
            assert part == heavy / mean.traffic
    for demand, tag in zip(demands, found.tags, strict=True):
        far = [
            float(sum((a - b) ** 2 for a, b in zip(parts(demand), parts(mean), strict=True)))
            for mean in found.demands
        ]
        assert far[tag] <= min(far) + 1e-9


def test_what_is_alike_shares_rules() -> None:
    """Two kinds of VIP, 40 of each, in 16 rules: in groups nearly exact, without far from it."""
    draw = np.random.default_rng(1)
    kinds = ([800, 100, 100], [100, 200, 700])
    demands = [
        Demand([w + int(draw.integers(5)) for w in kinds[place % 2]], int(draw.integers(1, 99)))
        for place in range(80)
    ]
    found = group(demands, 2)
    assert found.tags in ((0, 1) * 40, (1, 0) * 40)
    packed = pack(found.demands, 16, 12)
    partitions = [evaluate(rules, 12, 3) for rules in packed.rules]
    for demand, tag in zip(demands, found.tags, strict=True):
        assert imbalance(demand.weights, partitions[tag], 12) < Fraction(1, 100)
    assert pack(demands, 80, 12).imbalance > Fraction(1, 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: group([], 1), "demands: none"),
        (lambda: group([Demand([1])], 0), "groups: 0: expected an integer >= 1"),
        (lambda: group([Demand([1, 2]), Demand([1])], 1), r"demands\[1\]: 1 targets: expected 2"),
        (lambda: group([Demand([0, 0])], 1), "weights: all are zero"),
        (lambda: group([Demand([1], -1)], 1), "traffic: -1: expected"),
        (lambda: imbalance([1, 1], [8, 8, 0], 4), "partition: 3 targets: expected 2"),
        (lambda: imbalance([1, 1], [8, 7], 4), "partition: sum 15"),
    ],
)
def test_what_cannot_be_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
