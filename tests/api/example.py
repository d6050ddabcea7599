"""A daemon's knowledge at one moment, made by hand, and a server that tells it."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path

from tests.daemon.fakes import HOP, FakeVerdict
from turnout.api import application, serve, unix_socket
from turnout.daemon import Snapshot, read
from turnout.daemon.snapshot import member_status
from turnout.plan import Counters, Observed, Tally, compile

FLEET = """
instances:
  lb1: {interfaces: [eth0], addresses: [10.0.1.1]}
backends:
  web1: {address: 10.0.2.11}
  web2: {address: 10.0.2.12}
  web3: {address: 10.0.2.13}
pools:
  web:
    members: {web1: {weight: 3}, web2: {}}
    check: {type: tcp, port: 80}
  all:
    members: {web3: {drain: true}}
    include: [web]
services:
  www: {vip: 192.0.2.10, protocol: tcp, port: 80, pool: web}
  other: {vip: "192.0.2.20", protocol: udp, port: all, pool: all, encapsulation: ipip}
"""

COUNTERS = Counters(
    services={1: Tally(10, 1000, 4), 2: Tally(7, 700, 0)},
    members={1: Tally(12, 1200, 3), 2: Tally(5, 500, 1)},
    reasons={"forwarded": 17, "not_service": 1234},
)


@dataclass
class Example:
    """What the server tells; assign to change it."""

    snapshot: Snapshot
    counters: Counters = COUNTERS


def example(tmp_path: Path) -> Example:
    """web1 up, web2 down, web3 draining; started 1000 s after the epoch, 75 s ago."""
    path = tmp_path / "fleet.yaml"
    path.write_text(FLEET)
    configuration = read(path, "lb1")
    verdicts = {
        ("web", "web1"): FakeVerdict(True),
        ("web", "web2"): FakeVerdict(False, "connection refused"),
    }
    hops = {ip_address(f"10.0.2.1{n}"): HOP for n in (1, 2, 3)}
    up = {key: verdict.up for key, verdict in verdicts.items()}
    plan = compile(configuration.fleet, "lb1", Observed(up, hops), None, configuration.hash_keys)
    return Example(
        Snapshot(
            configuration=configuration,
            generation=3,
            applied=3,
            failure="",
            plan=plan,
            announced=plan.announced,
            members={
                key: member_status(member, verdicts.get(key), 1010.0)
                for key, member in configuration.members().items()
            },
            modes={"eth0": "native"},
            started=1000.0,
            now=1075.0,
        )
    )


def before_the_first_pass(known: Example) -> Snapshot:
    return replace(known.snapshot, generation=1, applied=0, plan=None, announced=(), members={})


@contextmanager
def served(known: Example, path: Path) -> Iterator[Path]:
    """The daemon's interface at a Unix socket, from a thread of its own."""
    ready = threading.Event()
    loop = asyncio.new_event_loop()

    async def answer() -> None:
        with unix_socket(path) as listening:
            ready.set()
            await serve(application(lambda: known.snapshot, lambda: known.counters), listening)

    task = loop.create_task(answer())

    def run() -> None:
        loop.run_until_complete(asyncio.wait([task]))
        loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(10)
        yield path
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(10)
        assert not thread.is_alive()
