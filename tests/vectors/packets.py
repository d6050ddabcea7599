"""Makes packets.json: frames, and what the forwarder makes of each.

To run: python -m tests.vectors.packets
"""

import json
from pathlib import Path
from typing import Any

from scapy.layers.inet import ICMP, IP, IPOption_NOP, IPOption_RR
from scapy.layers.inet6 import (
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    ICMPv6ND_NS,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
    PadN,
)
from scapy.layers.l2 import ARP, GRE, Dot1AD, Dot1Q, Ether
from scapy.packet import Packet, Raw

from tests.vectors.frames import (
    BY_NAME,
    CLIENT,
    FROM,
    HASH_KEY,
    OURS,
    ROUTER,
    SERVICES,
    STRANGER,
    VIP,
    VIP_ALL,
    Case,
    answered,
    dropped,
    forwarded,
    frame,
    ip,
    l4,
    passed,
    patched,
    tcp,
    udp,
)

FILE = Path(__file__).with_suffix(".json")


def mixes() -> list[Case]:
    """Every encapsulation and mix, tag in and out, TCP and UDP, odd and even payloads."""
    cases = []
    for s in SERVICES:
        if not 1000 <= (s["port"] or 0) < 2000:
            continue
        family = 4 if s["vip"] == VIP[4] else 6
        for vlan, payload in ((0, b"odd"), (42, b"even")):
            inner = ip(family, s["vip"]) / l4(s) / Raw(payload)
            name = f"{s['name']}, {'' if vlan else 'un'}tagged in"
            cases.append(forwarded(name, s, inner, vlan))
    return cases


def headers(family: int, outer: int) -> list[Case]:
    """What is copied and what is kept."""
    vip, mix = VIP[family], f"{family} in {outer}"
    s, u = BY_NAME[f"tcp {family} in gue {outer}"], BY_NAME[f"udp {family} in gue {outer}"]
    traffic_class, hops = ("tos", "ttl") if family == 4 else ("tc", "hlim")
    cases = [
        forwarded(
            f"traffic class {value:#x}, {mix}", s, ip(family, vip, **{traffic_class: value}) / l4(s)
        )
        for value in (0x03, 0xB8, 0xFF)
    ]
    options = [("MSS", 1460), ("SAckOK", b"")]
    plain = ip(family, vip)
    return [
        *cases,
        forwarded(f"TCP options, {mix}", s, plain / l4(s, flags="S", options=options)),
        forwarded(f"last hop, {mix}", s, ip(family, vip, **{hops: 1}) / l4(s)),
        forwarded(f"empty datagram, {mix}", u, plain / l4(u)),
        forwarded(f"Ethernet padding, {mix}", u, plain / l4(u) / Raw(b"x"), trailer=bytes(17)),
        forwarded(f"UDP checksum 0, {mix}", u, plain / l4(u, chksum=0) / Raw(b"1"), summed=False),
        forwarded(
            f"UDP ends early, {mix}", u, plain / l4(u, len=10) / Raw(b"longer"), summed=False
        ),
    ]


