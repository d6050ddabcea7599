"""Makes decap.json: frames that reach a backend, and what the agent makes of each.

To run: python -m tests.vectors.decap
"""

import json
from itertools import product
from pathlib import Path
from typing import Any

from scapy.layers.inet import IP, TCP, UDP, IPOption_NOP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment
from scapy.layers.l2 import ARP, GRE, Ether
from scapy.packet import Packet, Raw

FILE = Path(__file__).with_suffix(".json")

HOST, ROUTER = "02:00:00:00:00:01", "02:00:00:00:00:02"
BACKEND = {4: "10.0.2.11", 6: "fd00:2::11"}
INSTANCES = {4: ("10.0.1.1", "10.0.1.2"), 6: ("fd00:1::1", "fd00:1::2")}
VIP = {4: "192.0.2.10", 6: "2001:db8::10"}
STRANGER = {4: "192.0.2.99", 6: "2001:db8::99"}
CLIENT = {4: "198.51.100.7", 6: "2001:db8:7::7"}
ETHER = {4: 0x0800, 6: 0x86DD}
GUE_PORT = 6080

MIXES = tuple(product(("gue", "ipip", "gre"), (4, 6), (4, 6)))
"""Encapsulation, version inside, version outside."""

# RFC 6040, figure 4: what the inner field becomes, by inner (row) and outer (column), in the order
# of the values Not-ECT, ECT(1), ECT(0), CE.
ECN = (
    (0, 0, 0, None),
    (1, 1, 1, 3),
    (2, 1, 2, 3),
    (3, 3, 3, 3),
)

Case = dict[str, Any]


def ip(version: int, source: str, to: str, traffic_class: int = 0, **fields: Any) -> Packet:
    if version == 4:
        return IP(src=source, dst=to, **{"tos": traffic_class, "ttl": 57, **fields})
    return IPv6(src=source, dst=to, **{"tc": traffic_class, "hlim": 57, **fields})


def inner(version: int, to: str = "", **fields: Any) -> Packet:
    """A client's packet up to its IP header."""
    return ip(version, CLIENT[version], to or VIP[version], **fields)


def request(version: int, **fields: Any) -> Packet:
    tcp = TCP(sport=40001, dport=80, flags="PA", seq=1, ack=1)
    return inner(version, **fields) / tcp / Raw(b"GET / HTTP/1.0\r\n\r\n")


def outer(
    encapsulation: str, inside: int, outside: int, source: str = "", to: str = "", **fields: Any
) -> Packet:
    """The headers that an instance puts in front."""
    protocol = {"gue": 17, "gre": 47, "ipip": 4 if inside == 4 else 41}[encapsulation]
    number: dict[str, Any] = {"proto" if outside == 4 else "nh": protocol}
    ends = source or INSTANCES[outside][0], to or BACKEND[outside]
    packet = ip(outside, ends[0], ends[1], **number, **fields)
    if encapsulation == "gue":
        return packet / UDP(sport=50001, dport=GUE_PORT)
    return packet / GRE(proto=ETHER[inside]) if encapsulation == "gre" else packet


def frame(packet: Packet | bytes, version: int) -> bytes:
    return bytes(Ether(dst=HOST, src=ROUTER, type=ETHER[version]) / Raw(bytes(packet)))


def opened(name: str, outside: int, headers: Packet, content: Packet, **more: Any) -> Case:
    """`becomes`: the inner packet afterwards, where it is another; `trailer`: bytes behind it."""
    trailer = more.get("trailer", b"")
    inside = content.version
    return {
        "name": name,
        "outside": outside,
        "in": (frame(headers / Raw(bytes(content)), outside) + trailer).hex(),
        "reason": "decapsulated",
        "out": (frame(more.get("becomes", content), inside) + trailer).hex(),
    }


def passed(name: str, outside: int, reason: str, data: bytes) -> Case:
    return {
        "name": name,
        "outside": outside,
        "in": data.hex(),
        "reason": reason,
        "out": data.hex(),
    }


def dropped(name: str, outside: int, reason: str, data: bytes) -> Case:
    return {"name": name, "outside": outside, "in": data.hex(), "reason": reason, "out": None}


