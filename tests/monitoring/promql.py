"""What a PromQL expression yields, and whether it can be right about the metrics that there are.

Types and labels are found from the leaves up, by the rules of Prometheus (its manual: querying,
operators). What those rules allow but never yields anything, or nothing of sense, is an error too:
a label that no series has, a counter outside rate(), operands whose labels cannot match.
"""

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass

import promql_parser as promql

TARGET = frozenset({"job", "instance"})
"""Labels that Prometheus itself gives to each series, for where it was scraped."""
OF_COUNTERS = {"rate", "irate", "increase", "resets"}
OF_GAUGES = {"changes", "delta", "deriv", "idelta", "predict_linear"}
SET_OPERATORS = {"and", "or", "unless"}


@dataclass(frozen=True, slots=True)
class Exported:
    """A metric as /metrics has it."""

    kind: str
    """counter or gauge"""
    labels: Mapping[str, Set[str]]
    """Name to the values seen."""
    closed: Set[str] = frozenset()
    """Labels whose values are all known, since the program has them and no configuration."""


UP = Exported("gauge", {})
"""Made by Prometheus itself for each target."""


def labels(expression: str, metrics: Mapping[str, Exported]) -> Set[str] | None:
    """Labels of the series that `expression` yields; None for a plain number.

    Raises ValueError with what is wrong: no PromQL, an unknown metric, a label that the metric does
    not have, a counter where a gauge belongs or the other way round, operands that never match.
    """
    return _labels(promql.parse(expression), {"up": UP, **metrics})


def _labels(node: object, metrics: Mapping[str, Exported]) -> Set[str] | None:
    match node:
        case promql.NumberLiteral():
            return None
        case promql.ParenExpr() | promql.UnaryExpr():
            return _labels(node.expr, metrics)
        case promql.VectorSelector():
            return _selected(node, metrics, "gauge")
        case promql.Call():
            return _called(node, metrics)
        case promql.AggregateExpr():
            return _aggregated(node, metrics)
        case promql.BinaryExpr():
            return _combined(node, metrics)
    raise ValueError(f"this check knows no {type(node).__name__}")


def _selected(
    selector: promql.VectorSelector, metrics: Mapping[str, Exported], kind: str
) -> Set[str]:
    name = selector.name
    if name is None or name not in metrics:
        raise ValueError(f"no metric {name}")
    metric = metrics[name]
    if metric.kind != kind:
        raise ValueError(f"{name} is a {metric.kind}, used as a {kind}")
    for matcher in selector.matchers.matchers:
        _need({matcher.name}, metric.labels.keys() | TARGET, name)
        if matcher.name in metric.closed and not _values(matcher, metric):
            raise ValueError(f"{name}: no series has {matcher}")
    return metric.labels.keys() | TARGET


def _values(matcher: promql.Matcher, metric: Exported) -> Set[str]:
    """Those that it selects; empty where one of its alternatives selects none."""
    seen = metric.labels[matcher.name]
    regular = matcher.op in (promql.MatchOp.Re, promql.MatchOp.NotRe)
    alternatives = matcher.value.split("|") if regular else [re.escape(matcher.value)]
    found = [{value for value in seen if re.fullmatch(one, value)} for one in alternatives]
    return set[str]().union(*found) if all(found) else set()


def _called(call: promql.Call, metrics: Mapping[str, Exported]) -> Set[str] | None:
    name = call.func.name
    if name == "time":
        return None
    if name == "absent":
        (arg,) = call.args
        _labels(arg, metrics)
        matchers = arg.matchers.matchers if isinstance(arg, promql.VectorSelector) else ()
        return {matcher.name for matcher in matchers if matcher.op == promql.MatchOp.Equal}
    ranges = [arg for arg in call.args if isinstance(arg, promql.MatrixSelector)]
    if len(ranges) == 1 and name in OF_COUNTERS:
        return _selected(ranges[0].vector_selector, metrics, "counter")
    if len(ranges) == 1 and (name in OF_GAUGES or name.endswith("_over_time")):
        return _selected(ranges[0].vector_selector, metrics, "gauge")
    raise ValueError(f"this check knows no function {name}")


def _aggregated(node: promql.AggregateExpr, metrics: Mapping[str, Exported]) -> Set[str]:
    inner = _labels(node.expr, metrics)
    assert inner is not None, "the parser refuses to aggregate numbers"
    if str(node.op) in ("topk", "bottomk"):
        return inner
    if node.modifier is None:
        return set()
    named = set(node.modifier.labels)
    _need(named, inner, str(node.op))
    return named if node.modifier.type == promql.AggModifierType.By else inner - named


def _combined(node: promql.BinaryExpr, metrics: Mapping[str, Exported]) -> Set[str] | None:
    left, right = _labels(node.lhs, metrics), _labels(node.rhs, metrics)
    if left is None or right is None:
        return left if right is None else right
    operator, modifier = str(node.op), node.modifier
    matching = modifier.matching if modifier else None
    on_left, on_right = left, right
    if matching is not None:
        named = set(matching.labels)
        _need(named, left | right, operator)
        include = matching.type == promql.LabelModifierType.Include
        on_left, on_right = (named, named) if include else (left - named, right - named)
        _need(on_left, left, operator)
        _need(on_right, right, operator)
    if on_left != on_right:
        only = ", ".join(sorted(on_left ^ on_right))
        raise ValueError(f"{operator}: one side alone has {only}")
    if operator in SET_OPERATORS:
        return left
    added = set(modifier.group_labels or ()) if modifier else set[str]()
    if modifier and modifier.card == promql.VectorMatchCardinality.ManyToOne:
        _need(added, right, operator)
        return left | added
    if modifier and modifier.card == promql.VectorMatchCardinality.OneToMany:
        _need(added, left, operator)
        return right | added
    return on_left


def _need(named: Set[str], there: Set[str], where: str) -> None:
    if missing := ", ".join(sorted(named - there)):
        raise ValueError(f"{where} has no label {missing}")