def services(family: int) -> list[Case]:
    """Which service, which member, and whether it can be reached."""
    vip = VIP[family]
    whole = VIP_ALL[family]
    client, other = BY_NAME[f"client hash {family}"], BY_NAME[f"other interface {family}"]
    every, exact = BY_NAME[f"all ports {family}"], BY_NAME[f"one of all {family}"]
    jumbo, s = BY_NAME[f"jumbo {family}"], BY_NAME[f"tcp {family} in gue 4"]
    full = 1500 - 28 - len(ip(family, vip) / l4(s))
    cases = [
        forwarded(f"client hash, {family}", client, ip(family, vip) / l4(client)),
        forwarded(f"out by another interface, {family}", other, ip(family, vip) / l4(other)),
        forwarded(f"all ports, {family}", every, ip(family, whole) / l4(every, port=12345)),
        forwarded(f"exact port before all ports, {family}", exact, ip(family, whole) / l4(exact)),
        forwarded(
            f"several buffers, {family}",
            jumbo,
            ip(family, vip) / l4(jumbo) / Raw(bytes(range(256)) * 30),
        ),
        forwarded(f"fits to the byte, {family}", s, ip(family, vip) / l4(s) / Raw(bytes(full))),
        dropped(
            f"one byte too long, {family}",
            "too_big",
            frame(ip(family, vip) / l4(s) / Raw(bytes(full + 1))),
        ),
        passed(
            f"other address, {family}", "not_service", frame(ip(family, STRANGER[family]) / l4(s))
        ),
        passed(f"other port, {family}", "not_service", frame(ip(family, vip) / tcp(9))),
        passed(f"other protocol, {family}", "not_service", frame(ip(family, vip) / udp(2005))),
        passed(f"all ports of TCP, {family}", "not_service", frame(ip(family, whole) / udp(80))),
    ]
    for name, reason in (
        ("down", "no_member"),
        ("draining", "no_member"),
        ("no next hop", "no_next_hop"),
    ):
        s = BY_NAME[f"{name} {family}"]
        cases.append(dropped(f"{name}, {family}", reason, frame(ip(family, vip) / l4(s))))
    return cases


def ipv4() -> list[Case]:
    """Options, fragments and faults."""
    s, u = BY_NAME["tcp 4 in gue 6"], BY_NAME["udp 4 in ipip 4"]
    vip = VIP[4]
    good = frame(ip(4, vip) / l4(s) / Raw(bytes(64)))
    short = frame(ip(4, vip) / l4(s))
    foreign = patched(good, 30, bytes([192, 0, 2, 99]))
    nine = IPOption_RR(length=39, routers=["0.0.0.0"] * 9)

    def fragment(to: str, protocol: int, flags: str = "") -> bytes:
        return frame(ip(4, to, frag=5, proto=protocol, flags=flags) / Raw(bytes(8)))

    def datagram(length: int) -> bytes:
        return frame(ip(4, vip) / l4(u, len=length) / Raw(bytes(9)))

    cut = "bad_tcp_header"
    return [
        forwarded("IPv4 options", s, ip(4, vip, options=[IPOption_NOP()]) / l4(s) / Raw(b"x")),
        forwarded("most IPv4 options", s, ip(4, vip, options=[nine]) / l4(s) / Raw(b"xy")),
        dropped("first fragment", "fragment", frame(ip(4, vip, flags="MF") / l4(s))),
        dropped("later fragment", "fragment", fragment(vip, 6, "MF")),
        dropped("last fragment", "fragment", fragment(vip, 17)),
        passed("first fragment, other port", "not_service", frame(ip(4, vip, flags="MF") / tcp(9))),
        passed("fragment of another protocol", "vip_other", fragment(vip, 1)),
        passed("fragment to a stranger", "not_service", fragment(STRANGER[4], 6)),
        dropped("TTL 0", "ttl_expired", patched(good, 22, b"\0")),
        dropped("IPv4 header of 16 bytes", "bad_ip_header", patched(good, 14, b"\x44")),
        dropped("IPv4 header beyond its packet", "bad_ip_header", patched(short, 14, b"\x4f")),
        dropped("IPv4 length below its header", "bad_ip_header", patched(good, 16, b"\0\x13")),
        dropped("IPv4 length beyond the frame", "truncated", patched(good, 16, b"\5\xdc")),
        dropped("IPv4 ends within TCP", cut, patched(good, 16, b"\0\x1e")),
        dropped("IPv4 ends before the ports", cut, patched(good, 16, b"\0\x16")),
        dropped("TCP header of 16 bytes", cut, patched(good, 46, b"\x40")),
        dropped("TCP header beyond its packet", cut, patched(short, 46, b"\x60")),
        dropped("UDP length below its header", "bad_udp_length", datagram(7)),
        dropped("UDP length beyond its packet", "bad_udp_length", datagram(18)),
        passed("IPv4 of version 5", "malformed_ip", patched(good, 14, b"\x55")),
        passed("IPv4 header cut short", "malformed_ip", good[:33]),
        passed("TTL 0 to a stranger", "not_service", patched(foreign, 22, b"\0")),
        passed("IPv4 header of 16 bytes, stranger", "not_service", patched(foreign, 14, b"\x44")),
    ]


