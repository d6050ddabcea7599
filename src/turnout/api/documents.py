"""The daemon's JSON documents: what each field means, and how it is found.

Names are stable: fields may be added, none changes its meaning. Addresses are text, moments are
ISO 8601 in UTC, durations seconds. Nothing here is secret, and no client's address appears.
Counters count from the start of the daemon.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from turnout import __version__
from turnout.core import reasons
from turnout.daemon import MemberState, Snapshot
from turnout.plan import Counters, MemberKey, Plan, Tally

NOTHING = Tally(packets=0, bytes=0, new_flows=0)


@dataclass(frozen=True, slots=True)
class Interface:
    name: str
    mode: str
    """Of XDP, as in force: "native", "generic", or "none" where the forwarder is not attached."""


@dataclass(frozen=True, slots=True)
class Status:
    """GET /v1/status"""

    instance: str
    version: str
    file: str
    """The fleet file."""
    generation: int
    """Of the configuration: 1 at the start, one more with each reload that was accepted."""
    applied_generation: int
    """The one whose plan is in force; 0 before the first."""
    failure: str
    """Why the last pass failed, "" if it did not; it is tried again."""
    started: str
    uptime_s: float
    interfaces: tuple[Interface, ...]
    announced: tuple[str, ...]
    """VIPs."""


@dataclass(frozen=True, slots=True)
class Service:
    """One of GET /v1/services"""

    name: str
    vip: str
    protocol: str
    port: int | None
    """None: all ports."""
    pool: str
    policy: str
    encapsulation: str
    members_up: int
    members: int
    """Those of included pools counted too."""
    announced: bool
    """Whether its VIP is."""
    packets: int
    bytes: int
    """Of the inner IP packets."""
    new_flows: int
    """TCP SYNs."""


@dataclass(frozen=True, slots=True)
class Backend:
    """One of GET /v1/backends: a member of a pool"""

    pool: str
    backend: str
    address: str
    state: MemberState
    """up, draining, down, or unknown: not checked yet."""
    reason: str
    """Why it is in that state, where there is something to say."""
    served: bool
    """Whether it takes new flows; a pool below its floor is served whatever its members' state."""
    since: str
    """When it came into that state."""
    weight: int
    shares: dict[str, float]
    """Share of the slots of the lookup table, 0..1, in each pool that services use."""
    packets: int
    bytes: int
    """Of the inner IP packets."""
    new_flows: int
    """TCP SYNs."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One of GET /v1/counters: what became of packets. Each packet is counted once."""

    reason: str
    verdict: str
    """PASS, TX, REDIRECT or DROP."""
    packets: int
    meaning: str


def moment(seconds: float) -> str:
    """Seconds since the epoch as ISO 8601 in UTC, to the second."""
    return datetime.fromtimestamp(int(seconds), UTC).isoformat().replace("+00:00", "Z")


def status(snapshot: Snapshot) -> Status:
    return Status(
        instance=snapshot.configuration.instance.name,
        version=__version__,
        file=str(snapshot.configuration.fleet.path),
        generation=snapshot.generation,
        applied_generation=snapshot.applied,
        failure=snapshot.failure,
        started=moment(snapshot.started),
        uptime_s=round(snapshot.now - snapshot.started, 1),
        interfaces=tuple(Interface(name, mode) for name, mode in sorted(snapshot.modes.items())),
        announced=tuple(str(vip) for vip in snapshot.announced),
    )


def services(snapshot: Snapshot, counters: Counters) -> tuple[Service, ...]:
    """Those of the plan in force, in its order."""
    plan = snapshot.plan
    if plan is None:
        return ()
    members = _members_by_pool(plan)
    configured = snapshot.configuration.fleet.services
    found = []
    for planned in plan.services:
        tally = counters.services.get(planned.number, NOTHING)
        pool = planned.table[0]
        keys = members[pool]
        found.append(
            Service(
                name=planned.name,
                vip=str(planned.vip),
                protocol=planned.protocol,
                port=planned.port,
                pool=pool,
                policy=configured[planned.name].policy if planned.name in configured else "maglev",
                encapsulation=planned.encapsulation,
                members_up=sum(
                    key in snapshot.members and snapshot.members[key].state == "up" for key in keys
                ),
                members=len(keys),
                announced=planned.vip in snapshot.announced,
                packets=tally.packets,
                bytes=tally.bytes,
                new_flows=tally.new_flows,
            )
        )
    return tuple(found)


def backends(snapshot: Snapshot, counters: Counters) -> tuple[Backend, ...]:
    """The members of the configuration, in its order."""
    plan = snapshot.plan
    planned = {member.key: member for member in plan.members} if plan else {}
    shares = _shares(plan) if plan else {}
    found = []
    for key, status in snapshot.members.items():
        member = planned.get(key)
        tally = counters.members.get(member.number, NOTHING) if member else NOTHING
        served = member is not None and member.state == "up"
        reason = status.reason
        if served and status.state != "up":
            reason = f"{reason}; served: pool below its floor"
        elif served and member is not None and member.next_hop is None:
            reason = "no next hop: its packets are dropped"
        found.append(
            Backend(
                pool=key[0],
                backend=key[1],
                address=str(snapshot.configuration.fleet.backends[key[1]].address),
                state=status.state,
                reason=reason,
                served=served,
                since=moment(status.since),
                weight=status.member.weight,
                shares=shares.get(key, {}),
                packets=tally.packets,
                bytes=tally.bytes,
                new_flows=tally.new_flows,
            )
        )
    return tuple(found)


def counted(counters: Counters) -> tuple[Reason, ...]:
    """Every reason there is, in the order of bpf/reasons.h."""
    return tuple(
        Reason(name, verdict, counters.reasons.get(name, 0), text)
        for name, verdict, text in reasons()
    )


def _members_by_pool(plan: Plan) -> dict[str, tuple[MemberKey, ...]]:
    keys = {member.number: member.key for member in plan.members}
    return {table.pool: _keys(keys, table.members) for table in plan.tables}


def _keys(keys: dict[int, MemberKey], numbers: Iterable[int]) -> tuple[MemberKey, ...]:
    return tuple(keys[number] for number in numbers)


def _shares(plan: Plan) -> dict[MemberKey, dict[str, float]]:
    """By member and pool; where a pool has tables of several sizes, of the largest."""
    keys = {member.number: member.key for member in plan.members}
    shares: dict[MemberKey, dict[str, float]] = {}
    for table in sorted(plan.tables, key=lambda table: table.size):
        slots = np.bincount(table.indices, minlength=len(table.members))
        for number, count in zip(table.members, slots.tolist(), strict=True):
            shares.setdefault(keys[number], {})[table.pool] = round(count / table.size, 6)
    return shares
