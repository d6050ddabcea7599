"""Real sockets on the loopback interface, and servers that are not kind."""

import asyncio
import os
import resource
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from turnout.config import Address, Check
from turnout.health import Probes
from turnout.kernel import netns

LOOPBACK = ip_address("127.0.0.1")
LOOPBACK6 = ip_address("::1")

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def check(port: int, kind: str = "http", timeout_s: float = 5.0, **more: Any) -> Check:
    fields: dict[str, Any] = {
        "type": kind,
        "path": "/healthz?x=1",
        "status": (200, 399),
        "interval_s": 5.0,
        "rise": 1,
        "fall": 1,
    }
    return Check(port=port, timeout_s=timeout_s, **(fields | more))


@asynccontextmanager
async def serving(behaviour: Behaviour, address: Address = LOOPBACK) -> AsyncIterator[int]:
    """A server on a port of its own; what it is still saying at the end is cut off."""
    talks: set[asyncio.Task[Any]] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        talks.add(task)
        try:
            await behaviour(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(talk, str(address), 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in talks:
            task.cancel()
        if talks:
            await asyncio.wait(talks)


def probe(behaviour: Behaviour, **more: Any) -> str | None:
    """What one http check of such a server says. No descriptor is left open by it."""

    async def main() -> str | None:
        async with serving(behaviour) as port:
            before = own_connections(port)
            said = await Probes().probe(check(port, **more), LOOPBACK)
            assert own_connections(port) == before == 0
            return said

    return asyncio.run(main())


def own_connections(port: int) -> int:
    """Sockets of this process that are connected to a port."""
    inodes = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            inodes.add(entry.stat().st_ino)
        except FileNotFoundError:
            continue
    lines = Path("/proc/self/net/tcp").read_text().splitlines()[1:]
    return sum(
        words[2].endswith(f":{port:04X}") and int(words[9]) in inodes
        for words in map(str.split, lines)
    )


def saying(answer: bytes) -> Behaviour:
    async def behaviour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()

    return behaviour


def repeating(start: bytes, piece: bytes, pause_s: float = 0) -> Behaviour:
    """Endless."""

    async def behaviour(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return behaviour


async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.read(-1)


async def closing(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")


async def resetting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    own = writer.get_extra_info("socket")
    own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


OK = b"HTTP/1.1 200 OK\r\n"
GOOD = {
    "plain": saying(OK + b"Content-Length: 2\r\n\r\nok"),
    "no body": saying(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "no reason phrase": saying(b"HTTP/1.1 200\r\n\r\n"),
    "old": saying(b"HTTP/1.0 200 OK\r\n\r\n"),
    "redirect": saying(b"HTTP/1.1 399 Elsewhere\r\nLocation: http://127.0.0.1:1/\r\n\r\n"),
    "early hints": saying(b"HTTP/1.1 103 Early Hints\r\n\r\n" + OK + b"\r\n"),
    "endless body": repeating(OK + b"\r\n", b"x" * 1000),
    "body shorter than promised": saying(OK + b"Content-Length: 1000\r\n\r\n"),
    "broken chunks": saying(OK + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n"),
}
BAD = {
    "status": (saying(b"HTTP/1.1 503 No\r\n\r\n"), "status 503, expected 200-399"),
    "status just above": (saying(b"HTTP/1.1 400 No\r\n\r\n"), "status 400, expected 200-399"),
    "closed": (closing, "closed without an answer"),
    "reset": (resetting, "connection reset"),
    "half an answer": (saying(OK + b"Content-"), "closed without an answer"),
    "garbage": (saying(os.urandom(3000) + b"\r\n\r\n"), "not HTTP"),
    "another protocol": (saying(b"SSH-2.0-OpenSSH_9.2p1\r\n\r\n"), "not HTTP"),
    "status of another kind": (saying(b"HTTP/1.1 abc OK\r\n\r\n"), "not HTTP"),
    "status of four digits": (saying(b"HTTP/1.1 2000 OK\r\n\r\n"), "not HTTP"),
    "switched to nothing we asked for": (saying(b"HTTP/1.1 101 On\r\n\r\n"), "not HTTP"),
    "endless headers": (repeating(OK, b"X-More: and more\r\n"), "no status within 16384 bytes"),
    "endless header": (repeating(OK + b"X: ", b"x" * 1000), "no status within 16384 bytes"),
    "endless line": (repeating(b"", b"x" * 1000), "no status within 16384 bytes"),
    "endless hints": (
        repeating(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        "no status within 16384 bytes",
    ),
}
NEVER = {
    "silent": silent,
    "byte by byte": repeating(b"", b"x", 0.01),
    "hint by hint": repeating(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", 0.02),
}


@pytest.mark.parametrize("behaviour", GOOD.values(), ids=GOOD)
def test_http_success(behaviour: Behaviour) -> None:
    assert probe(behaviour) is None


@pytest.mark.parametrize(("behaviour", "reason"), BAD.values(), ids=BAD)
def test_http_failure_has_a_short_reason(behaviour: Behaviour, reason: str) -> None:
    said = probe(behaviour)
    assert said is not None
    assert said.startswith(reason)
    assert len(said) < 100
    assert said.isprintable()


@pytest.mark.parametrize("behaviour", NEVER.values(), ids=NEVER)
def test_no_answer_in_time(behaviour: Behaviour) -> None:
    assert probe(behaviour, timeout_s=0.2) == "no answer within 0.2 s"


def test_only_the_configured_status_will_do() -> None:
    assert probe(saying(OK + b"\r\n"), status=(204, 204)) == "status 200, expected 204"


@pytest.mark.parametrize(("address", "host"), [(LOOPBACK, "127.0.0.1"), (LOOPBACK6, "[::1]")])
def test_the_request(address: Address, host: str) -> None:
    heard: list[bytes] = []

    async def hearing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(OK + b"\r\n")

    async def main() -> int:
        async with serving(hearing, address) as port:
            assert await Probes().probe(check(port), address) is None
            return port

    port = asyncio.run(main())
    first, *headers = heard[0].decode().rstrip().split("\r\n")
    assert first == "GET /healthz?x=1 HTTP/1.1"
    assert dict(line.split(": ", 1) for line in headers) == {
        "Host": f"{host}:{port}",
        "User-Agent": "turnout",
        "Connection": "close",
    }


def run_tcp(address: Address, port: int, timeout_s: float = 5.0) -> str | None:
    return asyncio.run(Probes().probe(check(port, "tcp", timeout_s), address))


@pytest.mark.parametrize("address", [LOOPBACK, LOOPBACK6])
def test_tcp_asks_for_a_connection_and_no_more(address: Address) -> None:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family) as listening:
        listening.bind((str(address), 0))
        listening.listen()
        port = listening.getsockname()[1]
        assert run_tcp(address, port) is None
        accepted, _ = listening.accept()
        with accepted, pytest.raises(ConnectionResetError):
            accepted.recv(1)
    assert run_tcp(address, port) == "connection refused"


def test_tcp_to_a_full_queue_is_no_answer() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        port = listening.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            assert run_tcp(LOOPBACK, port, 0.2) == "no answer within 0.2 s"


def test_an_address_without_a_route() -> None:
    name = f"hl-probes-{os.getpid()}"
    netns.create(name)
    try:
        with netns.inside(name):
            assert run_tcp(ip_address("192.0.2.1"), 80) == "network unreachable"
    finally:
        netns.remove(name)


def test_closed_at_once() -> None:
    async def closing_unread(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
        return

    assert probe(closing_unread) in {"closed without an answer", "connection reset", "broken pipe"}


def test_want_of_our_own_is_not_the_members_fault() -> None:
    async def main() -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            with pytest.raises(OSError, match="Too many open files"):
                await Probes().probe(check(1), LOOPBACK)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    asyncio.run(main())
