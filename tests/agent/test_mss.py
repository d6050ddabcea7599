"""The MSS of SYN-ACKs: lowered where it is too much, and nothing else is touched."""

from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet

from tests.agent.backend import NEXT, VECTORS, decapsulation
from turnout.agent import Decapsulation, Listener

VIP = {4: VECTORS["vips"][0], 6: VECTORS["vips"][1]}
CLIENT = {4: "198.51.100.7", 6: "2001:db8:7::7"}
OVERHEADS = {80: 28, 443: 20, None: 48}
HEADERS = {4: 40, 6: 60}


def limit(version: int, port: int) -> int:
    return 1500 - OVERHEADS.get(port, 48) - HEADERS[version]


@pytest.fixture(scope="module")
def backend() -> Iterator[Decapsulation]:
    listeners = tuple(
        Listener(ip_address(vip), port, overhead)
        for vip in VIP.values()
        for port, overhead in OVERHEADS.items()
    )
    made = decapsulation(4, listeners=listeners)
    yield made
    made.close()


def segment(version: int, tcp: Packet, source: str = "") -> bytes:
    kind, host = (IP, 0x0800) if version == 4 else (IPv6, 0x86DD)
    packet = kind(src=source or VIP[version], dst=CLIENT[version]) / tcp
    return bytes(Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01", type=host) / packet)


def syn_ack(options: Any, port: int = 80, flags: str = "SA") -> Packet:
    return TCP(sport=port, dport=40001, seq=7, ack=8, flags=flags, options=options)


def sent(on: Decapsulation, frame: bytes) -> bytes:
    result = on.programs["lower_mss"].run(frame)
    assert result.verdict == NEXT
    return result.data


REST = [("SAckOK", b""), ("Timestamp", (1, 2)), ("NOP", None), ("WScale", 7)]


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("port", [80, 443, 8080])
@pytest.mark.parametrize("above", [-1, 0, 1, 1000])
def test_at_most_what_fits_the_service_of_the_port(
    backend: Decapsulation, version: int, port: int, above: int
) -> None:
    offered = limit(version, port) + above
    lowered = min(offered, limit(version, port))
    frame = segment(version, syn_ack([("MSS", offered), *REST], port))
    expected = segment(version, syn_ack([("MSS", lowered), *REST], port))
    assert sent(backend, frame).hex() == expected.hex()


ORDERS: dict[str, Any] = {
    "first": [("MSS", 1460), *REST],
    "last": [*REST, ("MSS", 1460)],
    "at an odd place": [("NOP", None), ("MSS", 1460), ("WScale", 7)],
    "after an option of no known kind": [(254, b"abc"), ("MSS", 1460)],
    "last of the longest header": [(254, bytes(34)), ("MSS", 1460)],
    "behind as many NOPs as there can be": [*[("NOP", None)] * 36, ("MSS", 1460)],
}


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("name", ORDERS)
def test_wherever_the_option_stands(backend: Decapsulation, version: int, name: str) -> None:
    lowered = [("MSS", limit(version, 80)) if o[0] == "MSS" else o for o in ORDERS[name]]
    out = sent(backend, segment(version, syn_ack(ORDERS[name])))
    assert out.hex() == segment(version, syn_ack(lowered)).hex()


OTHERS: dict[str, tuple[Any, str]] = {
    "a SYN": (syn_ack([("MSS", 1460)], flags="S"), ""),
    "an ACK": (syn_ack([("MSS", 1460)], flags="A"), ""),
    "a reset": (syn_ack([("MSS", 1460)], flags="RA"), ""),
    "no MSS": (syn_ack(REST), ""),
    "no options": (syn_ack([]), ""),
    "not from a VIP": (syn_ack([("MSS", 1460)]), "stranger"),
    "an option of another length": (syn_ack([(2, b"\x05\xb4\x00")]), ""),
    "behind the end of options": (syn_ack([("EOL", None), ("MSS", 1460)]), ""),
    "behind an option without length": (syn_ack([(254, b"")], flags="SA"), ""),
}


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("name", OTHERS)
def test_everything_else_leaves_as_it_is(backend: Decapsulation, version: int, name: str) -> None:
    tcp, source = OTHERS[name]
    strangers = {4: "192.0.2.99", 6: "2001:db8::99"}
    frame = segment(version, tcp, strangers[version] if source else "")
    assert sent(backend, frame) == frame


@pytest.mark.parametrize("version", [4, 6])
def test_a_header_cut_at_every_length(backend: Decapsulation, version: int) -> None:
    whole = segment(version, syn_ack([*[("NOP", None)] * 8, ("MSS", 1460), *REST]))
    lowered = sent(backend, whole)
    option = whole.index(b"\x02\x04\x05\xb4")
    for length in range(14 + HEADERS[version] - 20, len(whole)):
        out = sent(backend, whole[:length])
        assert out == (lowered if length >= option + 4 else whole)[:length]


@given(options=st.binary(max_size=40), version=st.sampled_from([4, 6]))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_where_options_stand(
    backend: Decapsulation, options: bytes, version: int
) -> None:
    options += bytes(-len(options) % 4)
    at = find_mss(options)
    lowered = options
    if at is not None and int.from_bytes(options[at : at + 2], "big") > limit(version, 80):
        lowered = options[:at] + limit(version, 80).to_bytes(2, "big") + options[at + 2 :]
    assert sent(backend, raw(version, options)).hex() == raw(version, lowered).hex()


def raw(version: int, options: bytes) -> bytes:
    tcp = syn_ack([])
    tcp.dataofs = 5 + len(options) // 4
    return segment(version, tcp / options)


def find_mss(options: bytes) -> int | None:
    """Where the value of the first MSS option is, by RFC 9293, 3.1."""
    at = 0
    while at < len(options) and options[at] != 0:
        if options[at] == 1:
            at += 1
            continue
        if at + 1 >= len(options) or options[at + 1] < 2 or at + options[at + 1] > len(options):
            return None
        if options[at] == 2:
            return at + 2 if options[at + 1] == 4 else None
        at += options[at + 1]
    return None
