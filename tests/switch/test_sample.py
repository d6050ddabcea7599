"""Samples: captures of every kind and lists of values, and what is said of them."""

import os
import random
import resource
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
)
from scapy.layers.l2 import GRE, CookedLinux, Dot1Q, Ether, Loopback
from scapy.packet import Packet, Raw
from scapy.utils import PcapNgWriter, PcapWriter

from turnout.cli.switch import command
from turnout.split import approximate, evaluate
from turnout.switch import FIELDS, sample

PACKETS = [
    IP(src=f"10.1.{n >> 8}.{n & 255}", dst="192.0.2.1") / TCP(sport=1000 + n, dport=80)
    for n in range(300)
]
OTHERS = [
    IPv6(src=f"2001:db8::{n:x}", dst="2001:db8:1::1") / UDP(sport=2000 + n, dport=53)
    for n in range(20)
]
FRAGMENT = IP(src="10.9.9.9", dst="192.0.2.1", frag=8, proto=6) / Raw(b"x" * 40)


def ether(**fields: Any) -> Packet:
    """With addresses, or scapy asks the network for them."""
    return Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02", **fields)


def written(
    path: Path, packets: list[Packet], around: Callable[[Packet], Packet], ng: bool
) -> Path:
    with (PcapNgWriter if ng else PcapWriter)(str(path)) as file:
        for packet in packets:
            file.write(around(packet))
    return path


@pytest.mark.parametrize("ng", [False, True])
@pytest.mark.parametrize(
    "around",
    [
        lambda packet: ether() / packet,
        lambda packet: ether() / Dot1Q(vlan=7) / packet,
        lambda packet: ether() / Dot1Q(vlan=7) / Dot1Q(vlan=8) / packet,
        lambda packet: CookedLinux() / packet,
        lambda packet: Loopback() / packet,
        lambda packet: packet,
    ],
    ids=["ethernet", "vlan", "two vlans", "cooked", "loopback", "bare"],
)
def test_captures(tmp_path: Path, around: Callable[[Packet], Packet], ng: bool) -> None:
    bare = isinstance(around(PACKETS[0]), IP)
    path = written(tmp_path / "x", [*PACKETS, *([] if bare else OTHERS), FRAGMENT], around, ng)
    sources = [0x0A010000 + n for n in range(300)]
    assert sample.read(path, FIELDS["nw_src"]).tolist() == [*sources, 0x0A090909]
    assert sample.read(path, FIELDS["nw_dst"]).tolist() == [0xC0000201] * 301
    assert sample.read(path, FIELDS["tcp_src"]).tolist() == [1000 + n for n in range(300)]
    if not bare:
        with pytest.raises(ValueError, match="no packet has udp_src"):
            sample.read(path, FIELDS["udp_src"])  # Flows by it have none of IPv6.
        assert sample.read(path, FIELDS["ipv6_src"]).tolist() == list(range(20))


