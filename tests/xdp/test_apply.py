"""Plans applied to the real forwarder: what packets see is the plan, and nothing else, at any time."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scapy.compat import raw
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

from tests.plan.fleets import KEYS, address, fleets, observations
from turnout import core, maglev, plan
from turnout.config import Address, Announcement, Backend, Fleet, Instance, Member, Pool, Service
from turnout.kernel.bpf import BpfError, Map
from turnout.plan import NextHop, Plan
from turnout.xdp import DataPlaneError, Forwarder

LOOPBACK = 1
CLIENTS: dict[int, list[Address]] = {
    4: [IPv4Address("198.51.100.1") + i for i in range(3)],
    6: [IPv6Address("2001:db8::1") + i for i in range(3)],
}


@pytest.fixture
def forwarder() -> Iterator[Forwarder]:
    made = Forwarder()
    yield made
    made.close()


def flows() -> list[core.Flow]:
    """To every VIP and port that random fleets may serve, and to one that none does."""
    return [
        core.Flow(client, vip, 40_000 + n, 1000 + port, protocol)
        for vip in (address(200, 4), address(201, 4), address(200, 6))
        for port in range(6)
        for protocol in (6, 17)
        for n, client in enumerate(CLIENTS[vip.version])
    ]


FLOWS = flows()


def frame(flow: core.Flow) -> bytes:
    ip = IP if flow.vip.version == 4 else IPv6
    l4 = TCP if flow.protocol == 6 else UDP
    packet = ip(src=str(flow.source), dst=str(flow.vip))
    return bytes(raw(Ether() / packet / l4(sport=flow.source_port, dport=flow.vip_port)))


FRAMES = [frame(flow) for flow in FLOWS]


def expected(made: Plan) -> list[str]:
    """What should become of each flow: the outer destination or the reason, from the plan alone."""
    names = {6: "tcp", 17: "udp"}
    members = {m.number: m for m in made.members}
    tables = {t.key: t for t in made.tables}
    found = []
    for flow in FLOWS:
        service = next(
            (
                s
                for s in made.services
                if (s.vip, s.port, s.protocol) == (flow.vip, flow.vip_port, names[flow.protocol])
            ),
            None,
        )
        if service is None:
            found.append("not_service")
            continue
        table = tables[service.table]
        usable = [members[n].state == "up" for n in table.members]
        client_only = service.hash == "client-address"
        hash_ = core.flow_hash(flow, service.hash_key, client_only)
        index = int(maglev.lookup(table.indices, [hash_], usable)[0])
        if index < 0:
            found.append("no_member")
        elif (member := members[table.members[index]]).next_hop is None:
            found.append("no_next_hop")
        else:
            found.append(str(member.address))
    return found


def seen(forwarder: Forwarder) -> list[str]:
    """What becomes of each flow: the outer destination, or the reason that was counted."""
    found = []
    for packet in FRAMES:
        before = forwarder.counters().reasons
        run = forwarder.program.run(packet)
        after = forwarder.counters().reasons
        (reason,) = (name for name in after if after[name] != before[name])
        if reason == "forwarded":
            outer = Ether(run.data).payload
            found.append(str(ip_address(outer.dst)))
        else:
            found.append(reason)
    return found


def by_loopback(made: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    hop = NextHop(LOOPBACK, 0, b"\2\0\0\0\0\1", b"\2\0\0\0\0\2", 1500)
    return made.map(lambda o: plan.Observed(up=o.up, next_hops=dict.fromkeys(o.next_hops, hop)))


@given(st.data())
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_after_any_sequence_of_plans_packets_see_the_last(data: st.DataObject) -> None:
    forwarder = Forwarder()
    fleet = data.draw(fleets())
    previous = plan.compile(fleet, "lb", plan.Observed(), None, KEYS)
    try:
        for _ in range(data.draw(st.integers(1, 4))):
            fleet = data.draw(fleets())
            observed = data.draw(by_loopback(observations(fleet)))
            previous = plan.compile(fleet, "lb", observed, previous, KEYS)
            forwarder.apply(previous)
        assert seen(forwarder) == expected(previous)
    finally:
        forwarder.close()


def two_plans() -> tuple[Plan, Plan]:
    """One service over three backends and over two others."""
    made: list[Plan] = []
    for offset, count in ((0, 3), (10, 2)):
        text = {f"b{offset + i}": address(1 + offset + i, 4) for i in range(count)}
        made.append(_single(text, made[-1] if made else None))
    return made[0], made[1]


def _single(backends: dict[str, Any], previous: Plan | None) -> Plan:
    hop = NextHop(LOOPBACK, 0, b"\2\0\0\0\0\1", b"\2\0\0\0\0\2", 1500)
    members = tuple(Member("p", name, 1, False, None) for name in backends)
    fleet = Fleet(
        path=Path("fleet.yaml"),
        key_file=None,
        announcement=Announcement(174, 74, 65001, 65000),
        instances={"lb": Instance("lb", ("eth0",), "auto", (address(250, 4),), ())},
        backends={n: Backend(n, a) for n, a in backends.items()},
        pools={"p": Pool("p", members, None, 0.0, "default")},
        services={
            "s": Service("s", address(200, 4), "tcp", 1000, "p", "maglev", 101, "ipip", "5-tuple")
        },
        warnings=(),
    )
    observed = plan.Observed(next_hops=dict.fromkeys(backends.values(), hop))
    return plan.compile(fleet, "lb", observed, previous, KEYS)


def test_a_packet_meets_one_plan_or_the_other(forwarder: Forwarder) -> None:
    """While plans go to and fro, no packet is dropped, and each goes where one of the two says."""
    one = two_plans()[0]
    other = _single({"b10": address(11, 4), "b11": address(12, 4)}, one)
    one = _single({f"b{i}": address(1 + i, 4) for i in range(3)}, other)
    # Numbers differ between the two, so all of members, tables and records change each time.
    assert not {m.number for m in one.members} & {m.number for m in other.members}
    forwarder.apply(one)
    indices = [i for i, f in enumerate(FLOWS) if (f.vip, f.vip_port) == (address(200, 4), 1000)]
    allowed = [{expected(one)[i], expected(other)[i]} for i in indices]
    over = threading.Event()
    wrong: list[tuple[int, str]] = []
    count = 0

    def send() -> None:
        nonlocal count
        while not over.is_set():
            for i, right in zip(indices, allowed, strict=True):
                if FLOWS[i].protocol != 6:
                    continue
                run = forwarder.program.run(FRAMES[i])
                data = run.data[26 + 4 : 34]
                where = str(IPv4Address(data))
                count += 1
                if run.verdict != 3 or where not in right:
                    wrong.append((i, where))

    sender = threading.Thread(target=send)
    sender.start()
    for turn in range(60):
        forwarder.apply((other, one)[turn % 2])
    over.set()
    sender.join()
    assert wrong == []
    assert count > 100


def test_a_refusal_leaves_what_was_in_force(
    forwarder: Forwarder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever call to the kernel fails while a plan is applied."""
    one = two_plans()[0]
    forwarder.apply(one)
    before = seen(forwarder)
    other = _single({"b10": address(11, 4), "b11": address(12, 4)}, one)
    for call, before_it in (("create", 0), ("update_batch", 0), ("update_batch", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(Map, call, failing(getattr(Map, call), before_it))
            with pytest.raises(DataPlaneError, match=r"apply: .*refused"):
                forwarder.apply(other)
        assert seen(forwarder) == before
    forwarder.apply(other)
    assert seen(forwarder) == expected(other)


def failing(real: Any, good: int) -> Any:
    """`real`, but refusing after `good` calls."""
    left = good

    def call(*arguments: Any) -> Any:
        nonlocal left
        if left == 0:
            raise BpfError(12, "refused")
        left -= 1
        return real(*arguments)

    return call


def test_a_number_used_again_counts_from_zero(forwarder: Forwarder) -> None:
    one = two_plans()[0]
    forwarder.apply(one)
    seen(forwarder)
    assert sum(t.packets for t in forwarder.counters().services.values()) > 0
    gone = Plan("lb", (), (), (), (), ())
    forwarder.apply(gone)
    forwarder.apply(one)
    counters = forwarder.counters()
    assert {t.packets for t in counters.services.values()} == {0}
    assert {t.packets for t in counters.members.values()} == {0}


def test_health_writes_no_table(forwarder: Forwarder, monkeypatch: pytest.MonkeyPatch) -> None:
    """One byte in memory: no map of the kernel is called for."""
    one = two_plans()[0]
    forwarder.apply(one)
    down = replace(one, members=(replace(one.members[0], state="down"), *one.members[1:]))

    def refuse(*_: Any) -> None:
        raise AssertionError("a call to the kernel")

    for call in ("create", "update", "update_batch", "delete"):
        monkeypatch.setattr(Map, call, refuse)
    forwarder.apply(down)
    monkeypatch.undo()
    assert seen(forwarder) == expected(down)
