"""Services and frames for packets.py: what comes in, and what has to leave, by scapy.

The flow hash is written out again here, so that the vectors know nothing of the code that is
held to them.
"""

from ipaddress import ip_address
from itertools import product
from typing import Any

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import GRE, Dot1Q, Ether
from scapy.packet import Packet, Raw

OURS, ROUTER, CLIENT = "02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:03"
SOURCE = {4: "10.0.1.1", 6: "fd00:1::1"}
BACKEND = {4: "10.0.2.11", 6: "fd00:2::11"}
VIP = {4: "192.0.2.10", 6: "2001:db8::10"}
VIP_ALL = {4: "192.0.2.20", 6: "2001:db8::20"}
STRANGER = {4: "192.0.2.99", 6: "2001:db8::99"}
FROM = {4: "198.51.100.7", 6: "2001:db8:7::7"}
HASH_KEY = bytes(range(16))
GUE_PORT = 6080
TAG = 7

Service = dict[str, Any]
Case = dict[str, Any]


def rotate(x: int, bits: int) -> int:
    return (x << bits | x >> 64 - bits) & (1 << 64) - 1


def siphash13(message: bytes, key: bytes) -> int:
    """Aumasson and Bernstein, 2012: one round a word, three to finish."""
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]

    def sip_round() -> None:
        for a, b, left, c, d, right in ((0, 1, 13, 2, 3, 16), (2, 1, 17, 0, 3, 21)):
            v[a] = v[a] + v[b] & (1 << 64) - 1
            v[c] = v[c] + v[d] & (1 << 64) - 1
            v[b] = rotate(v[b], left) ^ v[a]
            v[d] = rotate(v[d], right) ^ v[c]
            v[a] = rotate(v[a], 32)

    padded = message + bytes(-(len(message) + 1) % 8) + bytes([len(message) & 255])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        sip_round()
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(3):
        sip_round()
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def flow_hash(packet: Packet, client_only: bool) -> int:
    """Of the canonical flow: addresses, ports, protocol."""
    transport = packet[TCP] if TCP in packet else packet[UDP]
    source = ip_address(packet.src).packed
    message = source + ip_address(packet.dst).packed
    message += transport.sport.to_bytes(2, "big") + transport.dport.to_bytes(2, "big")
    message += bytes([6 if TCP in packet else 17])
    if client_only:
        message = source + bytes(len(message) - len(source))
    return siphash13(message, HASH_KEY)


def service(name: str, family: int, port: int | None, outer: int = 4, **fields: Any) -> Service:
    """A service with one member; `fields` are what differs from the usual."""
    usual = {
        "name": name,
        "vip": VIP[family],
        "protocol": "tcp",
        "port": port,
        "encapsulation": "gue",
        "hash": "5-tuple",
        "backend": BACKEND[outer],
        "source": SOURCE[outer],
        "state": "up",
        "egress": "same",
        "vlan": 0,
        "mtu": 1500,
    }
    return usual | fields


def _services() -> list[Service]:
    grid = product((4, 6), ("gue", "ipip", "gre"), (4, 6), (0, TAG), ("tcp", "udp"))
    services = [
        service(
            f"{protocol} {family} in {encapsulation} {outer}{' tagged' if vlan else ''}",
            family,
            1000 + number,
            outer,
            protocol=protocol,
            encapsulation=encapsulation,
            vlan=vlan,
        )
        for number, (family, encapsulation, outer, vlan, protocol) in enumerate(grid)
    ]
    for family in (4, 6):
        services += [
            service(f"client hash {family}", family, 2001, hash="client-address"),
            service(f"down {family}", family, 2002, state="down"),
            service(f"draining {family}", family, 2003, state="draining"),
            service(f"no next hop {family}", family, 2004, egress=None),
            service(f"other interface {family}", family, 2005, egress="other"),
            service(f"jumbo {family}", family, 2006, mtu=9000),
            service(f"all ports {family}", family, None, vip=VIP_ALL[family]),
            service(f"one of all {family}", family, 80, 6, vip=VIP_ALL[family]),
        ]
    return services


SERVICES = _services()
BY_NAME = {s["name"]: s for s in SERVICES}


def ip(family: int, to: str, **fields: Any) -> Packet:
    if family == 4:
        return IP(src=FROM[4], dst=to, **{"ttl": 57, "id": 4711, **fields})
    return IPv6(src=FROM[6], dst=to, **{"hlim": 57, **fields})


def tcp(port: int, **fields: Any) -> Packet:
    return TCP(sport=40001, dport=port, seq=1, **{"flags": "A", **fields})


def udp(port: int, **fields: Any) -> Packet:
    return UDP(sport=40001, dport=port, **fields)


def l4(s: Service, port: int | None = None, **fields: Any) -> Packet:
    """A header for the service: its protocol, its port."""
    return (tcp if s["protocol"] == "tcp" else udp)(port or s["port"], **fields)


def frame(packet: Packet, vlan: int = 0, to: str = OURS, by: str = CLIENT) -> bytes:
    ether = Ether(dst=to, src=by)
    return bytes(ether / Dot1Q(vlan=vlan) / packet if vlan else ether / packet)


def encapsulated(s: Service, inner: Packet, summed: bool = True, trailer: bytes = b"") -> bytes:
    """The frame that has to leave, lengths and checksums by scapy over the whole packet.

    `summed`: the outer UDP checksum over IPv6 is not 0. `trailer`: bytes behind the inner packet
    in its frame, which stay.
    """
    data = bytes(inner)
    fresh = type(inner)(data)
    four, over_four = fresh.version == 4, ip_address(s["backend"]).version == 4
    entropy = flow_hash(fresh, s["hash"] == "client-address") & 0xFFFFFFFF
    traffic_class = fresh.tos if four else fresh.tc
    protocol = {"gue": 17, "gre": 47, "ipip": 4 if four else 41}[s["encapsulation"]]
    ends: dict[str, Any] = {"src": s["source"], "dst": s["backend"]}
    outer: Packet
    if over_four:
        outer = IP(**ends, ttl=64, id=0, flags="DF", tos=traffic_class, proto=protocol)
    else:
        outer = IPv6(**ends, hlim=64, tc=traffic_class, fl=entropy & 0xFFFFF, nh=protocol)
    if s["encapsulation"] == "gue":
        outer /= UDP(sport=0xC000 | entropy >> 18, dport=GUE_PORT)
        if over_four or not summed:
            outer[UDP].chksum = 0
    elif s["encapsulation"] == "gre":
        outer /= GRE(proto=0x0800 if four else 0x86DD)
    return frame(outer / Raw(data), s["vlan"], ROUTER, OURS) + trailer


def forwarded(name: str, s: Service, inner: Packet, vlan: int = 0, **how: Any) -> Case:
    """`how`: as for encapsulated."""
    return {
        "name": name,
        "in": (frame(inner, vlan) + how.get("trailer", b"")).hex(),
        "reason": "redirected" if s["egress"] == "other" else "forwarded",
        "out": encapsulated(s, inner, **how).hex(),
    }


def answered(name: str, request: Packet, reply: Packet, vlan: int = 0) -> Case:
    return {
        "name": name,
        "in": frame(request, vlan).hex(),
        "reason": "echo_answered",
        "out": frame(reply, vlan, CLIENT, OURS).hex(),
    }


def dropped(name: str, reason: str, data: bytes) -> Case:
    return {"name": name, "in": data.hex(), "reason": reason, "out": None}


def passed(name: str, reason: str, data: bytes) -> Case:
    return {"name": name, "in": data.hex(), "reason": reason, "out": data.hex()}


def patched(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]