def ipv6() -> list[Case]:
    """Extension headers, fragments and faults."""
    s, u = BY_NAME["tcp 6 in gre 6"], BY_NAME["udp 6 in gue 6"]
    vip, fragment = VIP[6], IPv6ExtHdrFragment
    hop, route, last = IPv6ExtHdrHopByHop(), IPv6ExtHdrRouting(addresses=[]), IPv6ExtHdrDestOpt()
    chains: dict[str, Packet] = {
        "hop-by-hop": hop,
        "routing header": route,
        "long destination options": IPv6ExtHdrDestOpt(options=[PadN(optdata=bytes(60))]),
        "four extension headers": hop / last / route / last,
        "atomic fragment": fragment(),
    }
    five = hop / last / last / last / last
    good = frame(ip(6, vip) / l4(s) / Raw(bytes(64)))
    cut = "bad_tcp_header"
    behind = patched(frame(ip(6, vip) / hop / l4(s)), 55, b"\x09")
    foreign = ip(6, STRANGER[6])
    later = fragment(offset=9, nh=6) / Raw(bytes(8))
    return [
        *(
            forwarded(f"IPv6 {name}, {t['protocol']}", t, ip(6, vip) / chain / l4(t), summed=False)
            for name, chain in chains.items()
            for t in (s, u)
        ),
        dropped(
            "IPv6 five extension headers", "extension_headers", frame(ip(6, vip) / five / l4(s))
        ),
        passed("IPv6 five, to a stranger", "not_service", frame(foreign / five / l4(s))),
        dropped("IPv6 first fragment", "fragment", frame(ip(6, vip) / fragment(m=1) / l4(s))),
        dropped("IPv6 later fragment", "fragment", frame(ip(6, vip) / later)),
        passed(
            "IPv6 fragment of another protocol",
            "vip_other",
            frame(ip(6, vip) / fragment(offset=9, nh=58) / Raw(bytes(8))),
        ),
        passed("IPv6 fragment to a stranger", "not_service", frame(foreign / later)),
        dropped("hop limit 0", "ttl_expired", patched(good, 21, b"\0")),
        dropped("IPv6 length beyond the frame", "truncated", patched(good, 18, b"\5\xdc")),
        dropped("IPv6 ends within TCP", cut, patched(good, 18, b"\0\x10")),
        dropped("IPv6 without payload", cut, patched(good, 18, b"\0\0")),
        dropped("IPv6 extension header beyond its packet", "bad_ip_header", behind),
        dropped("IPv6 extension header cut short", "truncated", behind[:58]),
        passed("IPv6 of version 4", "malformed_ip", patched(good, 14, b"\x40")),
        passed("IPv6 header cut short", "malformed_ip", good[:53]),
        passed("IPv6 authenticated", "vip_other", frame(ip(6, vip, nh=51) / Raw(bytes(24)))),
    ]


def echoes() -> list[Case]:
    """Requests that are answered."""
    cases = []
    for payload in (b"", b"x", bytes(range(56)), b"\xff" * 1000):
        for vlan in (0, 42):
            name = f"of {len(payload)} bytes{', tagged' if vlan else ''}"
            back = IP(src=VIP[4], dst=FROM[4], ttl=64, id=4711)
            cases.append(
                answered(
                    f"echo request {name}",
                    ip(4, VIP[4]) / ICMP(id=7, seq=9) / Raw(payload),
                    back / ICMP(type=0, id=7, seq=9) / Raw(payload),
                    vlan,
                )
            )
            cases.append(
                answered(
                    f"ICMPv6 echo request {name}",
                    ip(6, VIP[6]) / ICMPv6EchoRequest(id=7, seq=9, data=payload),
                    IPv6(src=VIP[6], dst=FROM[6], hlim=64)
                    / ICMPv6EchoReply(id=7, seq=9, data=payload),
                    vlan,
                )
            )
    return cases


