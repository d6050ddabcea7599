"""The fewest rules of any partition in a box, against trying all of them."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.split.brute import fewest_rules
from turnout.split import approximate, box, count, evaluate
from turnout.split.layers import ONE, Layers


@st.composite
def boxes(draw: st.DrawFn) -> tuple[int, list[int], list[int]]:
    """Width, low, high; some targets have one value while others have room."""
    width, targets = draw(st.sampled_from([(3, 3), (4, 2), (4, 3), (4, 4), (5, 3)]))
    whole = 1 << width
    low = draw(st.lists(st.integers(0, whole // 2), min_size=targets, max_size=targets))
    room = draw(st.lists(st.integers(0, 6), min_size=targets, max_size=targets))
    return width, low, [bottom + more for bottom, more in zip(low, room, strict=True)]


def inside(partition: tuple[int, ...], low: list[int], high: list[int]) -> bool:
    return all(a <= x <= b for a, x, b in zip(low, partition, high, strict=True))


@settings(max_examples=300)
@given(boxes())
def test_no_partition_in_the_box_needs_fewer_rules(asked: tuple[int, list[int], list[int]]) -> None:
    width, low, high = asked
    sizes = [s for p, s in fewest_rules(width, len(low)).items() if inside(p, low, high)]
    found = box(low, high, width)
    if not sizes:
        assert found is None
    else:
        assert found is not None
        assert len(found) == min(sizes)
        assert inside(tuple(evaluate(found, width, len(low))), low, high)


@settings(max_examples=100)
@given(boxes(), st.lists(st.integers(-2 * ONE, 2 * ONE), min_size=5, max_size=5))
def test_the_bound_holds_at_any_prices(
    asked: tuple[int, list[int], list[int]], prices: list[int]
) -> None:
    width, low, high = asked
    sizes = {p: s for p, s in fewest_rules(width, len(low)).items() if inside(p, low, high)}
    if not sizes:
        return
    paths = Layers.of(np.array(low, np.int64), np.array(high, np.int64), width)
    asking = np.array(prices[:width], np.int64)
    assert paths.bound(asking) <= min(sizes.values())


@pytest.mark.parametrize("targets", [10, 40])
def test_a_box_around_many_targets(targets: int) -> None:
    """What is found for a tolerance has no more rules than what is known to fit it."""
    rng = np.random.default_rng(targets)
    weights = [int(weight) for weight in 1e6 * (rng.pareto(1.2, targets) + 0.1)]
    wanted = approximate(weights, 24).requested
    found = []
    for percent in (0, 1, 5, 20):
        low = [-(-part * (100 - percent) // (100 * wanted.scale)) for part in wanted.parts]
        high = [part * (100 + percent) // (100 * wanted.scale) for part in wanted.parts]
        if not percent:
            low, high = [int(w) for w in wanted], [int(w) + 1 for w in wanted]
        rules = box(low, high, 24)
        assert rules is not None
        got = evaluate(rules, 24, targets)
        assert inside(tuple(got), low, high)
        assert len(rules) == count(got, 24)
        found.append(len(rules))
    assert all(less <= more for more, less in pairwise(found))
    assert found[-1] < found[0] / 2


def test_fewer_rules_than_targets_leave_one_without_addresses() -> None:
    assert approximate([5, 4, 3], 8, 2, "linf_rel").error == 1
    assert approximate([5, 4, 0], 8, 2, "linf_rel").error == Fraction(1, 8)


@pytest.mark.parametrize(
    ("low", "high", "width", "message"),
    [
        ([0, 0], [1, 1, 1], 2, "high: 3 targets: expected 2"),
        ([0, -1], [4, 4], 2, r"low\[1\]: -1: expected an integer >= 0"),
        ([0, 0], [4, 1.5], 2, r"high\[1\]: 1.5: expected an integer >= 0"),
        ([], [], 2, "targets: 0: expected 1 to 4"),
        ([0] * 5, [4] * 5, 2, "targets: 5: expected 1 to 4"),
        ([0], [1], 63, "width: 63: expected 0 to 62"),
    ],
)
def test_what_is_no_box(low: list[int], high: list[int], width: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        box(low, high, width)


@pytest.mark.parametrize("high", [[4, 4], [1 << 70, 1 << 70]])
def test_ends_beyond_all_addresses_bind_nobody(high: list[int]) -> None:
    assert box([0, 0], high, 2) == [(0, 0, 0)] or box([0, 0], high, 2) == [(0, 0, 1)]
    assert box([5, 0], high, 2) is None
