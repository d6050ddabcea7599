"""What is refused, with the value and the limit; nothing is clamped."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from turnout.split import (
    Rule,
    Transaction,
    approximate,
    churn,
    evaluate,
    exact,
    fewest,
    from_transactions,
    function,
    signed_bits,
    to_transactions,
    two,
    wcmp,
)

NAN: Any = float("nan")
ANY: Any = "any"


@pytest.mark.parametrize("width", [-1, 63, 1.5, True, NAN, None, "8"])
def test_width(width: Any) -> None:
    for call in (
        lambda: approximate([1, 1], width, 3, "linf"),
        lambda: exact([1, 1], width),
        lambda: fewest([1, 1], width, "linf", 1),
        lambda: evaluate([Rule(0, 0, 0)], width, 1),
        lambda: churn([Rule(0, 0, 0)], [Rule(0, 0, 0)], width),
    ):
        with pytest.raises(ValueError, match=r"width: .*0 to 62"):
            call()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([], "targets: 0: expected 1 to 16 for width 4"),
        ([1] * 17, "targets: 17: expected 1 to 16 for width 4"),
        ([0, 0], "weights: all are zero: expected one above 0"),
        ([1, -1], r"weights\[1\]: -1: expected an integer or Fraction >= 0"),
        ([NAN, 1], r"weights\[0\]: nan: expected"),
        ([1, 0.5], r"weights\[1\]: 0.5: expected"),
        ([True, 1], r"weights\[0\]: True: expected"),
    ],
)
def test_weights(weights: list[Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        approximate(weights, 4, 3, "linf")
    with pytest.raises(ValueError, match=message):
        fewest(weights, 4, "l1", 1)


@pytest.mark.parametrize(
    ("partition", "message"),
    [
        ([8, 7], "partition: sum 15: expected 16"),
        ([17, -1], r"partition\[1\]: -1: expected an integer >= 0"),
        ([8.0, 8], r"partition\[0\]: 8.0: expected"),
        ([], "targets: 0"),
        ([1] * 17, "targets: 17"),
    ],
)
def test_partition(partition: list[Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        exact(partition, 4)


@pytest.mark.parametrize("budget", [0, -3, 2.5, True])
def test_budget(budget: Any) -> None:
    with pytest.raises(ValueError, match=r"budget: .*expected an integer >= 1"):
        approximate([1, 2], 4, budget, "linf")
    with pytest.raises(ValueError, match=r"budget: .*expected an integer >= 1"):
        two(5, 3, budget)


def test_names() -> None:
    with pytest.raises(ValueError, match="norm: 'any': expected one of linf, "):
        approximate([1, 2], 4, 3, ANY)
    with pytest.raises(ValueError, match="norm: 'any': expected one of linf, "):
        fewest([1, 2], 4, ANY, 1)
    with pytest.raises(ValueError, match="method: 'any': expected 'bit_matcher'"):
        exact([8, 8], 4, ANY)
    with pytest.raises(ValueError, match="method: 'any': expected 'floors' or 'ranges'"):
        two(8, 8, 2, ANY)
    with pytest.raises(ValueError, match="max_error: -1: expected 0 or more"):
        fewest([1, 2], 4, "linf", -1)
    for error in (NAN, NAN * 0, ANY):
        with pytest.raises(ValueError, match=r"max_error: .*: expected"):
            fewest([1, 2], 4, "linf", error)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([], "address 0 matches none"),
        ([Rule(0, 1, 0)], "address 8 matches none"),
        ([Rule(1, 1, 0)], "address 0 matches none"),
        ([Rule(0, 0, 0), Rule(0, 0, 1)], "prefix 0 of length 0 twice"),
        ([Rule(0, 0, 0), Rule(2, 1, 0)], "rule prefix: 2: expected 0 to 1"),
        ([Rule(0, 0, 0), Rule(0, 5, 0)], "rule length: 5: expected 0 to 4"),
        ([Rule(0, 0, 2)], "target: 2: expected 0 to 1"),
        ([Rule(0, 0, -1)], "target: -1: expected"),
        ([Rule(0, 0, 2), Rule(0, 1, 0), Rule(1, 1, 1)], "target: 2: expected 0 to 1"),
    ],
)
def test_tables(rules: list[Rule], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(rules, 4, 2)


def test_other_arguments() -> None:
    for call, message in (
        (lambda: two(3, 4), "c1 \\+ c2: 7: expected a power of two"),
        (lambda: two(9, -1), r"partition\[1\]: -1"),
        (lambda: signed_bits.naf(-1), "x: -1: expected"),
        (lambda: signed_bits.weight(-1), "x: -1: expected"),
        (lambda: function.fewest([0, 1, 0]), "owners: 3: expected a power of two"),
        (lambda: function.fewest([0, -1]), r"owners\[1\]: -1: expected 0 or more"),
        (lambda: wcmp.entries([0, 0]), "expected integers >= 0"),
        (lambda: wcmp.reduce([1, 2], 1), "size: 1: expected at least 2"),
        (lambda: to_transactions([Rule(0, 1, 0)]), "no match-all rule"),
        (lambda: from_transactions([]), "exactly one without a taker"),
        (
            lambda: from_transactions([Transaction(0, 0, None), Transaction(63, 1, 0)]),
            "length 63: expected 0 to 62",
        ),
        (
            lambda: from_transactions([Transaction(-1, 0, None)]),
            "length -1: expected 0 to 62",
        ),
        (
            lambda: exact([2] * 8 + [0] * 3, 4, "super_states"),
            "targets: 11: expected at most 10 for 'super_states'",
        ),
        (
            lambda: from_transactions([Transaction(0, 0, None), Transaction(1, 0, 1)]),
            "target 1 has no block",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_what_is_large_and_legal_is_exact() -> None:
    """The widest key, one address against all others, numpy's integers, huge rationals."""
    whole = 1 << 62
    assert len(exact([1, whole - 1], 62)) == 2
    assert evaluate(exact(list(np.array([1, 3])), 2), 2, 2) == [1, 3]
    split = approximate([Fraction(1, 10**40), 10**40], 62, None, "linf")
    assert split.partition == (0, whole)
    assert split.error == whole * Fraction(1, 10**80 + 1)
    assert approximate([1] * 16, 4, None, "linf").error == 0
    assert approximate([5], 0, 1, "linf_plus_rel").rules == (Rule(0, 0, 0),)
