"""The forwarder's fast path, case by case, beside a reference program in the same run."""

import struct
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from turnout.bench.generator import LONG, SHORT, Generator
from turnout.config import Address, Encapsulation, Protocol
from turnout.core import native
from turnout.kernel.bpf import Object
from turnout.maglev import build
from turnout.plan import NextHop, Plan, PlannedMember, PlannedService, PlannedTable
from turnout.xdp import Forwarder
from turnout.xdp.layout import member_record

BACKENDS = 100
SERVICES = 64
TABLE_SIZE = 65537
FLOWS = (1, 16_384, 1_048_576)
RUNS = 7
PACKETS = 1_000_000

LOOPBACK = 1
"""Test runs come in by it; what leaves by it is transmitted and not redirected."""

VIP: dict[int, Address] = {4: IPv4Address("192.0.2.0"), 6: IPv6Address("2001:db8::")}
CLIENT: dict[int, Address] = {4: IPv4Address("10.128.0.0"), 6: IPv6Address("2001:db8:7::")}
BACKEND: dict[int, Address] = {4: IPv4Address("10.0.2.0"), 6: IPv6Address("fd00:2::")}
SOURCE: dict[int, Address] = {4: IPv4Address("10.0.1.1"), 6: IPv6Address("fd00:1::1")}


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    encapsulation: Encapsulation = "gue"
    inner: int = 4
    outer: int = 4
    protocol: Protocol = "tcp"
    syn: bool = False
    down: int = 0
    """One member in so many is down; 0: none."""
    served: bool = True

    @property
    def reason(self) -> str:
        """Under which every packet has to be counted."""
        return "forwarded" if self.served else "not_service"


CASES = (
    Case("ipip", "ipip"),
    Case("gue"),
    Case("gre", "gre"),
    Case("ipip 6 in 6", "ipip", 6, 6),
    Case("gue 6 in 6", inner=6, outer=6),
    Case("ipip 6 in 4", "ipip", 6, 4),
    Case("gue 6 in 4", inner=6),
    Case("gue 4 in 6", outer=6),
    Case("one member in ten down", down=10),
    Case("udp", protocol="udp"),
    Case("syn", syn=True),
    Case("not a service", served=False),
)


@dataclass(frozen=True, slots=True)
class Figure:
    """Time of one case alone, ns a packet."""

    case: str
    flows: int
    net_ns_min: float
    net_ns_median: float
    ratio: float
    """Median to that of the reference program with as many flows."""


def forwarder(
    runs: int = RUNS,
    packets: int = PACKETS,
    flows: tuple[int, ...] = FLOWS,
    cases: tuple[Case, ...] = CASES,
    step: Callable[[str], None] = lambda _: None,
) -> Iterator[Figure]:
    """Figures of each case and of the reference, as they come; `step` hears what is measured.

    Raises BpfError or DataPlaneError where the programs cannot be loaded, RuntimeError where the
    forwarder did anything else with a packet than the case says.
    """
    with Generator() as generator, _reference() as reference:
        base = {}
        for count in flows:
            step(f"reference, {count} flows")
            generator.offer(first_frame(Case("reference")), count, SERVICES)
            least, base[count] = generator.net(reference.programs["reference"], packets, runs)
            yield Figure("reference", count, least, base[count], 1.0)
        for case in cases:
            with closing(Forwarder()) as loaded:
                loaded.apply(_plan(case))
                for count in flows:
                    step(f"{case.name}, {count} flows")
                    generator.offer(first_frame(case), count, SERVICES)
                    least, median = generator.net(loaded.program, packets, runs)
                    yield Figure(case.name, count, least, median, median / base[count])
                _check(loaded, case)


def _check(loaded: Forwarder, case: Case) -> None:
    met = {name: count for name, count in loaded.counters().reasons.items() if count}
    if set(met) != {case.reason}:
        raise RuntimeError(f"{case.name}: expected every packet to be {case.reason}, found {met}")


def _reference() -> Object:
    """The reference program, its backends filled in."""
    reference = Object(native("reference.bpf.o"))
    backends = reference.maps["backends"]
    for index in range(backends.max_entries):
        record = bytes(member_record(_member(index + 1, 4, "up")))
        backends.update(struct.pack("=I", index), record)
    return reference


def _member(number: int, family: int, state: str) -> PlannedMember:
    hop = NextHop(LOOPBACK, 0, bytes(5) + b"\1", bytes(5) + b"\2", 1500)
    key = ("web", f"web{number}")
    down = state == "down"
    return PlannedMember(
        number, key, BACKEND[family] + number, SOURCE[family], "down" if down else "up", hop
    )


def _plan(case: Case) -> Plan:
    numbers = range(1, BACKENDS + 1)
    members = tuple(
        _member(n, case.outer, "down" if case.down and n % case.down == 0 else "up")
        for n in numbers
    )
    names = tuple(m.key[1] for m in members)
    weights = (1,) * BACKENDS
    table = PlannedTable(
        "web", TABLE_SIZE, names, weights, tuple(numbers), build(names, weights, TABLE_SIZE)
    )
    services = tuple(
        PlannedService(
            number=n + 1,
            name=f"www{n}",
            vip=VIP[case.inner] + n,
            protocol=case.protocol,
            port=80,
            table=table.key,
            encapsulation=case.encapsulation,
            hash="5-tuple",
            hash_key=bytes(range(16)),
        )
        for n in range(SERVICES)
    )
    return Plan("bench", members, (table,), services, (), ())


def first_frame(case: Case) -> bytes:
    """The first flow's first packet. Checksums are left out: nothing on the way reads them."""
    ports = struct.pack(">HH", 1024, 80)
    size = SHORT if case.inner == 4 else LONG
    rest = size - 14 - (20 if case.inner == 4 else 40)
    protocol = 6 if case.protocol == "tcp" else 17
    if case.protocol == "tcp":
        flags = 0x02 if case.syn else 0x10
        layer4 = ports + struct.pack(">IIBBHHH", 1, 1, 0x50, flags, 1024, 1, 0)
    else:
        layer4 = ports + struct.pack(">HH", rest, 1)
    vip = VIP[case.inner] if case.served else VIP[case.inner] + 128
    ends = CLIENT[case.inner].packed + vip.packed
    if case.inner == 4:
        ip = struct.pack(">BBHHHBBH", 0x45, 0, size - 14, 0, 0x4000, 64, protocol, 0) + ends
    else:
        ip = struct.pack(">IHBB", 6 << 28, rest, protocol, 64) + ends
    ether = bytes(11) + b"\1" + (b"\x08\x00" if case.inner == 4 else b"\x86\xdd")
    return (ether + ip + layer4).ljust(size, b"\0")