def test_a_capture_cut_off_or_with_nonsense_in_it_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    nonsense = [
        ether(type=0x0800) / Raw(b"\x4f"),
        ether() / Raw(b""),
        ether(type=0x86DD) / Raw(b""),
    ]
    path = written(
        tmp_path / "x",
        [*PACKETS, *nonsense],
        lambda packet: packet if isinstance(packet, Ether) else ether() / packet,
        False,
    )
    assert len(sample.read(path, FIELDS["nw_src"])) == 300
    whole = path.read_bytes()
    for end in (24, 30, 40, 60, 90, len(whole) // 2):
        path.write_bytes(whole[:end])
        if end < 74:  # before the end of the first IP header
            with pytest.raises(ValueError, match=r"no packet has nw_src|expected a capture"):
                sample.read(path, FIELDS["nw_src"])
        else:
            assert 0 < len(sample.read(path, FIELDS["nw_src"])) < 300


INNER = IP(src="10.0.0.9", dst="10.0.0.8") / UDP(sport=7, dport=8)
INNER6 = IPv6(src="2001:db8::9", dst="2001:db8::8") / TCP(sport=7, dport=8)
OUTER = IP(src="10.0.0.1", dst="10.0.0.2")
OUTER6 = IPv6(src="2001:db8::1", dst="2001:db8::2")
LATER6 = IPv6ExtHdrFragment(offset=8, m=0, nh=17) / Raw(b"\0\7" * 20)


@pytest.mark.parametrize(
    ("packet", "seen"),
    [
        (OUTER / ICMP(type=3, code=3) / INNER, {"nw_src": 0x0A000001}),
        (OUTER / ICMP(type=11) / INNER, {"nw_src": 0x0A000001}),
        (OUTER / INNER, {"nw_src": 0x0A000001}),
        (OUTER / INNER6, {"nw_src": 0x0A000001}),
        (OUTER / GRE() / INNER, {"nw_src": 0x0A000001}),
        (OUTER / UDP(sport=9, dport=6080) / INNER, {"nw_src": 0x0A000001, "udp_src": 9}),
        (OUTER6 / ICMPv6DestUnreach() / INNER6, {"ipv6_src": 1}),
        (OUTER6 / INNER, {"ipv6_src": 1}),
        (OUTER6 / INNER6, {"ipv6_src": 1}),
        (OUTER6 / IPv6ExtHdrDestOpt() / TCP(sport=9), {"ipv6_src": 1}),
        (
            OUTER6 / IPv6ExtHdrHopByHop() / IPv6ExtHdrFragment(m=1) / UDP(sport=9),
            {"ipv6_src": 1},
        ),
        (OUTER6 / LATER6, {"ipv6_src": 1}),
        (OUTER6 / IPv6ExtHdrHopByHop() / LATER6, {"ipv6_src": 1}),
    ],
)
def test_what_a_packet_carries_is_not_counted(
    tmp_path: Path, packet: Packet, seen: dict[str, int]
) -> None:
    last = ether() / OUTER / TCP(sport=1), ether() / OUTER / UDP(sport=1), ether() / OUTER6
    path = written(tmp_path / "x", [ether() / packet, *last], lambda packet: packet, False)
    for field, others in (
        ("nw_src", [0x0A000001] * 2),
        ("ipv6_src", [1]),
        ("tcp_src", [1]),
        ("udp_src", [1]),
    ):
        expected = [seen[field]] if field in seen else []
        assert sample.read(path, FIELDS[field]).tolist() == [*expected, *others]


def block(order: str, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    return (
        struct.pack(f"{order}II", kind, len(body) + 12)
        + body
        + struct.pack(f"{order}I", len(body) + 12)
    )


def section(order: str, links: list[int], frames: list[tuple[int, bytes]], kind: int) -> bytes:
    """A pcapng section: `frames` are (interface, frame), `kind` that of their blocks."""
    made = [block(order, 0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))]
    made += [block(order, 1, struct.pack(f"{order}HHI", link, 0, 0)) for link in links]
    made.append(block(order, 5, bytes(12)))
    for place, frame in frames:
        head = {
            2: struct.pack(f"{order}HHIIII", place, 0, 0, 0, len(frame), len(frame)),
            3: struct.pack(f"{order}I", len(frame)),
            6: struct.pack(f"{order}IIIII", place, 0, 0, len(frame), len(frame)),
        }[kind]
        made.append(block(order, kind, head + frame))
    return b"".join(made)


def test_every_interface_of_every_section_has_its_link_type(tmp_path: Path) -> None:
    path = tmp_path / "x"
    bare, framed = bytes(PACKETS[1]), bytes(ether() / PACKETS[2])
    path.write_bytes(
        section("<", [101, 1], [(0, bare), (1, framed), (0, bare)], 6)
        + section(">", [1, 101], [(0, framed), (1, bare)], 2)
        + section("<", [101], [(0, bare)], 3)
    )
    ports = [1001, 1002, 1001, 1002, 1001, 1001]
    assert sample.read(path, FIELDS["tcp_src"]).tolist() == ports
    # Cut off anywhere: the packets before it.
    whole = path.read_bytes()
    first = whole.index(bare) + len(bare) + 4
    for end in range(first, len(whole)):
        path.write_bytes(whole[:end])
        found = sample.read(path, FIELDS["tcp_src"]).tolist()
        assert found == ports[: len(found)]
    for end in range(4, first - 4):
        path.write_bytes(whole[:end])
        with pytest.raises(ValueError, match=f"^{path}: no packet has tcp_src"):
            sample.read(path, FIELDS["tcp_src"])


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (section("<", [], [(0, b"x")], 6), "a packet of interface 0, of which nothing is said"),
        (section(">", [1], [(1, b"x")], 2), "a packet of interface 1, of which nothing is said"),
        (section("<", [147], [(0, b"x")], 6), "frames of link type 147: expected Ethernet"),
        (section("<", [1], [], 6) + struct.pack("<III", 6, 11, 0), "a block of 11 bytes"),
        (bytes.fromhex("0a0d0d0a") + bytes(40), "a section without a byte order"),
    ],
)
def test_what_is_no_pcapng(tmp_path: Path, raw: bytes, message: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(raw)
    with pytest.raises(ValueError, match=f"^{path}: {message}.*: expected"):
        sample.read(path, FIELDS["nw_src"])


@pytest.mark.parametrize(("order", "unit"), [("<", 0), (">", 0), ("<", 1), (">", 1)])
def test_a_capture_of_either_byte_order_with_micro_or_nanoseconds(
    tmp_path: Path, order: str, unit: int
) -> None:
    frame = bytes(PACKETS[5])
    head = struct.pack(f"{order}IHHiIII", (0xA1B2C3D4, 0xA1B23C4D)[unit], 2, 4, 0, 0, 65535, 101)
    path = tmp_path / "x"
    path.write_bytes(head + 2 * (struct.pack(f"{order}IIII", 0, 0, len(frame), 99) + frame))
    assert sample.read(path, FIELDS["tcp_src"]).tolist() == [1005, 1005]


@pytest.mark.parametrize(
    "raw",
    [
        struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
        + struct.pack("<IIII", 0, 0, 0xFFFFFFFF, 99),
        section("<", [1], [], 6) + struct.pack("<III", 6, 0xFFFFFFFC, 0),
    ],
    ids=["pcap", "pcapng"],
)
def test_a_packet_that_says_it_is_larger_than_memory(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(raw)
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (4_000_000_000, before[1]))
    try:
        with pytest.raises(ValueError, match=f"^{path}: a packet larger than memory: expected a c"):
            sample.read(path, FIELDS["nw_src"])
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(path := tmp_path / "x")
    with pytest.raises(ValueError, match=f"^{path}: a directory, a pipe or a device: expected a"):
        sample.read(path, FIELDS["nw_src"])


@pytest.mark.parametrize(
    ("field", "text", "values"),
    [
        ("nw_src", "10.0.0.1\n10.0.0.2\n", [0x0A000001, 0x0A000002]),
        ("nw_src", "client,bytes\n10.0.0.1,60\n\n10.0.0.2,61\n", [0x0A000001, 0x0A000002]),
        ("nw_src", "\ufeff10.0.0.1\r\n10.0.0.2\r\n", [0x0A000001, 0x0A000002]),
        ("nw_src", '"client",n\n"10.0.0.1","a\nb"\n 10.0.0.2 ,\n', [0x0A000001, 0x0A000002]),
        ("ipv6_src", "2001:db8::5\n", [5]),
        ("tcp_src", "port\n80\n65535\n", [80, 65535]),
    ],
)
def test_lists(tmp_path: Path, field: str, text: str, values: list[int]) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    assert sample.read(path, FIELDS[field]).tolist() == values


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("nw_src", "10.0.0.1\n10.0.0\n", ":2: '10.0.0': expected a value of nw_src"),
        ("nw_src", "a\n::1\n", ":2: '::1': expected a value of nw_src"),
        ("nw_src", "10.0.0.300\n10.0.0.1\n", ":1: '10.0.0.300': expected a value of nw_src"),
        ("ipv6_src", "fe80::x\nfe80::1\n", ":1: 'fe80::x': expected a value of ipv6_src"),
        ("nw_src", "10.0.0.1;60\n", ":1: '10.0.0.1;60': expected a value of nw_src"),
        ("nw_src", 'a,"b\nc"\nx\n', ":3: 'x': expected a value of nw_src"),
        ("nw_src", "a\n" + "1" * 140_000, ":2: field larger than field limit (131072): expected"),
        ("udp_src", "1\n65536\n", ":2: '65536': expected a value of udp_src"),
        ("udp_src", "1\n\u0663\n", "expected a value of udp_src"),
        ("nw_src", "", ": no packet has nw_src: expected some that have"),
        ("nw_src", "client\n", ": no packet has nw_src"),
        ("reg0", "1\n", ": reg0 is in no packet: expected another field"),
    ],
)
def test_what_is_no_list(tmp_path: Path, field: str, text: str, message: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match="expected") as caught:
        sample.read(path, FIELDS[field])
    assert message in str(caught.value)


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any),
    st.lists(st.integers(0, (1 << 32) - 1), min_size=1, max_size=50),
)
def test_each_packet_goes_where_its_longest_rule_says(weights: list[int], seen: list[int]) -> None:
    import numpy as np

    split = approximate(weights, 5, 6)
    expected = [0] * len(weights)
    for value in seen:
        own = [rule for rule in split.rules if (value & 31) >> 5 - rule.length == rule.prefix]
        expected[max(own, key=lambda rule: rule.length).target] += 1
    assert sample.got(split, np.array(seen, np.uint64)) == expected
    assert sample.got(split, np.arange(32, dtype=np.uint64)) == evaluate(
        split.rules, 5, len(weights)
    )


def test_far_from_uniform_is_told_and_chance_is_not(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    words = ("apply", "nobridge", "a=3", "b=5", "c=8", "--width", "8", "--sample", str(path))
    chance = random.Random(5)
    path.write_text("".join(f"10.0.0.{chance.randrange(256)}\n" for _ in range(20_000)))
    assert "uniform" not in CliRunner().invoke(command, words).stderr
    # Every client an even address.
    path.write_text("".join(f"10.0.0.{chance.randrange(128)}\n" for _ in range(20_000)))
    told = CliRunner().invoke(command, words).stderr
    split = approximate([3, 5, 8], 8)
    for name, addresses in zip("abc", split.partition, strict=True):
        assert f"{name} would get" in told
        assert f"of 20000 packets, not {addresses / 256:.2%}" in told
    assert "the lowest 8 bits of nw_src are far from uniform" in told
    # A dozen packets say nothing.
    path.write_text("10.0.0.1\n" * 3)
    assert "uniform" not in CliRunner().invoke(command, words).stderr
