"""Truncations: what they cost, and where the conjecture of ToN 2020, section VI, fails."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.split import NORMS, Norm, approximate, evaluate, exact

HEURISTICS = st.sampled_from(["niagara", "bit_matcher"])


@pytest.mark.parametrize(
    ("partition", "width", "budget", "truncated", "best"),
    [
        ((364, 44, 25, 25, 25, 374, 142, 25), 10, 2, 370, 148),
        ((651, 869, 969, 625, 982), 12, 5, 399, 155),
    ],
)
def test_bit_matcher_truncated_is_more_than_twice_the_optimum(
    partition: tuple[int, ...], width: int, budget: int, truncated: int, best: int
) -> None:
    assert approximate(partition, width, budget, heuristic="bit_matcher").error == truncated
    assert approximate(partition, width, budget).error == best


def test_of_equal_steps_niagara_takes_the_largest() -> None:
    """With the smallest, the largest error of three rules would be 3."""
    assert approximate([1, 1, 1, 1, 1, 3], 3, 3, heuristic="niagara").error == 1


@given(
    st.lists(st.fractions(0, 9, max_denominator=7), min_size=1, max_size=9).filter(any),
    st.integers(4, 20),
    st.integers(1, 12),
    st.sampled_from(NORMS),
    HEURISTICS,
)
def test_no_truncation_beats_the_optimum(
    weights: list[Fraction], width: int, budget: int, norm: Norm, heuristic: str
) -> None:
    cut = approximate(weights, width, budget, norm, heuristic)  # type: ignore[arg-type]
    assert len(cut.rules) <= budget
    assert evaluate(cut.rules, width, len(weights)) == list(cut.partition)
    assert cut.error >= approximate(weights, width, budget, norm).error


@given(
    st.lists(st.integers(0, 99), min_size=1, max_size=9).filter(any),
    st.integers(4, 20),
    HEURISTICS,
)
def test_without_a_budget_nothing_is_cut(weights: list[int], width: int, heuristic: str) -> None:
    whole = approximate(weights, width, None, "linf", heuristic)  # type: ignore[arg-type]
    assert len(whole.rules) == len(exact(whole.partition, width))
    assert whole.error < 1


def test_another_heuristic_is_refused() -> None:
    with pytest.raises(ValueError, match="heuristic: 'wcmp': expected 'niagara' or 'bit_matcher'"):
        approximate([1, 2], 4, 2, "linf", "wcmp")  # type: ignore[arg-type]
