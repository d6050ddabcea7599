"""A backend's server: `python -m turnout.lab.server NAME PORT [VIP...]`.

HTTP on every address: each answer is the server's name, so that whoever asks learns who
answered. UDP at the given VIPs: the name and what was sent. Both on PORT.
"""

import asyncio
import socket
import sys
from contextlib import closing, suppress
from ipaddress import ip_address
from typing import Any

import h11

IP_FREEBIND = 15
IPV6_FREEBIND = 78
BACKLOG = 1024


async def serve(name: str, port: int, vips: list[str]) -> None:
    loop = asyncio.get_running_loop()
    for vip in vips:
        await loop.create_datagram_endpoint(lambda: Echo(name), sock=_datagrams(vip, port))
    tcp = socket.create_server(
        ("::", port), family=socket.AF_INET6, backlog=BACKLOG, dualstack_ipv6=True
    )
    server = await asyncio.start_server(lambda r, w: _converse(name, r, w), sock=tcp)
    await server.serve_forever()


class Echo(asyncio.DatagramProtocol):
    """Answers with the server's name, a blank and what it got."""

    def __init__(self, name: str) -> None:
        self.name = name.encode()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.transport.sendto(self.name + b" " + data, addr)


def _datagrams(vip: str, port: int) -> socket.socket:
    """Bound to the VIP, since an answer must come from there; it may come onto `lo` later."""
    if ip_address(vip).version == 4:
        found = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        found.setsockopt(socket.IPPROTO_IP, IP_FREEBIND, 1)
    else:
        found = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        found.setsockopt(socket.IPPROTO_IPV6, IPV6_FREEBIND, 1)
    found.bind((vip, port))
    return found


async def _converse(name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection, as many requests as its client likes."""
    http = h11.Connection(h11.SERVER)
    with closing(writer), suppress(OSError, h11.ProtocolError):
        while True:
            received = 0
            while not isinstance(event := http.next_event(), h11.EndOfMessage):
                if event is h11.NEED_DATA:
                    if http.they_are_waiting_for_100_continue:
                        go_on = h11.InformationalResponse(status_code=100, headers=[])
                        writer.write(http.send(go_on) or b"")
                    http.receive_data(await reader.read(1 << 16))
                elif isinstance(event, h11.Data):
                    received += len(event.data)
                elif isinstance(event, h11.ConnectionClosed):
                    return
            writer.write(_answer(http, name, received))
            await writer.drain()
            if http.our_state is h11.MUST_CLOSE:
                return
            http.start_next_cycle()


def _answer(http: h11.Connection, name: str, received: int) -> bytes:
    body = f"{name}\n".encode()
    head = h11.Response(
        status_code=200,
        headers=[
            ("Content-Type", "text/plain"),
            ("Content-Length", str(len(body))),
            ("X-Backend", name),
            ("X-Received", str(received)),
        ],
    )
    return b"".join(
        http.send(event) or b"" for event in (head, h11.Data(data=body), h11.EndOfMessage())
    )


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
