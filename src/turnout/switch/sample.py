"""Packets that were seen, and how a split would have shared them: address bits are not uniform."""

import csv
import re
from collections.abc import Iterator
from fractions import Fraction
from ipaddress import ip_address
from pathlib import Path
from typing import Any, BinaryIO

import dpkt
import numpy as np
from numpy.typing import NDArray

from turnout.split import Split
from turnout.split.evaluate import segments
from turnout.switch import pcapng
from turnout.switch.field import Field

FAR = Fraction(1, 100)
"""A target's share of the sample is far from that of the split if it differs by more of all packets,
and by more than chance does."""

CHANCE = 4
"""Standard deviations that are still chance."""

Keys = NDArray[np.uint64]


def read(path: Path, field: Field) -> Keys:
    """The lowest 64 bits of the field of each packet that has it: a capture (pcap, pcapng) with a
    packet each, or a text with a value a line, the first column of CSV, whose first line may be
    names.

    Raises ValueError with the place for what is neither, for none at all, and for a register, which is
    in no packet; OSError where the file cannot be read.
    """
    if field.nft is None:
        raise ValueError(
            f"{path}: {field.name} is in no packet: expected another field for a sample"
        )
    if path.exists() and not path.is_file():
        # A pipe would be waited for, and a device may have no end.
        raise ValueError(f"{path}: a directory, a pipe or a device: expected a file")
    with path.open("rb") as file:
        capture = file.read(4) in (pcapng.SECTION, *CAPTURES)
    found = [*(_of_capture(path, field) if capture else _of_text(path, field))]
    if not found:
        raise ValueError(f"{path}: no packet has {field.name}: expected some that have")
    return np.array(found, np.uint64)


def got(split: Split, keys: Keys) -> list[int]:
    """How many of the packets go to each target."""
    rows = [*segments(split.rules, split.width)]
    starts = np.array([start for start, _, _ in rows], np.uint64)
    owners = np.array([owner for *_, owner in rows])
    masked = keys & np.uint64((1 << split.width) - 1)
    taken = owners[np.searchsorted(starts, masked, side="right") - 1]
    counts: list[int] = np.bincount(taken, minlength=len(split.partition)).tolist()
    return counts


def far(split: Split, counts: list[int]) -> list[int]:
    """The targets whose share of the packets is far from the one that they have of the addresses."""
    total = sum(counts)
    found = []
    for target, (count, addresses) in enumerate(zip(counts, split.partition, strict=True)):
        share = Fraction(addresses, 1 << split.width)
        apart = abs(Fraction(count, total) - share)
        if apart > FAR and apart**2 * total > CHANCE**2 * share * (1 - share):
            found.append(target)
    return found


CAPTURES = tuple(bytes.fromhex(magic) for magic in ("d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d"))
"""How they begin, in both byte orders, with micro- or nanoseconds."""


BARE = (12, 14, 101, 228, 229)
"""Link types without a header before that of IP (www.tcpdump.org/linktypes.html)."""


def _of_capture(path: Path, field: Field) -> Iterator[int]:
    kind, attribute = {
        "nw_src": (dpkt.ip.IP, "src"),
        "nw_dst": (dpkt.ip.IP, "dst"),
        "ipv6_src": (dpkt.ip6.IP6, "src"),
        "ipv6_dst": (dpkt.ip6.IP6, "dst"),
        "tcp_src": (dpkt.tcp.TCP, "sport"),
        "udp_src": (dpkt.udp.UDP, "sport"),
    }[field.name]
    with path.open("rb") as file:
        try:
            for link, frame in _frames(file):
                packet = _layer(_packet(frame, link), kind)
                if packet is not None:
                    value = getattr(packet, attribute)
                    yield int.from_bytes(value[-8:]) if isinstance(value, bytes) else value
        except (ValueError, dpkt.UnpackError, MemoryError) as error:
            found = str(error) or "a packet larger than memory"
            raise ValueError(f"{path}: {found}: expected a capture in pcap or pcapng") from None


def _frames(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    section = file.read(4) == pcapng.SECTION
    file.seek(0)
    if section:
        yield from pcapng.packets(file)
        return
    reader = dpkt.pcap.Reader(file)
    for _, frame in reader:
        yield reader.datalink(), frame


def _packet(frame: bytes, link: int) -> Any:
    """What is in a frame; None where it cannot be told."""
    try:
        match link:
            case dpkt.pcap.DLT_EN10MB:
                return dpkt.ethernet.Ethernet(frame)
            case dpkt.pcap.DLT_LINUX_SLL:
                return dpkt.sll.SLL(frame)
            case dpkt.pcap.DLT_LINUX_SLL2:
                return dpkt.sll2.SLL2(frame)
            case dpkt.pcap.DLT_NULL | dpkt.pcap.DLT_LOOP:
                # The family before it has another number on each system.
                return _bare(frame[4:])
            case _ if link in BARE:
                return _bare(frame)
    except (dpkt.UnpackError, IndexError):
        return None
    raise ValueError(f"frames of link type {link}: expected Ethernet, Linux's own or bare IP")


def _bare(packet: bytes) -> Any:
    return (dpkt.ip6.IP6 if packet[:1] >= b"\x60" else dpkt.ip.IP)(packet)


def _layer(packet: Any, kind: type) -> Any:
    """The outermost IP, or what is next in it, if it is of `kind`: into what a tunnel or an error of
    ICMP carries no switch looks."""
    while packet is not None and not isinstance(packet, dpkt.ip.IP | dpkt.ip6.IP6):
        packet = getattr(packet, "data", None)
    if kind in (dpkt.tcp.TCP, dpkt.udp.UDP):
        # Flows by a port are of IPv4 alone, as "tcp" and "udp" in Open vSwitch.
        packet = packet.data if isinstance(packet, dpkt.ip.IP) else None
    return packet if isinstance(packet, kind) else None


def _of_text(path: Path, field: Field) -> Iterator[int]:
    rows = csv.reader(path.read_bytes().decode("utf-8-sig", errors="replace").splitlines())
    try:
        for place, row in enumerate(rows):
            value = row[0].strip() if row else ""
            if not value:
                continue
            try:
                yield _value(value, field) & (1 << 64) - 1
            except ValueError:
                # Names begin with no digit and have no colon, or a first value that is wrong would be
                # taken for one.
                if place or not re.fullmatch(r"[^0-9:][^:]*", value):
                    raise ValueError(
                        f"{path}:{rows.line_num}: {value[:40]!r}: expected a value of {field.name}"
                    ) from None
    except csv.Error as error:
        raise ValueError(f"{path}:{rows.line_num}: {error}: expected a value a line") from None


def _value(text: str, field: Field) -> int:
    if field.bits == 16:
        number = int(text) if text.isascii() and text.isdecimal() else -1
        if not 0 <= number < 1 << 16:
            raise ValueError
        return number
    address = ip_address(text)
    if address.max_prefixlen != field.bits:
        raise ValueError
    return int(address)
