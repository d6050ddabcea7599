"""Rules of a VIP over shared default rules, against trying everything."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.split.brute import fewest_over
from turnout.split import Rule, default_rules, over_defaults


def counts(rules: Sequence[Rule], width: int, targets: int, power: int) -> list[int]:
    """Addresses of each target, one by one: the longest rule of the VIP, else the default."""
    found = [0] * targets
    for address in range(1 << width):
        matching = [rule for rule in rules if address >> width - rule.length == rule.prefix]
        if not matching:
            matching = [default_rules(power)[address >> width - power]]
        found[max(matching, key=lambda rule: rule.length).target] += 1
    return found


@pytest.mark.parametrize(
    ("width", "targets", "power"),
    [
        (w, k, p)
        for w in range(5)
        for k in range(1, 5)
        for p in range(3)
        if k <= 1 << w and p <= w and 1 << p <= k
    ],
)
def test_every_partition_has_the_fewest(width: int, targets: int, power: int) -> None:
    for partition, least in fewest_over(width, targets, power).items():
        rules = over_defaults(partition, width, power)
        assert len(rules) == least, partition
        assert len({rule[:2] for rule in rules}) == least
        assert counts(rules, width, targets, power) == list(partition)


def test_eight_blocks() -> None:
    for partition, least in [*fewest_over(3, 8, 3).items()][::11]:
        assert len(over_defaults(partition, 3, 3)) == least, partition


def test_a_rule_may_cover_several_default_blocks() -> None:
    assert over_defaults([0, 0, 12, 4], 4, 2) == [Rule(0, 1, 2)]
    assert over_defaults([0, 0, 0, 16], 4, 2) == [Rule(0, 0, 3)]
    assert over_defaults([4, 4, 4, 4], 4, 2) == []


@settings(max_examples=60)
@given(st.data())
def test_more_blocks_and_targets_than_can_be_tried(data: st.DataObject) -> None:
    width = data.draw(st.integers(3, 9))
    targets = data.draw(st.integers(2, 9).filter(lambda k: k <= 1 << width))
    power = data.draw(st.integers(0, targets.bit_length() - 1))
    whole = 1 << width
    cuts = data.draw(st.lists(st.integers(0, whole), min_size=targets - 1, max_size=targets - 1))
    edges = [0, *sorted(cuts), whole]
    partition = [b - a for a, b in pairwise(edges)]
    rules = over_defaults(partition, width, power)
    assert counts(rules, width, targets, power) == partition
    # One rule for all addresses, and no default counts.
    assert len(rules) <= len(over_defaults(partition, width, 0)) + 1


@pytest.mark.parametrize("power", [-1, 3, True, 1.5])
def test_a_power_of_too_many_default_rules_is_refused(power: Any) -> None:
    with pytest.raises(ValueError, match=r"power: .*: expected 0 to 2 for 5 targets and width 4"):
        over_defaults([4, 4, 4, 4, 0], 4, power)
    with pytest.raises(ValueError, match=r"power: .*: expected 0 to 2 for 4 targets and width 2"):
        over_defaults([1, 1, 1, 1], 2, power)
