"""Checksums that the program computes from what it knows, for every value they can take."""

import struct
from collections.abc import Iterator
from ipaddress import ip_address

import pytest

from tests.vectors.frames import BY_NAME, CLIENT, FROM, OURS, VIP
from tests.xdp.instance import VERDICT_OF, Runner, mac
from turnout.xdp import Forwarder

ETHER = {4: mac(OURS) + mac(CLIENT) + b"\x08\x00", 6: mac(OURS) + mac(CLIENT) + b"\x86\xdd"}


def ones_sum(data: bytes) -> int:
    """Ones' complement sum of 16-bit words (RFC 1071): 0xffff where a checksum within is right."""
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data[: len(data) & ~1]))
    total += data[-1] << 8 if len(data) % 2 else 0
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def pseudo(source: bytes, destination: bytes, length: int, protocol: int) -> bytes:
    return source + destination + struct.pack(">II", length, protocol)


def ip(family: int, protocol: int, payload: bytes, traffic_class: int = 0) -> bytes:
    source, vip = ip_address(FROM[family]).packed, ip_address(VIP[family]).packed
    if family == 6:
        return (
            struct.pack(">IHBB", 6 << 28 | traffic_class << 20, len(payload), protocol, 57)
            + source
            + vip
            + payload
        )
    head = struct.pack(">BBHHHBB", 0x45, traffic_class, 20 + len(payload), 7, 0, 57, protocol)
    sum_ = 0xFFFF - ones_sum(head + bytes(2) + source + vip)
    return head + struct.pack(">H", sum_) + source + vip + payload


def echo_requests(family: int) -> Iterator[bytes]:
    """One for each value of a word of the payload, and so for each of the checksum."""
    source, vip = ip_address(FROM[family]).packed, ip_address(VIP[family]).packed
    for word in range(1 << 16):
        head, tail = (b"\x08\0", b"\0\7\0\1") if family == 4 else (b"\x80\0", b"\0\7\0\1")
        tail += struct.pack(">H", word)
        above = b"" if family == 4 else pseudo(source, vip, 10, 58)
        sum_ = 0xFFFF - ones_sum(above + head + tail)
        yield ip(family, 1 if family == 4 else 58, head + struct.pack(">H", sum_) + tail)


@pytest.mark.parametrize("family", [4, 6])
def test_echo_replies_have_a_right_checksum_whatever_they_carry(
    forwarder: Forwarder, family: int
) -> None:
    runner = Runner(forwarder.program)
    vip, client = ip_address(VIP[family]).packed, ip_address(FROM[family]).packed
    sums = set()
    for request in echo_requests(family):
        verdict, out = runner.run(ETHER[family] + request)
        assert verdict == VERDICT_OF["echo_answered"]
        icmp = out[14 + (20 if family == 4 else 40) :]
        if family == 4:
            assert ones_sum(out[14:34]) == 0xFFFF
            assert ones_sum(icmp) == 0xFFFF, request.hex()
            assert icmp[:2] == b"\0\0"
        else:
            assert ones_sum(pseudo(vip, client, len(icmp), 58) + icmp) == 0xFFFF, request.hex()
            assert icmp[:2] == b"\x81\0"
        assert icmp[4:] == request[-6:]
        sums.add(icmp[2:4])
    # 0 and 0xffff are the same number.
    assert len(sums) == 0xFFFF


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_outer_checksum_over_ipv6_is_right_for_many_source_ports(
    forwarder: Forwarder, family: int, protocol: str
) -> None:
    """With each port come another hash, another outer source port, another flow label."""
    runner = Runner(forwarder.program)
    s = BY_NAME[f"{protocol} {family} in gue 6"]
    number = 6 if protocol == "tcp" else 17
    source, vip = ip_address(FROM[family]).packed, ip_address(VIP[family]).packed
    payload = b"odd"
    length = len(payload) + (20 if protocol == "tcp" else 8)
    above = pseudo(source, vip, length, number)
    outer_ports = set()
    for port in range(1, 1 << 16, 5):
        ports = struct.pack(">HH", port, s["port"])
        if protocol == "tcp":
            head, tail = ports + struct.pack(">IIBBH", 1, 2, 0x50, 0x10, 512), b"\0\0" + payload
        else:
            head, tail = ports + struct.pack(">H", length), payload
        sum_ = 0xFFFF - ones_sum(above + head + b"\0\0" + tail)
        inner = ip(family, number, head + struct.pack(">H", sum_ or 0xFFFF) + tail, 0xB9)
        verdict, out = runner.run(ETHER[family] + inner)
        assert verdict == VERDICT_OF["forwarded"]
        udp = out[54:]
        assert udp[8:] == inner
        assert udp[6:8] != b"\0\0"
        assert ones_sum(out[22:54] + struct.pack(">II", len(udp), 17) + udp) == 0xFFFF, inner.hex()
        outer_ports.add(udp[:2])
    assert len(outer_ports) > 1 << 13
    assert min(outer_ports) >= b"\xc0\x00"
