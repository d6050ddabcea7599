"""The arithmetic of `turnout mtu` is the running program's: to the byte, on both sides of it."""

from typing import Any

import pytest
from scapy.packet import Raw

from tests.vectors.frames import SERVICES, frame, ip, l4
from tests.xdp.instance import VERDICT_OF, Runner, counted, difference
from turnout.kernel.bpf import XDP_TX
from turnout.plan import largest_inner
from turnout.xdp import Forwarder

GRID = [s for s in SERVICES if " in " in s["name"]]


@pytest.mark.parametrize("s", GRID, ids=lambda s: s["name"])
def test_largest_inner_packet(forwarder: Forwarder, s: dict[str, Any]) -> None:
    outer = 6 if ":" in s["backend"] else 4
    packet = ip(6 if ":" in s["vip"] else 4, s["vip"]) / l4(s)
    fits = largest_inner(s["mtu"], s["encapsulation"], outer) - len(packet)
    runner = Runner(forwarder.program)

    verdict, out = runner.run(frame(packet / Raw(bytes(fits))))
    assert verdict == XDP_TX
    assert len(out) == s["mtu"] + (18 if s["vlan"] else 14)

    before = counted(forwarder)
    verdict, _ = runner.run(frame(packet / Raw(bytes(fits + 1))))
    assert difference(before, counted(forwarder)) == {"too_big": 1}
    assert verdict == VERDICT_OF["too_big"]
