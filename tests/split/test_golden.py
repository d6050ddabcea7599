"""The golden cases."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from turnout.split import (
    NORMS,
    Rule,
    approximate,
    churn,
    count,
    evaluate,
    exact,
    fewest,
    signed_bits,
    wcmp,
)

CASES = json.loads((Path(__file__).parent / "golden.json").read_text())["cases"]


def of(*kinds: str) -> pytest.MarkDecorator:
    """The cases of these kinds whose norm, where there is one, is one of NORMS."""
    found = [case for case in CASES if case["kind"] in kinds and case.get("norm", "l1") in NORMS]
    assert found
    return pytest.mark.parametrize("case", found, ids=lambda case: case["id"])


def weights(case: dict[str, Any]) -> list[Fraction]:
    return [Fraction(weight) for weight in case["weights"]]


def rules(rows: list[list[int]]) -> list[Rule]:
    return [Rule(*row) for row in rows]


@pytest.mark.parametrize("method", ["bit_matcher", "niagara"])
@of("exact")
def test_exact(case: dict[str, Any], method: Any) -> None:
    found = exact(case["partition"], case["width"], method)
    assert len(found) == case["rules"] == count(case["partition"], case["width"])
    assert evaluate(found, case["width"], len(case["partition"])) == case["partition"]


@of("approx")
def test_best_within_a_budget(case: dict[str, Any]) -> None:
    split = approximate(weights(case), case["width"], case["n"], case["norm"])
    assert split.error == Fraction(case["error"])
    assert case["n"] is None or len(split.rules) <= case["n"]
    assert evaluate(split.rules, case["width"], len(split.requested)) == list(split.partition)


@of("curve")
def test_curve(case: dict[str, Any]) -> None:
    for budget, error in enumerate(case["errors"], 1):
        split = approximate(weights(case), case["width"], budget, case["norm"])
        assert split.error == Fraction(error)


@of("dual")
def test_fewest_within_an_error(case: dict[str, Any]) -> None:
    split = fewest(weights(case), case["width"], case["norm"], Fraction(case["max_error"]))
    assert (None if split is None else len(split.rules)) == case["rules"]
    assert split is None or split.error <= Fraction(case["max_error"])


@of("phi")
def test_signed_bits(case: dict[str, Any]) -> None:
    for value, weight in zip(case["values"], case["phi"], strict=True):
        assert signed_bits.weight(value) == len(signed_bits.naf(value)) == weight
        assert sum(signed_bits.naf(value)) == value


@of("eval")
def test_evaluation(case: dict[str, Any]) -> None:
    if case["partition"] is None:
        with pytest.raises(ValueError, match="expected"):
            evaluate(rules(case["rules"]), case["width"], case["k"])
    else:
        assert evaluate(rules(case["rules"]), case["width"], case["k"]) == case["partition"]


@of("churn")
def test_churn(case: dict[str, Any]) -> None:
    assert churn(rules(case["old"]), rules(case["new"]), case["width"]) == case["moved"]


@of("wcmp")
def test_wcmp(case: dict[str, Any]) -> None:
    assert wcmp.entries(case["partition"]) == case["entries"]
