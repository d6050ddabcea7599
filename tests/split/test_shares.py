"""What each target should have, held to fractions, for weights of any size."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from turnout.split import approximate, count, error_of
from turnout.split.model import MAX_WIDTH, shares

WEIGHTS = st.lists(
    st.integers(0, 5) | st.integers(0, 1 << 31) | st.integers((1 << 61) - 3, 1 << 66),
    min_size=1,
    max_size=8,
).filter(any)
WIDTHS = st.integers(3, 6) | st.integers(30, 34) | st.integers(MAX_WIDTH - 1, MAX_WIDTH)


@given(WEIGHTS, WIDTHS)
def test_they_are_exact_whatever_the_size_of_weights(weights: list[int], width: int) -> None:
    wanted = shares(weights, width)
    exact = [Fraction(weight << width, sum(weights)) for weight in weights]
    assert [*wanted] == exact
    whole, rest = (side.tolist() for side in wanted.divided)
    assert whole == [int(share) for share in exact]
    assert [Fraction(left, wanted.scale) for left in rest] == [share % 1 for share in exact]


@given(WEIGHTS, WIDTHS, st.data())
def test_the_largest_errors_are_those_of_fractions(
    weights: list[int], width: int, data: st.DataObject
) -> None:
    wanted = shares(weights, width)
    got = [data.draw(st.integers(0, 1 << width)) for _ in weights]
    over = [has - share for has, share in zip(got, wanted, strict=True)]
    assert error_of(got, wanted, "linf_plus") == max(over)
    assert error_of(got, wanted, "linf") == max(map(abs, over))


@given(WEIGHTS, WIDTHS)
def test_without_a_limit_no_target_is_a_whole_address_off(weights: list[int], width: int) -> None:
    split = approximate(weights, width)
    assert split.error < 1
    # Nor does it take a rule less, at no more error.
    rules = len(split.rules)
    assert rules == count(split.partition, width)
    if rules > 1:
        assert approximate(weights, width, rules - 1).error > split.error
