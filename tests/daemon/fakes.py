"""The world as the daemon sees it, made of values. One journal holds what was done, in order."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from turnout.config import Address, Check
from turnout.daemon import Configuration, Effects, read
from turnout.plan import Counters, MemberKey, NextHop, Plan
from turnout.switch import Change, Flow

FLEET = """
instances:
  lb1: {interfaces: [eth0], addresses: [10.0.1.1]}
backends:
  web1: {address: 10.0.2.11}
  web2: {address: 10.0.2.12}
pools:
  web:
    members: {web1: {}, web2: {}}
    check: {type: tcp, port: 80}
services:
  www: {vip: 192.0.2.10, protocol: tcp, port: 80, pool: web}
"""

WEB1: MemberKey = ("web", "web1")
WEB2: MemberKey = ("web", "web2")
HOP = NextHop(ifindex=7, vlan=0, own_mac=b"\2" * 6, mac=b"\4" * 6, mtu=1500)


@dataclass
class FakeVerdict:
    up: bool
    reason: str = ""


@dataclass
class World:
    """All effects at once. `journal` tells apply, announce and close with the time of each."""

    journal: list[tuple[object, ...]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    routes: list[str] = field(default_factory=list)
    verdict: dict[MemberKey, FakeVerdict] = field(
        default_factory=lambda: {
            WEB1: FakeVerdict(False, "asked"),
            WEB2: FakeVerdict(False, "asked"),
        }
    )
    followed: Mapping[MemberKey, tuple[Check, Address]] = field(default_factory=dict)
    hops: dict[Address, NextHop] = field(
        default_factory=lambda: {ip_address("10.0.2.11"): HOP, ip_address("10.0.2.12"): HOP}
    )
    asked: int = 0
    """How often for next hops."""
    failures: list[Exception] = field(default_factory=list)
    """Raised by the next applies, in order."""
    mode: str = "generic"
    restore_failure: Exception | None = None
    announcement_failures: list[Exception] = field(default_factory=list)
    source_failures: list[Exception] = field(default_factory=list)
    """Raised by the checks' next runs."""
    flows: dict[str, list[str]] = field(default_factory=dict)
    """By bridge."""
    switch_failures: list[Exception] = field(default_factory=list)
    """Raised by the next applies of a bridge, in order."""
    health_changed: Callable[[], None] = lambda: None
    hops_changed: Callable[[], None] = lambda: None

    def note(self, *entry: object) -> None:
        self.journal.append(entry)
        self.times.append(asyncio.get_running_loop().time())

    def effects(self) -> Effects:
        return Effects(
            data_plane=self,
            neighbours=_Neighbours(self),
            announcer=self,
            health=self,
            bridge=lambda name: FakeBridge(self, name),
        )

    # DataPlane
    def apply(self, plan: Plan) -> None:
        if self.failures:
            self.note("apply failed")
            raise self.failures.pop(0)
        self.plans.append(plan)
        self.note("apply", {member.key: member.state for member in plan.members})

    def counters(self) -> Counters:
        return Counters(services={}, members={}, reasons={})

    def modes(self) -> Mapping[str, str]:
        return {"eth0": self.mode}

    def restore(self) -> None:
        if self.restore_failure:
            raise self.restore_failure

    def close(self) -> None:
        self.note("close")

    # Announcer
    async def announce(self, vips: Iterable[Address]) -> None:
        if self.announcement_failures:
            raise self.announcement_failures.pop(0)
        wanted = [str(vip) for vip in vips]
        if wanted != self.routes:
            self.note("announce", *wanted)
        self.routes = wanted

    # Health
    def follow(self, members: Mapping[MemberKey, tuple[Check, Address]]) -> None:
        self.followed = members
        self.verdict = {key: self.verdict[key] for key in members if key in self.verdict}

    def verdicts(self) -> Mapping[MemberKey, FakeVerdict]:
        return dict(self.verdict)

    async def run(self, changed: Callable[[], None]) -> None:
        if self.source_failures:
            raise self.source_failures.pop(0)
        self.health_changed = changed
        await asyncio.Event().wait()

    def check_says(self, key: MemberKey, up: bool, reason: str = "") -> None:
        self.verdict[key] = FakeVerdict(up, reason)
        self.health_changed()


@dataclass
class FakeBridge:
    world: World
    name: str

    def apply(self, wanted: Sequence[Flow]) -> Change:
        if self.world.switch_failures:
            raise self.world.switch_failures.pop(0)
        before = self.world.flows.get(self.name, [])
        self.world.flows[self.name] = [str(flow) for flow in wanted]
        lines = tuple({*before} ^ {*self.world.flows[self.name]})
        return Change(lines, len(lines), 0, 0)


class _Neighbours:
    def __init__(self, world: World) -> None:
        self.world = world

    async def next_hops(self, addresses: Iterable[Address]) -> Mapping[Address, NextHop]:
        self.world.asked += 1
        return {
            address: self.world.hops[address] for address in addresses if address in self.world.hops
        }

    async def watch(self, changed: Callable[[], None]) -> None:
        self.world.hops_changed = changed
        await asyncio.Event().wait()


def configuration(tmp_path: Path, text: str = FLEET) -> Configuration:
    path = tmp_path / "fleet.yaml"
    path.write_text(text)
    return read(path, "lb1")
