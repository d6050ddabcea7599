"""A client's view of a service: one request, one datagram, one echo."""

import socket
import struct
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

import h11

from turnout.core import TCP, UDP, Flow
from turnout.lab import PORT, Machines

Address = IPv4Address | IPv6Address
PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class Answer:
    flow: Flow
    backend: str
    received: int
    """Bytes of the request's body that arrived."""


def family(address: Address) -> int:
    return socket.AF_INET if address.version == 4 else socket.AF_INET6


def ask(machines: Machines, client: str, vip: Address, body: bytes = b"") -> Answer:
    """POST `body` to a server and read who answers. Raises OSError."""
    with machines.socket(client, family(vip), socket.SOCK_STREAM) as connection:
        connection.settimeout(PATIENCE_S)
        connection.connect((str(vip), PORT))
        http = h11.Connection(h11.CLIENT)
        headers = [("Host", "vip"), ("Content-Length", str(len(body))), ("Connection", "close")]
        request = h11.Request(method="POST", target="/", headers=headers)
        for event in (request, h11.Data(data=body), h11.EndOfMessage()):
            connection.sendall(http.send(event) or b"")
        found: dict[bytes, bytes] = {}
        while not isinstance(got := http.next_event(), h11.EndOfMessage):
            if got is h11.NEED_DATA:
                http.receive_data(connection.recv(1 << 16))
            elif isinstance(got, h11.Response):
                found = dict(got.headers)
        return Answer(
            _flow(connection, vip, TCP),
            found[b"x-backend"].decode(),
            int(found[b"x-received"]),
        )


def tell(machines: Machines, client: str, vip: Address, datagram: bytes) -> tuple[Flow, str, bytes]:
    """Send a datagram; the flow, who answers, and what it got. Raises OSError."""
    with machines.socket(client, family(vip), socket.SOCK_DGRAM) as connection:
        connection.settimeout(PATIENCE_S)
        connection.connect((str(vip), PORT))
        connection.send(datagram)
        name, _, rest = connection.recv(1 << 16).partition(b" ")
        return _flow(connection, vip, UDP), name.decode(), rest


def echo(machines: Machines, client: str, address: Address, payload: bytes) -> bytes:
    """The payload that an echo request brings back. Raises OSError."""
    v4 = address.version == 4
    protocol = socket.IPPROTO_ICMP if v4 else socket.IPPROTO_ICMPV6
    kind, reply = (8, 0) if v4 else (128, 129)
    with machines.socket(client, family(address), socket.SOCK_RAW, protocol) as raw:
        raw.settimeout(PATIENCE_S)
        message = struct.pack("!BBHHH", kind, 0, 0, 4711, len(payload)) + payload
        if v4:  # the kernel fills in the checksum of ICMPv6 alone
            message = message[:2] + struct.pack("!H", checksum(message)) + message[4:]
        raw.sendto(message, (str(address), 0))
        while True:
            got, (source, *_) = raw.recvfrom(1 << 16)
            if v4:
                got = got[(got[0] & 15) * 4 :]
            # Redirects and neighbour discovery come to the same socket.
            if got[0] == reply and got[4:8] == message[4:8] and source == str(address):
                assert not v4 or checksum(got) == 0
                return got[8:]


def checksum(data: bytes) -> int:
    """RFC 1071."""
    padded = data + bytes(len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _flow(connection: socket.socket, vip: Address, protocol: int) -> Flow:
    host, port = connection.getsockname()[:2]
    source: Address = IPv4Address(host) if vip.version == 4 else IPv6Address(host)
    return Flow(source, vip, port, PORT, protocol)
