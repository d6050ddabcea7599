"""Requests from a client: connections that last, and new ones all the time."""

import asyncio
import itertools
import socket
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field

import h11

from turnout.config import Address
from turnout.core import TCP, Flow
from turnout.lab.machines import Machines

PATIENCE_S = 10.0
"""For one answer. Longer than TCP's third retransmission takes."""
PAUSE_S = 0.5
"""Between two requests on a connection that lasts."""
NEW_EVERY_S = 0.02


@dataclass(slots=True)
class Conversation:
    """A connection, and what came of it."""

    flow: Flow
    lasting: bool
    began: str
    """Step in which it was opened."""
    backend: str = ""
    """Who answered; "" before the first answer."""
    answered: Counter[str] = field(default_factory=Counter)
    """Answers by step, of requests that were sent in the same one."""
    broken: str = ""
    """Step in which it broke."""
    reason: str = ""
    """Why it broke."""
    open: bool = True


@dataclass(slots=True)
class Tally:
    """Requests by the step that they were sent in."""

    sent: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    """By backend."""
    slowest_s: float = 0.0

    @property
    def answered(self) -> int:
        return self.answers.total()


class Load:
    """Asks until it is stopped. `step` may be changed meanwhile: it says what things are counted
    under."""

    def __init__(self, machines: Machines, client: str, vips: Sequence[Address], port: int) -> None:
        self.machines = machines
        self.vips = vips
        self.port = port
        self.step = ""
        self.conversations: list[Conversation] = []
        self.tallies: dict[str, Tally] = {}
        self._client = next(h for h in machines.topology.client_hosts() if h.name == client)
        self._stopping = asyncio.Event()
        # Each port once: a backend that has just died still knows the connections it had.
        self._ports = itertools.count(10_000)

    async def run(self, lasting: int) -> None:
        """`lasting` connections that last, each opened again when it breaks, and a new one for
        a single request every NEW_EVERY_S, until `stop`; returns when the last answer is in."""
        async with asyncio.TaskGroup() as group:
            for number in range(lasting):
                group.create_task(self._lasting(number, lasting))
            number = 0
            while not self._stopping.is_set():
                group.create_task(self._converse(self.vips[number % len(self.vips)], lasting=False))
                number += 1
                await asyncio.sleep(NEW_EVERY_S)

    def stop(self) -> None:
        self._stopping.set()

    def lasting(self) -> list[Conversation]:
        """Connections that last and are open."""
        return [c for c in self.conversations if c.lasting and c.open]

    async def _lasting(self, number: int, count: int) -> None:
        await self._pause(PAUSE_S * number / count)
        while not self._stopping.is_set():
            await self._converse(self.vips[number % len(self.vips)], lasting=True)
            await self._pause(0.05)

    async def _pause(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._stopping.wait(), seconds)
        except TimeoutError:
            return

    async def _converse(self, vip: Address, lasting: bool) -> None:
        own = self._client.address4 if vip.version == 4 else self._client.address6
        family = socket.AF_INET if vip.version == 4 else socket.AF_INET6
        connection = self.machines.socket(self._client.name, family, socket.SOCK_STREAM)
        connection.setblocking(False)
        flow = Flow(own, vip, next(self._ports), self.port, TCP)
        connection.bind((str(own), flow.source_port))
        talk = Conversation(flow, lasting, self.step)
        self.conversations.append(talk)
        with closing(connection):
            try:
                await self._ask_on(connection, talk)
            except (OSError, TimeoutError, h11.ProtocolError) as error:
                talk.broken = self.step
                talk.reason = str(error) or type(error).__name__
            finally:
                talk.open = False

    async def _ask_on(self, connection: socket.socket, talk: Conversation) -> None:
        """One request on a new connection, or one after the other until `stop`."""
        http = h11.Connection(h11.CLIENT)
        first = True
        while first or (talk.lasting and not self._stopping.is_set()):
            tally = self.tallies.setdefault(self.step, Tally())
            tally.sent += 1
            step, began = self.step, time.monotonic()
            async with asyncio.timeout(PATIENCE_S):
                if first:
                    to = (str(talk.flow.vip), talk.flow.vip_port)
                    await asyncio.get_running_loop().sock_connect(connection, to)
                backend = await _ask(connection, http, talk)
            if talk.backend not in ("", backend):
                raise h11.RemoteProtocolError(f"answered by {backend} after {talk.backend}")
            talk.backend = backend
            if self.step == step:
                talk.answered[step] += 1
            tally.answers[backend] += 1
            tally.slowest_s = max(tally.slowest_s, time.monotonic() - began)
            first = False
            if talk.lasting:
                http.start_next_cycle()
                await self._pause(PAUSE_S)


async def _ask(connection: socket.socket, http: h11.Connection, talk: Conversation) -> str:
    """The name that an answer gives. Raises OSError, h11.ProtocolError."""
    loop = asyncio.get_running_loop()
    vip = f"[{talk.flow.vip}]" if talk.flow.vip.version == 6 else str(talk.flow.vip)
    headers = [("Host", vip), *([] if talk.lasting else [("Connection", "close")])]
    request = h11.Request(method="GET", target="/", headers=headers)
    await loop.sock_sendall(
        connection, (http.send(request) or b"") + (http.send(h11.EndOfMessage()) or b"")
    )
    backend = ""
    while not isinstance(event := http.next_event(), h11.EndOfMessage):
        if event is h11.NEED_DATA:
            http.receive_data(await loop.sock_recv(connection, 1 << 14))
        elif isinstance(event, h11.Response):
            backend = dict(event.headers).get(b"x-backend", b"").decode()
        elif isinstance(event, h11.ConnectionClosed):
            raise ConnectionError("closed without an answer")
    return backend