def patched(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def mix(encapsulation: str, inside: int, outside: int) -> list[Case]:
    """One encapsulation and mix: opened, from whom, to whom."""
    name = f"{inside} in {encapsulation} {outside}"
    ours = encapsulation, inside, outside
    good, other = request(inside), request(inside, to=STRANGER[inside])
    datagram = inner(inside) / UDP(sport=40001, dport=53) / Raw(b"odd")
    hops = {"ttl" if inside == 4 else "hlim": 1}
    second = INSTANCES[outside][1]
    return [
        opened(f"TCP, {name}", outside, outer(*ours), good),
        opened(f"UDP, {name}", outside, outer(*ours), datagram),
        opened(f"second instance, {name}", outside, outer(*ours, source=second), good),
        opened(f"last hop, {name}", outside, outer(*ours), request(inside, **hops)),
        opened(f"Ethernet padding, {name}", outside, outer(*ours), datagram, trailer=bytes(9)),
        opened(f"full size, {name}", outside, outer(*ours), datagram / Raw(bytes(1400))),
        passed(
            f"not from an instance, {name}",
            outside,
            "not_instance",
            frame(outer(*ours, source=CLIENT[outside]) / Raw(bytes(good)), outside),
        ),
        passed(
            f"to another backend, {name}",
            outside,
            "not_own",
            frame(outer(*ours, to=STRANGER[outside]) / Raw(bytes(good)), outside),
        ),
        dropped(
            f"for no VIP, {name}",
            outside,
            "not_vip",
            frame(outer(*ours) / Raw(bytes(other)), outside),
        ),
    ]


def congestion(encapsulation: str, inside: int, outside: int) -> list[Case]:
    """Every pair of ECN fields; the DSCP of the inner packet stays."""
    cases = []
    for within, without in product(range(4), range(4)):
        name = f"ECN {within} in {without}, {inside} in {encapsulation} {outside}"
        content = request(inside, traffic_class=0xB8 | within)
        headers = outer(encapsulation, inside, outside, traffic_class=0x28 | without)
        after = ECN[within][without]
        if after is None:
            data = frame(headers / Raw(bytes(content)), outside)
            cases.append(dropped(name, outside, "congestion", data))
        else:
            becomes = request(inside, traffic_class=0xB8 | after)
            cases.append(opened(name, outside, headers, content, becomes=becomes))
    return cases


def contents(outside: int) -> list[Case]:
    """Inner packets of every kind, the right ones opened."""
    four, six = outer("gue", 4, outside), outer("gue", 6, outside)

    def wrong(name: str, headers: Packet, content: bytes, reason: str = "malformed") -> Case:
        return dropped(
            f"{name}, outside {outside}", outside, reason, frame(headers / Raw(content), outside)
        )

    good4, good6 = bytes(request(4)), bytes(request(6))
    options = inner(4, options=[IPOption_NOP()]) / TCP(dport=80)
    later = inner(4, frag=3, proto=6) / Raw(bytes(24))
    extended = inner(6) / IPv6ExtHdrDestOpt() / TCP(dport=80)
    fragment = inner(6) / IPv6ExtHdrFragment(offset=3, nh=6) / Raw(bytes(24))
    return [
        opened(f"inner IPv4 options, outside {outside}", outside, four, options),
        opened(f"inner IPv4 fragment, outside {outside}", outside, four, later),
        opened(f"inner extension header, outside {outside}", outside, six, extended),
        opened(f"inner IPv6 fragment, outside {outside}", outside, six, fragment),
        wrong("inner version 5", four, patched(good4, 0, b"\x55")),
        wrong("GUE variant 0", four, b"\x00\x04\x00\x00" + good4),
        wrong("inner header of 16 bytes", four, patched(good4, 0, b"\x44")),
        wrong("inner IPv4 length below its header", four, patched(good4, 2, b"\0\x13")),
        wrong("inner IPv4 length one too many", four, patched(good4, 3, bytes([len(good4) + 1]))),
        wrong("inner IPv6 length one too many", six, patched(good6, 5, bytes([len(good6) - 39]))),
        wrong("nothing inside", four, b""),
        wrong("GRE says IPv4, IPv6 inside", outer("gre", 4, outside), good6),
        wrong("GRE says IPv6, IPv4 inside", outer("gre", 6, outside), good4),
        wrong("protocol says IPv4, IPv6 inside", outer("ipip", 4, outside), good6),
        wrong("protocol says IPv6, IPv4 inside", outer("ipip", 6, outside), good4),
        wrong(
            "inner destination is the backend",
            outer("ipip", outside, outside),
            bytes(request(outside, to=BACKEND[outside])),
            "not_vip",
        ),
    ]


def foreign(outside: int) -> list[Case]:
    """From an instance, but in no form that instances send."""
    host = ip(outside, INSTANCES[outside][0], BACKEND[outside])
    good = Raw(bytes(request(4)))
    gre = ip(outside, INSTANCES[outside][0], BACKEND[outside], **_number(outside, 47))
    packets = {
        "GRE with a key": gre / GRE(proto=ETHER[4], key_present=1, key=7) / good,
        "GRE with a checksum": gre / GRE(proto=ETHER[4], chksum_present=1) / good,
        "GRE with a sequence number": gre / GRE(proto=ETHER[4], seqnum_present=1) / good,
        "GRE of version 1": gre / GRE(proto=ETHER[4], version=1) / good,
        "GRE with Ethernet inside": gre / GRE(proto=0x6558) / Ether() / good,
        "UDP to another port": host / UDP(sport=GUE_PORT, dport=6081) / good,
        "TCP to the backend itself": host / TCP(dport=GUE_PORT) / good,
        "ESP": ip(outside, INSTANCES[outside][0], BACKEND[outside], **_number(outside, 50)) / good,
    }
    return [
        passed(f"{name}, outside {outside}", outside, "not_encapsulated", frame(packet, outside))
        for name, packet in packets.items()
    ]


def _number(version: int, protocol: int) -> dict[str, Any]:
    return {"proto" if version == 4 else "nh": protocol}


def outer_headers() -> list[Case]:
    """What the outer headers may say and what they may not."""
    good = Raw(bytes(request(4)))
    gue4, gue6 = outer("gue", 4, 4), outer("gue", 4, 6)

    def untouched(name: str, outside: int, packet: Packet) -> Case:
        return passed(name, outside, "not_encapsulated", frame(packet, outside))

    def malformed(name: str, **fields: Any) -> Case:
        return dropped(name, 4, "malformed", frame(outer("ipip", 4, 4, **fields) / good, 4))

    whole = len(outer("ipip", 4, 4) / good)
    behind = ip(6, INSTANCES[6][0], BACKEND[6]) / IPv6ExtHdrDestOpt(nh=4) / good
    cases = [
        opened("outer DF", 4, outer("gue", 4, 4, flags="DF"), request(4)),
        untouched("outer IPv4 options", 4, outer("ipip", 4, 4, options=[IPOption_NOP()]) / good),
        untouched("outer first fragment", 4, outer("ipip", 4, 4, flags="MF") / good),
        untouched("outer later fragment", 4, outer("ipip", 4, 4, frag=9) / good),
        untouched("outer extension header", 6, behind),
        malformed("outer length one too few", len=whole - 1),
        malformed("outer length one too many", len=whole + 1),
        malformed("outer IPv4 checksum wrong", chksum=0xBAD),
        passed("ARP", 4, "not_encapsulated", bytes(Ether(dst=HOST, src=ROUTER) / ARP())),
    ]
    for headers, outside in ((gue4, 4), (gue6, 6)):
        for name, value in (("zero", 0), ("wrong", 0xBAD)):
            changed = headers.copy()
            changed[UDP].chksum = value
            case = opened(f"outer UDP checksum {name}, {outside}", outside, changed, request(4))
            cases.append(case)
    return cases


def document() -> dict[str, Any]:
    return {
        "about": "Frames that reach a backend and what the agent makes of them, by decap.py.",
        "instances": INSTANCES,
        "backend": BACKEND,
        "vips": list(VIP.values()),
        "cases": [
            *(case for how in MIXES for case in mix(*how)),
            *(
                case
                for inside, outside in product((4, 6), (4, 6))
                for case in congestion("gue", inside, outside)
            ),
            *(case for outside in (4, 6) for case in contents(outside)),
            *(case for outside in (4, 6) for case in foreign(outside)),
            *outer_headers(),
        ],
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(document(), indent=1) + "\n")
