"""What has to become of a frame, said once more in Python from the rules in docs/wire.md.

For frames in one buffer, and the services of the packet vectors.
"""

from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

from tests.xdp.instance import VECTORS

TCP, UDP, ICMP, ICMP6 = 6, 17, 1, 58
HOP_BY_HOP, ROUTING, FRAGMENT, OPTIONS = 0, 43, 44, 60
EXTENSIONS = {HOP_BY_HOP, ROUTING, FRAGMENT, OPTIONS}
NUMBERS = {"tcp": TCP, "udp": UDP}
LEAST = {TCP: 20, UDP: 8}
BAD_HEADER = {TCP: "bad_tcp_header", UDP: "bad_udp_length"}
SHIM = {"gue": 8, "gre": 4, "ipip": 0}

SERVICES: dict[tuple[bytes, int, int | None], dict[str, Any]] = {
    (ip_address(s["vip"]).packed, NUMBERS[s["protocol"]], s["port"]): s for s in VECTORS["services"]
}
PROTOCOLS: dict[bytes, set[int]] = {}
for _vip, _protocol, _ in SERVICES:
    PROTOCOLS.setdefault(_vip, set()).add(_protocol)
DELIVERIES = {"forwarded", "redirected", "no_member", "no_next_hop", "too_big"}


def reason(frame: bytes) -> str:
    """Under which the frame has to be counted."""
    if len(frame) < 14:
        return "not_ip"
    kind, packet = frame[12:14], frame[14:]
    if kind == b"\x81\x00":
        if len(frame) < 18:
            return "not_ip"
        kind, packet = frame[16:18], frame[18:]
        if kind == b"\x81\x00":
            return "stacked_vlan"
    if kind == b"\x88\xa8":
        return "stacked_vlan"
    if kind == b"\x08\x00":
        return _ipv4(packet, bool(frame[0] & 1))
    if kind == b"\x86\xdd":
        return _ipv6(packet, bool(frame[0] & 1))
    return "not_ip"


def _number(packet: bytes, at: int) -> int:
    return packet[at] << 8 | packet[at + 1]


def _ipv4(packet: bytes, to_many: bool) -> str:
    if len(packet) < 20 or packet[0] >> 4 != 4:
        return "malformed_ip"
    header, total, flags = (packet[0] & 15) * 4, _number(packet, 2), _number(packet, 6)
    more, offset = bool(flags & 0x2000), flags & 0x1FFF
    hops, protocol, vip = packet[8], packet[9], packet[16:20]
    if protocol not in LEAST:
        echo = protocol == ICMP and header == 20 and not more and not offset
        echo = echo and total >= 28 and len(packet) >= 28 and packet[20:22] == b"\x08\x00"
        return _other(vip, echo, to_many, hops, total > len(packet))
    if header < 20 or header > total:
        return _portless(vip, protocol, "bad_ip_header")
    if offset:
        return _portless(vip, protocol, "fragment")
    faults = ["fragment"] if more else []
    found = _transport(packet, header, total, hops, vip, protocol, faults)
    return _to_many(found) if to_many else found


def _ipv6(packet: bytes, to_many: bool) -> str:
    if len(packet) < 40 or packet[0] >> 4 != 6:
        return "malformed_ip"
    total, following, hops = 40 + _number(packet, 4), packet[6], packet[7]
    vip, at, seen = packet[24:40], 40, 0
    faults: list[str] = []
    if following == ICMP6:
        echo = total >= 48 and len(packet) >= 48 and packet[40:42] == b"\x80\x00"
        return _other(vip, echo, to_many, hops, total > len(packet))
    while following not in LEAST:
        if following not in EXTENSIONS:
            return _other(vip, False, to_many, hops, False)
        if seen == 4:
            return _portless(vip, None, (*faults, "extension_headers")[0])
        if len(packet) < at + 8:
            return _portless(vip, None, (*faults, "truncated")[0])
        seen += 1
        kind, following = following, packet[at]
        if kind != FRAGMENT:
            at += 8 + 8 * packet[at + 1]
            continue
        offset = _number(packet, at + 2)
        if offset & 0xFFF9:
            faults.append("fragment")
        if offset & 0xFFF8:
            return _portless(vip, None if following in EXTENSIONS else following, faults[0])
        at += 8
    if at > total:
        return _portless(vip, following, (*faults, "bad_ip_header")[0])
    found = _transport(packet, at, total, hops, vip, following, faults)
    return _to_many(found) if to_many else found


def _to_many(found: str) -> str:
    """What is whole and for a service is not forwarded."""
    return "vip_other" if found in DELIVERIES else found


def _other(vip: bytes, echo: bool, to_many: bool, hops: int, short: bool) -> str:
    if vip not in PROTOCOLS:
        return "not_service"
    if not echo:
        return "vip_other"
    if hops == 0:
        return "ttl_expired"
    if short:
        return "truncated"
    return "vip_other" if to_many else "echo_answered"


def _portless(vip: bytes, protocol: int | None, fault: str) -> str:
    """None: what is behind the extension headers is not known."""
    if vip not in PROTOCOLS:
        return "not_service"
    return fault if protocol is None or protocol in PROTOCOLS[vip] else "vip_other"


def _transport(
    packet: bytes, at: int, total: int, hops: int, vip: bytes, protocol: int, faults: list[str]
) -> str:
    length = total - at
    if hops == 0:
        faults.append("ttl_expired")
    if length < LEAST[protocol] or (
        len(packet) >= at + LEAST[protocol] and not _HEADER[protocol](packet, at, length)
    ):
        faults.append(BAD_HEADER[protocol])
    if total > len(packet):
        faults.append("truncated")
    if length < 4 or len(packet) < at + 4:
        return _portless(vip, protocol, (*faults, "truncated")[0])
    port = _number(packet, at + 2)
    service = SERVICES.get((vip, protocol, port)) or SERVICES.get((vip, protocol, None))
    if service is None:
        return "not_service"
    return faults[0] if faults else _delivery(service, total)


def _tcp_header(packet: bytes, at: int, length: int) -> bool:
    return 20 <= (packet[at + 12] >> 4) * 4 <= length


def _udp_header(packet: bytes, at: int, length: int) -> bool:
    return 8 <= _number(packet, at + 4) <= length


_HEADER: dict[int, Callable[[bytes, int, int], bool]] = {TCP: _tcp_header, UDP: _udp_header}


def _delivery(service: dict[str, Any], total: int) -> str:
    if service["state"] != "up":
        return "no_member"
    if service["egress"] is None:
        return "no_next_hop"
    outer = 20 if ip_address(service["backend"]).version == 4 else 40
    if outer + SHIM[service["encapsulation"]] + total > service["mtu"]:
        return "too_big"
    return "redirected" if service["egress"] == "other" else "forwarded"
