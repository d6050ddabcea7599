"""The member that the program chooses is the one that turnout.maglev says, on every instance."""

import random
import struct
from collections.abc import Iterator
from contextlib import closing
from ipaddress import IPv4Address, ip_address

import numpy as np
import pytest

from tests.xdp.instance import SAME, Runner
from turnout import core, maglev
from turnout.core import Flow, least_prime
from turnout.plan import NextHop, Plan, PlannedMember, PlannedService, PlannedTable, State, Tally
from turnout.xdp import Forwarder
from turnout.xdp.layout import COMMON_SIZE

VIP = IPv4Address("192.0.2.10")
KEY = bytes(range(100, 116))
FLOWS = 10_000
MEMBERS = 20
NAMES = tuple(f"web{n:02}" for n in range(MEMBERS))
WEIGHTS = tuple(1 + n % 3 for n in range(MEMBERS))
COMMON, LARGE = 65537, least_prime(COMMON_SIZE + 1)
NUMBERS = {COMMON: 100, LARGE: 2000}
"""Of the first member, so that a number is not an index."""


def plan(instance: str, size: int, usable: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Plan:
    """One service with one pool; backend n has the address 10.0.2.n."""
    numbers = tuple(range(NUMBERS[size], NUMBERS[size] + MEMBERS))
    hop = NextHop(SAME, 0, bytes(6), bytes(6), 1500)
    states: tuple[State, ...] = tuple("up" if up else "down" for up in usable)
    source = ip_address(instance)
    members = tuple(
        PlannedMember(number, ("web", name), IPv4Address("10.0.2.0") + index, source, state, hop)
        for index, (number, name, state) in enumerate(zip(numbers, NAMES, states, strict=True))
    )
    indices = maglev.build(NAMES, WEIGHTS, size)
    table = PlannedTable("web", size, NAMES, WEIGHTS, numbers, indices)
    service = PlannedService(1, "www", VIP, "tcp", 80, table.key, "ipip", "5-tuple", KEY)
    return Plan(instance, members, (table,), (service,), (), ())


def made_up_flows() -> list[Flow]:
    rng = random.Random(2)
    return [
        Flow(IPv4Address(rng.getrandbits(32)), VIP, rng.randrange(1, 1 << 16), 80, 6)
        for _ in range(FLOWS)
    ]


ALL = made_up_flows()
HASHES = np.array(core.flow_hashes(ALL, KEY), np.uint64)


def packet(flow: Flow, flags: int = 0x10) -> bytes:
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 40, 0, 0, 64, 6, 0)
    tcp = struct.pack(">HHIIBBHHH", flow.source_port, 80, 1, 1, 0x50, flags, 1, 0, 0)
    return bytes(12) + b"\x08\x00" + ip + flow.source.packed + VIP.packed + tcp


def chosen(forwarder: Forwarder) -> list[int]:
    """Index of the backend that each flow reaches, -1 for none."""
    runner = Runner(forwarder.program)
    outs = (runner.run(packet(flow))[1] for flow in ALL)
    return [out[33] if len(out) > 54 else -1 for out in outs]


@pytest.fixture(scope="module")
def instances() -> Iterator[tuple[Forwarder, Forwarder]]:
    with closing(Forwarder()) as one, closing(Forwarder()) as two:
        yield one, two


@pytest.mark.parametrize("size", [COMMON, LARGE])
@pytest.mark.parametrize("down", [0, 2, 10, MEMBERS - 1, MEMBERS])
def test_two_instances_choose_what_the_rule_says(
    instances: tuple[Forwarder, Forwarder], size: int, down: int
) -> None:
    usable = np.ones(MEMBERS, np.bool_)
    usable[np.random.default_rng(down).permutation(MEMBERS)[:down]] = False
    table = maglev.build(NAMES, WEIGHTS, size)
    expected = maglev.lookup(table, HASHES, usable).tolist()
    for number, forwarder in enumerate(instances):
        forwarder.apply(plan(f"10.0.1.{1 + number}", size, usable))
        assert chosen(forwarder) == expected


def test_counters_of_service_and_member(instances: tuple[Forwarder, Forwarder]) -> None:
    forwarder, _ = instances
    usable = np.ones(MEMBERS, np.bool_)
    forwarder.apply(plan("10.0.1.1", COMMON, usable))
    (index,) = maglev.lookup(maglev.build(NAMES, WEIGHTS, COMMON), HASHES[:1], usable).tolist()
    before = forwarder.counters()
    runner = Runner(forwarder.program)
    # SYN, SYN with ECN's flags, SYN-ACK, ACK, FIN
    for flags in (0x02, 0xC2, 0x12, 0x10, 0x11):
        runner.run(packet(ALL[0], flags) + b"padding")
    after = forwarder.counters()
    number = NUMBERS[COMMON] + index
    assert grown(before.services[1], after.services[1]) == Tally(5, 200, 2)
    assert grown(before.members[number], after.members[number]) == Tally(5, 200, 2)
    assert after.reasons["forwarded"] - before.reasons["forwarded"] == 5


def grown(before: Tally, after: Tally) -> Tally:
    return Tally(
        after.packets - before.packets,
        after.bytes - before.bytes,
        after.new_flows - before.new_flows,
    )