def not_answered() -> list[Case]:
    """Other ICMP, and what is not for a VIP at all."""
    good = frame(ip(4, VIP[4]) / ICMP(id=7, seq=9) / Raw(bytes(8)))
    good6 = frame(ip(6, VIP[6]) / ICMPv6EchoRequest(data=bytes(8)))
    fragment = ip(4, VIP[4], flags="MF") / ICMP(id=7) / Raw(bytes(8))
    options = ip(4, VIP[4], options=[IPOption_NOP()]) / ICMP(id=7)
    behind = ip(6, VIP[6]) / IPv6ExtHdrHopByHop() / ICMPv6EchoRequest()
    s = BY_NAME["tcp 4 in gue 4"]
    flow = ip(4, VIP[4]) / l4(s)
    ether = Ether(dst=OURS, src=CLIENT)
    return [
        passed("echo reply to a VIP", "vip_other", frame(ip(4, VIP[4]) / ICMP(type=0))),
        passed("echo request to a stranger", "not_service", frame(ip(4, STRANGER[4]) / ICMP())),
        passed(
            "ICMPv6 echo request to a stranger",
            "not_service",
            frame(ip(6, STRANGER[6]) / ICMPv6EchoRequest()),
        ),
        passed("fragmented echo request", "vip_other", frame(fragment)),
        passed("echo request with IPv4 options", "vip_other", frame(options)),
        passed("ICMPv6 echo request behind an extension header", "vip_other", frame(behind)),
        passed("echo request sent to all", "vip_other", patched(good, 0, b"\xff" * 6)),
        passed("flow sent to all", "vip_other", patched(frame(flow), 0, b"\xff" * 6)),
        passed("flow sent to a group", "vip_other", patched(frame(flow), 0, b"\x01\x00\x5e")),
        passed("echo request cut short", "vip_other", good[:41]),
        dropped("echo request, payload missing", "truncated", good[:45]),
        dropped("echo request, TTL 0", "ttl_expired", patched(good, 22, b"\0")),
        dropped("ICMPv6 echo request, hop limit 0", "ttl_expired", patched(good6, 21, b"\0")),
        passed("neighbour solicitation", "vip_other", frame(ip(6, VIP[6]) / ICMPv6ND_NS())),
        passed("GRE to a VIP", "vip_other", frame(ip(4, VIP[4]) / GRE() / IP())),
        passed("ARP", "not_ip", frame(ARP(pdst=VIP[4]))),
        passed("Ethernet header alone", "malformed_ip", frame(flow)[:14]),
        passed("tag cut short", "not_ip", frame(flow, vlan=1)[:17]),
        passed("two tags", "stacked_vlan", bytes(ether / Dot1Q(vlan=1) / Dot1Q(vlan=2) / flow)),
        passed(
            "provider tag", "stacked_vlan", bytes(ether / Dot1AD(vlan=1) / Dot1Q(vlan=2) / flow)
        ),
    ]


def document() -> dict[str, Any]:
    families = (4, 6)
    return {
        "about": "Frames and what the forwarder makes of them, by packets.py.",
        "own_mac": OURS,
        "next_hop": ROUTER,
        "hash_key": HASH_KEY.hex(),
        "services": SERVICES,
        "cases": [
            *mixes(),
            *(case for f in families for outer in families for case in headers(f, outer)),
            *(case for f in families for case in services(f)),
            *ipv4(),
            *ipv6(),
            *echoes(),
            *not_answered(),
        ],
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(document(), indent=1) + "\n")
