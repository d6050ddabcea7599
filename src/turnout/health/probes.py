"""One question to one member: None, or why it failed, in a few words."""

import asyncio
import errno
import os
import socket
import struct

import h11

from turnout.config import Address, Check

_MOST_BYTES = 16_384
"""Of an answer, until its status and headers are there."""
_MOST_WORDS = 80
"""Of a server's nonsense, in characters."""
_OWN_WANTS = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS}


class Probes:
    """Asks members by tcp and http, at their own address."""

    async def probe(self, check: Check, address: Address) -> str | None:
        """Ask once, within the check's timeout.

        Raises OSError where this host has no descriptor or memory to ask with, which says nothing
        of the member; never for what a member does.
        """
        family = socket.AF_INET if address.version == 4 else socket.AF_INET6
        try:
            with socket.socket(family, socket.SOCK_STREAM) as connection:
                connection.setblocking(False)
                # Closed by a reset: thousands of checks leave nothing in TIME_WAIT.
                linger = struct.pack("ii", 1, 0)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                async with asyncio.timeout(check.timeout_s):
                    loop = asyncio.get_running_loop()
                    await loop.sock_connect(connection, (str(address), check.port))
                    if check.type == "http":
                        return await _ask(connection, check, address)
                    return None
        except TimeoutError:
            return f"no answer within {check.timeout_s:g} s"
        except h11.RemoteProtocolError as error:
            return f"not HTTP: {_cut(str(error))}"
        except OSError as error:
            if error.errno in _OWN_WANTS:
                raise
            return _said(error)


async def _ask(connection: socket.socket, check: Check, address: Address) -> str | None:
    """GET, and look at the status; the body is nobody's business."""
    loop = asyncio.get_running_loop()
    protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MOST_BYTES)
    host = f"[{address}]" if address.version == 6 else str(address)
    request = h11.Request(
        method="GET",
        target=check.path,
        headers=[
            ("Host", host if check.port == 80 else f"{host}:{check.port}"),
            ("User-Agent", "turnout"),
            ("Connection", "close"),
        ],
    )
    await loop.sock_sendall(connection, protocol.send(request))
    received = 0
    while True:
        event = protocol.next_event()
        if isinstance(event, h11.Response):
            low, high = check.status
            if low <= event.status_code <= high:
                return None
            return f"status {event.status_code}, expected {low}" + (
                f"-{high}" if high > low else ""
            )
        if event is h11.NEED_DATA:
            data = await loop.sock_recv(connection, 4096)
            received += len(data)
            if received > _MOST_BYTES:
                return f"no status within {_MOST_BYTES} bytes"
            if not data:
                return "closed without an answer"
            protocol.receive_data(data)


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_WORDS else text[: _MOST_WORDS - 1] + "…"


def _said(error: OSError) -> str:
    known = {
        errno.ECONNREFUSED: "connection refused",
        errno.ECONNRESET: "connection reset",
        errno.EHOSTUNREACH: "no route to host",
        errno.ENETUNREACH: "network unreachable",
    }
    number = error.errno or 0
    return known.get(number, os.strerror(number).lower())
