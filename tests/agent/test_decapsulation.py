"""The decapsulation vectors, frames cut at every length, and frames with damage anywhere."""

from ipaddress import IPv4Address, IPv6Address
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.agent.backend import DROP, NEXT, VECTORS, VERDICT_OF, decapsulation, put
from turnout.agent import Decapsulation
from turnout.core import agent_reasons
from turnout.kernel.bpf import BpfError

Backends = dict[int, Decapsulation]
CASES: list[dict[str, Any]] = VECTORS["cases"]
MIXES = [case for case in CASES if case["name"].startswith("TCP, ")]
SHIM = {"gue": 8, "gre": 4, "ipip": 0}
OUTER = {4: 20, 6: 40}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_vector(backends: Backends, case: dict[str, Any]) -> None:
    reason, verdict, out = put(backends[case["outside"]], bytes.fromhex(case["in"]))
    assert reason == case["reason"]
    assert verdict == VERDICT_OF[reason]
    if case["out"] is not None:
        assert out.hex() == case["out"]


def test_vectors_meet_every_reason_that_a_test_run_can() -> None:
    # The kernel takes headers off whenever it has memory.
    assert {r.name for r in agent_reasons()} - {case["reason"] for case in CASES} == {"failed"}


def test_names_are_unique() -> None:
    names = [case["name"] for case in CASES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("case", MIXES, ids=lambda case: case["name"])
def test_cut_at_every_length(backends: Backends, case: dict[str, Any]) -> None:
    whole = bytes.fromhex(case["in"])
    encapsulation = case["name"].split()[3]
    # A test run refuses frames that end within their first IP header.
    outer = 14 + OUTER[case["outside"]]
    known_at = outer + SHIM[encapsulation]
    for length in range(outer, len(whole)):
        reason, verdict, out = put(backends[case["outside"]], whole[:length])
        expected = "not_encapsulated" if length < known_at else "malformed"
        assert (reason, verdict) == (expected, VERDICT_OF[expected]), length
        assert out == whole[:length]


def test_the_kernel_itself_refuses_what_is_no_frame(backends: Backends) -> None:
    with pytest.raises(BpfError):
        put(backends[4], bytes(13))


@given(data=st.data())
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_only_instances_reach_only_vips_whatever_is_damaged(
    backends: Backends, data: st.DataObject
) -> None:
    case = data.draw(st.sampled_from(MIXES))
    frame = bytearray.fromhex(case["in"])
    for _ in range(data.draw(st.integers(1, 3))):
        # Not the type of the frame, by which the kernel chooses how to read it.
        at = data.draw(st.integers(14, len(frame) - 1))
        frame[at] = data.draw(st.integers(0, 255))
    reason, verdict, out = put(backends[case["outside"]], bytes(frame))
    assert verdict in (NEXT, DROP)
    if reason != "decapsulated":
        assert out == frame
        return
    source, destination = ends(bytes(frame))
    assert source in VECTORS["instances"][str(case["outside"])]
    assert destination == VECTORS["backend"][str(case["outside"])]
    assert ends(out)[1] in VECTORS["vips"]
    assert frame.endswith(out[14 + 20 :])


def ends(frame: bytes) -> tuple[str, str]:
    """Addresses of the first IP header, whose version is the frame's type."""
    if frame[12:14] == b"\x08\x00":
        return str(IPv4Address(frame[26:30])), str(IPv4Address(frame[30:34]))
    return str(IPv6Address(frame[22:38])), str(IPv6Address(frame[38:54]))


def test_a_vip_or_an_instance_taken_away_is_so_at_once() -> None:
    case = MIXES[0]
    for fields, reason in (
        ({}, "decapsulated"),
        ({"vips": ()}, "not_vip"),
        ({"instances": ()}, "not_instance"),
        ({"address": IPv4Address("10.0.2.12")}, "not_own"),
    ):
        backend = decapsulation(4, **fields)
        assert put(backend, bytes.fromhex(case["in"]))[0] == reason
        backend.close()


def test_what_is_dropped_is_told_once() -> None:
    backend = decapsulation(4)
    wrong = next(c for c in CASES if c["reason"] == "not_vip" and c["outside"] == 4)
    assert list(backend.dropped()) == []
    for _ in range(3):
        put(backend, bytes.fromhex(wrong["in"]))
    put(backend, bytes.fromhex(MIXES[0]["in"]))
    assert [(reason.name, packets) for reason, packets in backend.dropped()] == [("not_vip", 3)]
    assert list(backend.dropped()) == []
    backend.close()
