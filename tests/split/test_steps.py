"""Plans of steps: every step counted address by address."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.split import Rule, approximate, churn, function, plan

EVERY = [Rule(0, 0, 0)]


def looked_up(rules: list[Rule], width: int) -> list[int]:
    """The target of each address: that of the longest rule that matches."""
    return [
        max(
            (rule for rule in rules if address >> width - rule.length == rule.prefix),
            key=lambda rule: rule.length,
        ).target
        for address in range(1 << width)
    ]


@given(st.data())
def test_every_step_is_within_the_bound_and_the_last_is_the_new_table(data: st.DataObject) -> None:
    width = data.draw(st.integers(0, 6))
    whole = 1 << width
    owners = st.lists(st.integers(0, 3), min_size=whole, max_size=whole)
    old, new = (function.fewest(data.draw(owners)) for _ in range(2))
    limit = data.draw(st.integers(1, whole))
    share = Fraction(limit, whole)
    if limit < whole and data.draw(st.booleans()):
        share += Fraction(1, 3 * whole)  # a third of an address is none
    tables = plan(old, new, width, share)
    assert tables[-1] == new
    assert len(tables) == max(1, -(-churn(old, new, width) // limit))
    maps = [looked_up(table, width) for table in [old, *tables]]
    for table, was, becomes, before in zip(tables, maps, maps[1:], [old, *tables], strict=False):
        moves = sum(a != b for a, b in zip(was, becomes, strict=True))
        assert moves == churn(before, table, width)
        assert moves <= limit
        assert len(table) <= len(old) + len(new) + width
    # No address moves twice: at every step it is where it was or where it will be.
    for address, (first, last) in enumerate(zip(maps[0], maps[-1], strict=True)):
        places = [step[address] for step in maps]
        assert (
            places == [first] * places.count(first) + [last] * places.count(last) or first == last
        )


@given(
    st.lists(st.integers(0, 99), min_size=3, max_size=3).filter(any),
    st.lists(st.integers(0, 99), min_size=3, max_size=3).filter(any),
    st.integers(10, 62),
    st.integers(2, 20),
)
def test_wide_keys(before: list[int], after: list[int], width: int, steps: int) -> None:
    old, new = (list(approximate(weights, width, 12).rules) for weights in (before, after))
    tables = plan(old, new, width, Fraction(1, steps))
    assert tables[-1] == new
    assert len(tables) == max(1, -(-churn(old, new, width) // ((1 << width) // steps)))
    for one, other in zip([old, *tables], tables, strict=False):
        assert churn(one, other, width) * steps <= 1 << width
        assert len(other) <= len(old) + len(new) + width


def test_steps_end_where_little_is_cut() -> None:
    """Half of the addresses move, in up to 3/16 a step: 3 steps, whose ends are free within 1/16."""
    tables = plan(EVERY, [Rule(0, 1, 1), *EVERY], 10, Fraction(3, 16))
    assert [len(table) for table in tables] == [2, 3, 2]


@pytest.mark.parametrize(
    ("share", "message"),
    [
        (Fraction(1, 17), "max_churn: 1/17: expected at least 1/16, one address of 4 bits"),
        (0, "max_churn: 0: expected at least 1/16"),
        (2, "max_churn: 2: expected an integer or Fraction, 0 to 1"),
        (0.5, "max_churn: 0.5: expected"),
    ],
)
def test_a_bound_that_is_none_is_refused(share: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan(EVERY, EVERY, 4, share)


def test_tables_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="address 8 matches none"):
        plan(EVERY, [Rule(0, 1, 0)], 4, 1)
    with pytest.raises(ValueError, match="width: 63"):
        plan(EVERY, EVERY, 63, 1)
