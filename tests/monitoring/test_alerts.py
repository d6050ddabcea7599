"""Every alert asks for what a daemon exports, and says what to do."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser as promql
import pytest
import yaml

from tests.monitoring.promql import Exported, labels
from turnout.core import reasons

FILE = Path(__file__).parents[2] / "monitoring" / "alerts.yaml"
RULES: list[dict[str, Any]] = [
    rule for group in yaml.safe_load(FILE.read_text())["groups"] for rule in group["rules"]
]

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])


@each_rule
def test_its_query_and_the_labels_that_it_tells(
    rule: dict[str, Any], metrics: dict[str, Exported]
) -> None:
    found = labels(rule["expr"], metrics)
    assert found is not None, "a number is always there: the alert would never end"
    told = re.findall(r"\$labels\.(\w+)", " ".join(rule["annotations"].values()))
    assert set(told) <= set(found)


@each_rule
def test_a_name_that_is_not_exported_is_found(
    rule: dict[str, Any], metrics: dict[str, Exported]
) -> None:
    asked = set(re.findall(r"turnout_\w+", rule["expr"]))
    for name in asked:
        others = {one: metric for one, metric in metrics.items() if one != name}
        with pytest.raises(ValueError, match=f"no metric {name}"):
            labels(rule["expr"], others)


@each_rule
def test_it_has_all_that_an_operator_needs(rule: dict[str, Any]) -> None:
    assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
    assert re.fullmatch(r"Turnout[A-Za-z]+", rule["alert"])
    assert promql.parse_duration(rule["for"]).total_seconds() >= 60
    assert rule["labels"] in ({"severity": "critical"}, {"severity": "warning"})
    assert set(rule["annotations"]) == {"summary", "description"}
    assert len(rule["annotations"]["description"]) > len(rule["annotations"]["summary"])


def test_no_two_of_one_name() -> None:
    names = [rule["alert"] for rule in RULES]
    assert len(names) == len(set(names))


def test_every_reason_to_drop_is_watched_by_one_alert() -> None:
    watched = [matcher for rule in RULES for matcher in _reasons(promql.parse(rule["expr"]))]
    dropped = [reason.name for reason in reasons() if reason.verdict == "DROP"]
    for name in dropped:
        assert sum(bool(re.fullmatch(pattern, name)) for pattern in watched) == 1, name
    passed = {reason.name for reason in reasons()} - set(dropped)
    assert not [name for name in passed for one in watched if re.fullmatch(one, name)]


def _reasons(expression: promql.Expr) -> Iterator[str]:
    """What it selects by the label `reason`."""
    selectors: list[promql.VectorSelector] = []

    def visit(node: promql.Expr) -> None:
        if isinstance(node, promql.MatrixSelector):
            selectors.append(node.vector_selector)

    promql.walk(expression, visit)
    for selector in selectors:
        yield from (one.value for one in selector.matchers.matchers if one.name == "reason")
