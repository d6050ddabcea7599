"""The packet vectors: what goes in, what becomes of it, what comes out."""

from typing import Any

import pytest

from tests.xdp.instance import VECTORS, VERDICT_OF, Runner, counted, difference
from turnout.core import reasons
from turnout.xdp import Forwarder


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_vector(forwarder: Forwarder, case: dict[str, Any]) -> None:
    before = counted(forwarder)
    verdict, out = Runner(forwarder.program).run(bytes.fromhex(case["in"]))
    assert difference(before, counted(forwarder)) == {case["reason"]: 1}
    assert verdict == VERDICT_OF[case["reason"]]
    if case["out"] is not None:
        assert out.hex() == case["out"]


def test_vectors_meet_every_reason_that_a_test_run_can() -> None:
    met = {case["reason"] for case in VECTORS["cases"]}
    # Both need a kernel in trouble: a driver without headroom, an interface that has gone.
    assert {r.name for r in reasons()} - met == {"no_room", "no_egress"}


def test_names_are_unique() -> None:
    names = [case["name"] for case in VECTORS["cases"]]
    assert len(set(names)) == len(names)


def test_an_interface_that_is_not_in_the_egress_map_is_a_reason_of_its_own(
    forwarder: Forwarder,
) -> None:
    case = next(c for c in VECTORS["cases"] if c["reason"] == "redirected")
    egress = forwarder.maps["egress"]
    kept = {key: egress.lookup(key) for key in list(egress.keys())}
    for key in kept:
        egress.delete(key)
    before = counted(forwarder)
    verdict, _ = Runner(forwarder.program).run(bytes.fromhex(case["in"]))
    for key, value in kept.items():
        egress.update(key, (value or b"")[:4])
    assert difference(before, counted(forwarder)) == {"no_egress": 1}
    assert verdict == VERDICT_OF["no_egress"]
