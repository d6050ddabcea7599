"""The check of queries finds what it is there to find."""

import pytest

from tests.monitoring.promql import Exported, labels

METRICS = {
    "packets_total": Exported(
        "counter", {"reason": {"forwarded", "too_big"}, "port": {"80"}}, {"reason"}
    ),
    "members": Exported("gauge", {"pool": {"web"}}),
    "weight": Exported("gauge", {"pool": {"web"}, "backend": {"web1"}}),
}


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("members", {"pool", "instance", "job"}),
        ('members{pool="any"} == 1', {"pool", "instance", "job"}),
        ("rate(packets_total[5m])", {"reason", "port", "instance", "job"}),
        ('sum by (reason) (rate(packets_total{reason=~"too_.*|forwarded"}[5m]))', {"reason"}),
        ("sum without (backend) (weight)", {"pool", "instance", "job"}),
        ("sum(weight)", set()),
        ("topk(3, weight)", {"pool", "backend", "instance", "job"}),
        ("weight / on (pool) group_left members", {"pool", "backend", "instance", "job"}),
        ("members / on (pool) group_right (job) weight", {"pool", "backend", "instance", "job"}),
        ("weight / ignoring (backend) group_left members", {"pool", "backend", "instance", "job"}),
        ("max by (pool) (weight) != on (pool) min by (pool) (weight)", {"pool"}),
        ("weight and on (pool) members", {"pool", "backend", "instance", "job"}),
        ("changes(members[1h]) > 3", {"pool", "instance", "job"}),
        ("max_over_time(members[1h])", {"pool", "instance", "job"}),
        ('absent(up{job="any"})', {"job"}),
        ("absent(sum(up))", set()),
        ("-(time() - members)", {"pool", "instance", "job"}),
        ("1 + 1", None),
    ],
)
def test_labels(expression: str, found: set[str] | None) -> None:
    assert labels(expression, METRICS) == found


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("sum(members", "unclosed|expected|invalid"),
        ("member", "no metric member"),
        ('{pool="web"}', "no metric None"),
        ('members{pol="web"}', "members has no label pol"),
        ("sum by (pol) (members)", "sum has no label pol"),
        ("sum without (pol) (members)", "sum has no label pol"),
        ("sum(sum by (pool) (members)) by (job)", "sum has no label job"),
        ("packets_total > 5", "packets_total is a counter, used as a gauge"),
        ("changes(packets_total[5m])", "packets_total is a counter, used as a gauge"),
        ("avg_over_time(packets_total[5m])", "packets_total is a counter, used as a gauge"),
        ("rate(members[5m])", "members is a gauge, used as a counter"),
        ("absent(packet)", "no metric packet"),
        ("sum(1)", "expected type vector"),
        ('rate(packets_total{reason="to_big"}[5m])', 'no series has reason="to_big"'),
        ('rate(packets_total{reason=~"too_big|forward"}[5m])', "no series has reason"),
        ("weight > members", "one side alone has backend"),
        ("weight > on (backend) members", "> has no label backend"),
        ("weight > on (pol) group_left members", "> has no label pol"),
        ("weight > ignoring (pol) weight", "> has no label pol"),
        ("weight * on (pool) group_left (reason) members", r"\* has no label reason"),
        ("weight unless members", "one side alone has backend"),
        ("abs(members)", "knows no function abs"),
        ("max_over_time(members[5m:1m])", "knows no function max_over_time"),
        ("members[5m]", "knows no MatrixSelector"),
    ],
)
def test_what_is_wrong(expression: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        labels(expression, METRICS)
