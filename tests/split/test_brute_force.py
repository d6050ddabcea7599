"""Everything small, against trying everything."""

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.split.brute import curve, error, fewest_rules
from turnout.split import (
    NORMS,
    Norm,
    approximate,
    count,
    evaluate,
    exact,
    fewest,
    from_transactions,
    function,
    signed_bits,
    to_transactions,
    two,
)
from turnout.split.two import least_around

ALL = [(width, targets) for width in range(5) for targets in range(1, 5) if targets <= 1 << width]


@pytest.mark.parametrize(("width", "targets"), ALL)
def test_exact_is_fewest_for_every_partition(width: int, targets: int) -> None:
    for partition, least in fewest_rules(width, targets).items():
        assert count(partition, width) == least
        for method in ("bit_matcher", "niagara", "super_states"):
            found = exact(partition, width, method)
            assert len(found) == least
            assert evaluate(found, width, targets) == list(partition)
            again = from_transactions(to_transactions(found))
            assert len(again) == least
            assert evaluate(again, width, targets) == list(partition)


@pytest.mark.parametrize(
    ("width", "targets", "sizes"),
    [
        (8, 2, {1: 2, 2: 15, 3: 72, 4: 120, 5: 48}),
        (5, 3, {1: 3, 2: 27, 3: 138, 4: 279, 5: 111, 6: 3}),
        (4, 4, {1: 4, 2: 42, 3: 228, 4: 465, 5: 216, 6: 14}),
        (3, 8, {1: 8, 2: 140, 3: 1064, 4: 2618, 5: 1960, 6: 588, 7: 56, 8: 1}),
    ],
)
def test_how_many_partitions_need_how_many_rules(
    width: int, targets: int, sizes: dict[int, int]
) -> None:
    whole = 1 << width
    partitions = (
        (*first, whole - sum(first))
        for first in product(range(whole + 1), repeat=targets - 1)
        if sum(first) <= whole
    )
    assert Counter(count(partition, width) for partition in partitions) == sizes


@pytest.mark.parametrize(
    ("width", "targets", "norm", "sums"),
    [
        (3, 3, "linf", "123 33 3 0"),
        (3, 3, "linf_plus", "123 30 3 0"),
        (3, 3, "l1", "246 66 6 0"),
        (3, 3, "linf_plus_rel", "982/35 37/5 1 0"),
        (3, 3, "linf_rel", "44 23 1 0"),
        (4, 3, "linf", "891 273 66 3 0"),
        (4, 3, "linf_plus_rel", "306874/3003 66081/2002 3499/385 1/2 0"),
        (4, 3, "linf_rel", "1108/7 3887/35 561/35 3/5 0"),
    ],
)
def test_sums_of_the_least_errors(width: int, targets: int, norm: Norm, sums: str) -> None:
    partitions = list(fewest_rules(width, targets))
    for budget, total in enumerate(sums.split(), 1):
        errors = (approximate(p, width, budget, norm).error for p in partitions)
        assert sum(errors) == Fraction(total)


weights = st.lists(
    st.one_of(st.integers(0, 20), st.fractions(0, 5, max_denominator=12)), min_size=1, max_size=4
).filter(any)


@settings(max_examples=150)
@given(weights, st.integers(2, 4), st.sampled_from(NORMS))
def test_the_best_for_every_budget(wanted: list[Fraction], width: int, norm: Norm) -> None:
    exactly = [Fraction(weight) * (1 << width) / sum(map(Fraction, wanted)) for weight in wanted]
    sizes = fewest_rules(width, len(wanted))
    for budget, least in enumerate(curve(norm, width, exactly), 1):
        split = approximate(wanted, width, budget, norm)
        assert split.error == least
        assert error(norm, split.partition, exactly) == least
        assert split.requested == tuple(exactly)
        assert len(split.rules) <= budget
        assert evaluate(split.rules, width, len(wanted)) == list(split.partition)
        within = fewest(wanted, width, norm, least)
        assert within is not None
        assert within.error <= least
        assert len(within.rules) == min(
            size
            for partition, size in sizes.items()
            if (e := error(norm, partition, exactly)) is not None and e <= least
        )


@pytest.mark.parametrize("width", range(8))
def test_two_targets(width: int) -> None:
    whole = 1 << width
    sizes = {c: count((c, whole - c), width) for c in range(whole + 1)} if width else {0: 1, 1: 1}
    for c in range(whole + 1):
        assert len(two(c, whole - c)) == sizes[c]
        for budget in range(1, 6):
            found = two(c, whole - c, budget)
            assert two(c, whole - c, budget, "ranges") == found
            assert len(found) <= budget
            got = evaluate(found, width, 2)[0] if width else c
            assert abs(got - c) == min(abs(d - c) for d, size in sizes.items() if size <= budget)


def test_two_targets_where_truncation_is_not_best() -> None:
    """75 = 64 + 16 - 4 - 1 begins with 80; nearer is 72."""
    for method in ("floors", "ranges"):
        assert evaluate(two(75, 53, 3, method), 7, 2) == [72, 56]


@given(st.integers(1, 62).flatmap(lambda w: st.tuples(st.just(w), st.integers(1, 1 << w))))
def test_both_ways_for_two_targets_of_any_width(case: tuple[int, int]) -> None:
    width, c = case
    for budget in range(1, 12):
        floors, ranges = (two(c, (1 << width) - c, budget, m) for m in ("floors", "ranges"))
        assert floors == ranges


@given(st.integers(0, 1 << 12))
def test_signed_bits_are_fewest_at_the_middle_of_each_range(c: int) -> None:
    ranges = [*least_around(c, 12)]
    assert len(ranges) <= 13
    for y in ranges:
        reach = y & -y
        assert abs(y - c) < reach
        around = [signed_bits.weight(z) for z in range(y - reach, y + reach + 1)]
        assert min(around[1:-1]) == signed_bits.weight(y)
        assert min(around) == signed_bits.weight(y) - 1


@given(
    st.integers(0, 4).flatmap(
        lambda w: st.lists(st.integers(0, 3), min_size=1 << w, max_size=1 << w)
    )
)
def test_a_given_map_is_kept_with_the_fewest_rules(owners: list[int]) -> None:
    width = len(owners).bit_length() - 1
    found = function.fewest(owners)
    looked_up = [
        max(
            (rule for rule in found if address >> width - rule.length == rule.prefix),
            key=lambda rule: rule.length,
        ).target
        for address in range(len(owners))
    ]
    assert looked_up == owners
    assert len(found) == 1 + min(rules_below(owners, inherited) for inherited in range(4))


def rules_below(owners: list[int], inherited: int) -> int:
    """Suri et al., as it is written down: a node has a rule or has none."""
    if len(owners) == 1:
        return int(owners[0] != inherited)
    half = len(owners) // 2

    def both(target: int) -> int:
        return rules_below(owners[:half], target) + rules_below(owners[half:], target)

    return min(both(inherited), 1 + min(both(t) for t in range(4) if t != inherited))


@settings(max_examples=40)
@given(st.lists(st.integers(0, 1 << 30), min_size=1, max_size=7).filter(any), st.integers(3, 40))
def test_three_methods_agree_where_nothing_else_can_be_tried(
    weights: list[int], width: int
) -> None:
    partition = approximate(weights, width).partition
    tables = [exact(partition, width, m) for m in ("bit_matcher", "niagara", "super_states")]
    assert {len(table) for table in tables} == {count(partition, width)}
    for table in tables:
        assert evaluate(table, width, len(weights)) == list(partition)
