"""New weights with few addresses moved: what is found is counted address by address, and held to the
fewest rules and the least churn that there can be."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnout.split import (
    Rule,
    approximate,
    count,
    evaluate,
    fewest,
    front,
    function,
    least_churn,
    update,
)
from turnout.split.model import Weight

WIDTHS = st.integers(2, 7)


@st.composite
def changes(draw: st.DrawFn) -> tuple[list[Rule], list[Weight], int]:
    """(old table, weights, width): the table that of a split, or of any map of addresses."""
    width = draw(WIDTHS)
    targets = draw(st.integers(1, 4))
    weights: st.SearchStrategy[list[Weight]] = st.lists(
        st.integers(0, 30) | st.fractions(0, 9, max_denominator=7),
        min_size=targets,
        max_size=targets,
    ).filter(any)
    if draw(st.booleans()):
        old = list(approximate(draw(weights), width, draw(st.integers(1, 9))).rules)
    else:
        owners = st.lists(st.integers(0, targets - 1), min_size=1 << width, max_size=1 << width)
        old = function.fewest(draw(owners))
    return old, draw(weights), width


def owners(rules: Iterable[Rule], width: int) -> list[int]:
    table = {(rule.length, rule.prefix): rule.target for rule in rules}
    return [
        next(
            table[length, address >> width - length]
            for length in range(width, -1, -1)
            if (length, address >> width - length) in table
        )
        for address in range(1 << width)
    ]


@settings(max_examples=60)
@given(changes())
def test_a_front_is_of_legal_tables_and_none_is_for_nothing(
    change: tuple[list[Rule], list[Weight], int],
) -> None:
    old, weights, width = change
    found = front(old, weights, width)
    was, best = owners(old, width), approximate(weights, width, None, "l1")
    had = evaluate(old, width, len(weights))
    for one in found:
        becomes = owners(one.split.rules, width)
        assert list(one.split.partition) == [becomes.count(t) for t in range(len(weights))]
        assert one.churn == sum(a != b for a, b in zip(was, becomes, strict=True))
        assert one.churn >= least_churn(had, one.split.partition)
        assert one.split.error == best.error
    sizes, churns = [len(one.split.rules) for one in found], [one.churn for one in found]
    assert sizes == sorted(set(sizes))
    assert churns == sorted(set(churns), reverse=True)
    # Its ends: as few rules as from scratch, and what nobody can do without moving.
    assert sizes[0] <= len(best.rules)
    assert sizes[0] >= count(found[0].split.partition, width)
    if best.error == 0:
        assert churns[-1] == least_churn(had, best.partition)


@settings(max_examples=30)
@given(changes(), st.fractions(0, 1, max_denominator=50), st.integers(1, 9))
def test_an_update_keeps_to_every_bound(
    change: tuple[list[Rule], list[Weight], int], share: Fraction, budget: int
) -> None:
    old, weights, width = change
    whole = 1 << width
    least = min(one.churn for one in front(old, weights, width))
    one = update(old, weights, width, Fraction(least, whole))
    assert one.churn == least
    # Where all may move, the budget gives the least error and an error the fewest rules.
    best = update(old, weights, width, 1, budget=budget)
    assert best.split.error == approximate(weights, width, budget, "l1").error
    assert len(best.split.rules) <= budget
    few = fewest(weights, width, "l1", share * whole)
    if few is None:
        with pytest.raises(ValueError, match=r"^max_error .*: no table of"):
            update(old, weights, width, 1, max_error=share)
    else:
        within = update(old, weights, width, 1, max_error=share)
        assert within.split.error <= share * whole
        assert len(within.split.rules) == len(few.rules)
        bounded = update(old, weights, width, 1, max_error=share, budget=len(few.rules))
        assert len(bounded.split.rules) == len(few.rules)


def test_the_same_weights_move_nothing() -> None:
    old = approximate([3, 5, 11], 12)
    assert update(old.rules, [3, 5, 11], 12, 0).churn == 0


def test_the_example_of_the_paper() -> None:
    """Its program keeps 8 of the old rules for a churn of .297 with 12 rules, 4 for .305 with 7 and 4
    default rules."""
    width = 16
    old = approximate([2, 4, 1, 3], width, 8, "l1").rules
    found = front(old, [33, 11, 24, 32], width, max_error=Fraction(1, 100))
    points = [(len(one.split.rules), round(one.churn / 2**width, 4), one.kept) for one in found]
    assert points == [(7, 0.3125, 3), (10, 0.2891, 7), (11, 0.2842, 8)]
    assert len(fewest([33, 11, 24, 32], width, "l1", Fraction(2**width, 100)).rules) == 7  # type: ignore[union-attr]


HALVES = [Rule(1, 1, 1), Rule(0, 0, 0)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: update(HALVES, [1, 3], 3, Fraction(1, 8)),
            "max_churn: 1/8: expected at least 1/4",
        ),
        (lambda: update(HALVES, [1, 3], 3, 2), "max_churn: 2: expected an integer or Fraction, 0"),
        (lambda: update(HALVES, [1, 3], 3, -1), "max_churn: -1: expected"),
        (lambda: update(HALVES, [1, 3], 3, 0.5), "max_churn: 0.5: expected"),  # type: ignore[arg-type]
        (lambda: front(HALVES, [1, 3], 3, max_error=2), "max_error: 2: expected"),
        (lambda: front(HALVES, [1, 3], 3, budget=0), "budget: 0: expected"),
        (
            lambda: front(HALVES, [1, 3], 3, 1, Fraction(1, 9)),
            "budget 1 and max_error 1/9: no table",
        ),
        (lambda: front(HALVES, [1], 3), "target: 1: expected 0 to 0"),
        (lambda: front(HALVES[:1], [1, 1], 3), "address 0 matches none"),
        (lambda: front(HALVES, [1, 1], 63), "width: 63"),
        (lambda: front(HALVES, [0, 0], 3), "weights: all are zero"),
    ],
)
def test_what_cannot_be_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_a_table_without_a_match_all_rule_and_a_target_that_leaves() -> None:
    old = [Rule(0, 1, 0), Rule(2, 2, 1), Rule(3, 2, 2)]
    found = update(old, [1, 0, 1], 4, Fraction(1, 4))
    assert owners(found.split.rules, 4) == [0] * 8 + [2] * 8
