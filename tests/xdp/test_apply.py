"""Plans applied to the real forwarder: what packets see is the plan, and nothing else, at any time."""

import itertools
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scapy.layers.l2 import Ether

from tests.plan.fleets import KEYS, address, fleets, observations
from tests.xdp.plans import (
    FLOWS,
    FRAMES,
    HOP,
    LOOPBACK,
    NOTHING,
    expected,
    frame,
    one_service,
    seen,
    two_plans,
)
from turnout import core, plan
from turnout.kernel.bpf import XDP_TX, BpfError, Map
from turnout.plan import Plan
from turnout.xdp import DataPlaneError, Forwarder, layout
from turnout.xdp.layout import STATES


@pytest.fixture(scope="module")
def loaded() -> Iterator[Forwarder]:
    made = Forwarder()
    yield made
    made.close()


@pytest.fixture
def forwarder(loaded: Forwarder) -> Forwarder:
    """One that holds nothing."""
    loaded.apply(NOTHING)
    assert set(seen(loaded)) == {"not_service"}
    return loaded


def by_loopback(made: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return made.map(lambda o: plan.Observed(up=o.up, next_hops=dict.fromkeys(o.next_hops, HOP)))


@given(st.data())
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
def test_after_any_sequence_of_plans_packets_see_the_last(
    loaded: Forwarder, data: st.DataObject
) -> None:
    loaded.apply(NOTHING)
    previous = NOTHING
    for _ in range(data.draw(st.integers(1, 4))):
        fleet = data.draw(fleets())
        observed = data.draw(by_loopback(observations(fleet)))
        previous = plan.compile(fleet, "lb", observed, previous, KEYS)
        loaded.apply(previous)
    assert seen(loaded) == expected(previous)
    # And nothing is held that a forwarder which knows only the last plan would not hold.
    interfaces = {m.next_hop.ifindex for m in previous.members if m.next_hop}
    keys = {int.from_bytes(key, "little") for key in loaded.maps["egress"].keys()}  # noqa: SIM118
    assert keys == interfaces
    assert len(loaded._tables._taken) == len(previous.tables)
    assert {m.number for m in previous.members} == {
        n for n in range(1, layout.MAX_MEMBERS) if loaded._members[n].state
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("s", {"b0": True, "b1": True}), ("s", {"b10": True, "b11": True})),
        (("s", {"b0": True, "b1": False}), ("s", {"b0": False, "b1": True})),
        (("s", {"b0": True, "b1": False}), ("s", {"b0": False, "b1": True, "b2": False})),
        (("s", {"b0": True}), ("s", {"b0": False, "b1": True})),
        (("s", {"b0": True}), ("another", {"b1": True})),
    ],
    ids=["members", "health", "health and members", "stand-in", "name"],
)
def test_a_packet_meets_one_plan_or_the_other(
    forwarder: Forwarder, one: tuple[str, dict[str, bool]], other: tuple[str, dict[str, bool]]
) -> None:
    """While plans go to and fro, no packet is dropped, and each goes where one of the two says."""
    first = one_service(one[1], None, one[0])
    second = one_service(other[1], first, other[0])
    forwarder.apply(first)
    indices = [
        i
        for i, f in enumerate(FLOWS)
        if (f.vip, f.vip_port, f.protocol) == (address(200, 4), 1000, 6)
    ]
    allowed = [{expected(first)[i], expected(second)[i]} for i in indices]
    over = threading.Event()
    wrong: list[tuple[int, int, str]] = []
    count = 0

    def send() -> None:
        nonlocal count
        while not over.is_set():
            for i, right in zip(indices, allowed, strict=True):
                run = forwarder.program.run(FRAMES[i])
                where = str(IPv4Address(run.data[30:34]))
                count += 1
                if run.verdict != XDP_TX or where not in right:
                    wrong.append((i, run.verdict, where))

    sender = threading.Thread(target=send)
    sender.start()
    turns = itertools.count()
    while (turn := next(turns)) < 40 or (count < 1000 and turn < 10_000):
        forwarder.apply((second, first)[turn % 2])
    over.set()
    sender.join()
    assert wrong == []
    assert count >= 1000


def test_old_and_new_are_both_there_until_no_packet_is_on_its_old_way(
    forwarder: Forwarder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that began by the old table may yet ask for its members."""
    first = one_service({"b0": True, "b1": True}, None)
    second = one_service({"b1": False, "b2": True}, first)
    forwarder.apply(first)
    waits: list[set[int]] = []

    def settle() -> None:
        waits.append({n for n in range(1, 10) if forwarder._members[n].state == STATES["up"]})
        assert seen(forwarder) == expected(both)

    both = replace(second, members=tuple(replace(m, state="up") for m in second.members))
    monkeypatch.setattr(forwarder._tables, "settle", settle)
    forwarder.apply(second)
    assert waits == [{m.number for m in (*first.members, *second.members)}]
    assert seen(forwarder) == expected(second)


@pytest.mark.parametrize("call", ["create", "update", "update_batch"])
def test_a_refusal_leaves_what_was_in_force(
    forwarder: Forwarder, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Whichever call to the kernel fails while a plan is applied."""
    one, other = two_plans()
    forwarder.apply(one)
    before = seen(forwarder)
    words: list[str] = []
    for good in range(20):
        with monkeypatch.context() as patch:
            patch.setattr(Map, call, failing(getattr(Map, call), good))
            try:
                forwarder.apply(other)
            except DataPlaneError as error:
                words.append(str(error))
            else:
                break
        assert seen(forwarder) == before
    assert words
    assert all(re.match("apply: .*refused", said) for said in words)
    assert seen(forwarder) == expected(other)
    # Not even memory is kept: what could not be given back then is with the next change.
    forwarder.apply(one)
    assert len(forwarder._tables._taken) == 1
    assert seen(forwarder) == before


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
    forwarder.apply(NOTHING)
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


def test_a_full_service_table_is_told_and_changes_nothing(forwarder: Forwarder) -> None:
    """As many services as crowd into neighbouring buckets beyond the bound of probes."""
    one, _ = two_plans()
    forwarder.apply(one)
    before = seen(forwarder)
    places = (
        (address(300 + vip, 4), port, 6) for vip in itertools.count() for port in range(1, 65536)
    )
    crowded = (p for p in places if core.service_bucket(core.service_key(*p)) == 7)
    services = tuple(
        replace(one.services[0], number=100 + i, name=f"crowd{i}", vip=vip, port=port)
        for i, (vip, port, _) in enumerate(itertools.islice(crowded, 33))
    )
    with pytest.raises(DataPlaneError, match="apply: service table: 8 buckets in a row are full"):
        forwarder.apply(replace(one, services=one.services + services))
    assert seen(forwarder) == before
    # And what has gone makes room.
    for some in (services[:32], (), services[1:]):
        forwarder.apply(replace(one, services=one.services + some))
        assert seen(forwarder) == before


def same_key(vip: IPv6Address, low: bytes) -> IPv6Address:
    """Another address with the key of `vip` (bpf/services.h) and these last eight bytes."""

    def mixed(x: int) -> int:
        return (x ^ x >> 29) * 0x9E3779B97F4A7C15 % (1 << 64)

    first, second = (int.from_bytes(vip.packed[at : at + 8], "little") for at in (0, 8))
    want = mixed(first) ^ second ^ int.from_bytes(low, "little")
    # The factor is odd and the shift leaves the top bits as they are, so mixing can be undone.
    x = want * pow(0x9E3779B97F4A7C15, -1, 1 << 64) % (1 << 64)
    x ^= x >> 29 ^ x >> 58
    return IPv6Address(x.to_bytes(8, "little") + low)


def test_ipv6_services_of_one_key_are_apart(forwarder: Forwarder) -> None:
    vip = IPv6Address("2001:db8:1::10")
    twin, stranger = same_key(vip, b"\0" * 7 + b"\x20"), same_key(vip, b"\0" * 7 + b"\x30")
    assert len({vip, twin, stranger}) == 3
    assert len({core.service_key(a, 1000, 6) for a in (vip, twin, stranger)}) == 1
    one, other = two_plans()
    members = tuple(replace(m, state="up") for m in (one.members[0], other.members[0]))
    tables = tuple(
        replace(
            one.tables[0],
            pool=f"p{i}",
            names=("b",),
            weights=(1,),
            members=(member.number,),
            indices=np.zeros(101, np.uint16),
        )
        for i, member in enumerate(members)
    )
    services = tuple(
        replace(one.services[0], number=1 + i, name=f"s{i}", vip=vip_, table=tables[i].key)
        for i, vip_ in enumerate((vip, twin))
    )
    made = Plan("lb", members, tables, services, (), ())
    client = IPv6Address("2001:db8::1")

    def destination(vip: IPv6Address) -> str | None:
        run = forwarder.program.run(frame(core.Flow(client, vip, 40_000, 1000, 6)))
        return str(Ether(run.data).payload.dst) if run.verdict == XDP_TX else None

    forwarder.apply(made)
    assert [destination(a) for a in (vip, twin, stranger)] == [
        *(str(m.address) for m in members),
        None,
    ]
    forwarder.apply(replace(made, services=services[1:]))
    assert [destination(a) for a in (vip, twin)] == [None, str(members[1].address)]


def test_an_egress_that_the_kernel_has_taken_out_is_put_back(forwarder: Forwarder) -> None:
    """It does so with those of interfaces that leave, and their numbers may come back."""
    one, _ = two_plans()
    forwarder.apply(one)
    word = LOOPBACK.to_bytes(4, "little")
    forwarder.maps["egress"].delete(word)
    forwarder.apply(one)
    assert list(forwarder.maps["egress"].keys()) == [word]


@pytest.mark.parametrize("name", ["service_counters", "no_such_map"])
def test_a_forwarder_of_another_build_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(layout.VALUE_SIZES, name, 32)
    with pytest.raises(DataPlaneError, match=f"map {name} has values of .*, expected 32"):
        Forwarder()
