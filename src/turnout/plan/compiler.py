"""From configuration and observation to a plan."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from turnout import maglev
from turnout.config import Address, Fleet, Instance, Member, Pool
from turnout.plan.model import (
    MemberKey,
    Observed,
    Plan,
    PlannedMember,
    PlannedService,
    PlannedTable,
    PlannedVip,
    State,
)

Key = TypeVar("Key")

LAST_MEMBER = 16_383
LAST_SERVICE = 4_095


def compile(
    fleet: Fleet,
    instance: str,
    observed: Observed,
    previous: Plan | None,
    hash_keys: Mapping[str, bytes],
) -> Plan:
    """The complete content of every table of `instance`.

    `previous` is what is in force: it lends numbers and unchanged tables, and nothing else
    depends on it. `hash_keys` has 16 bytes for each pool's `hash_key`. Raises ValueError for an
    instance that the fleet does not have.
    """
    if instance not in fleet.instances:
        known = ", ".join(fleet.instances)
        raise ValueError(f"no instance is named {instance!r}: expected one of {known}")
    used = {service.pool: fleet.pools[service.pool] for service in fleet.services.values()}
    states = _states(fleet, used.values(), observed)
    keys = list(states)
    own = fleet.instances[instance]
    ends = {key: _ends(fleet, own, key) for key in keys}
    # A member that has moved to another address is another member to the maps: its record is
    # written whole while nothing refers to it.
    numbers = _numbers(
        [(key, ends[key]) for key in keys],
        {(m.key, (m.source, m.address)): m.number for m in previous.members} if previous else {},
        LAST_MEMBER,
    )
    by_key = {key: numbers[key, ends[key]] for key in keys}
    members = []
    for key in keys:
        source, address = ends[key]
        hop = observed.next_hops.get(address)
        members.append(PlannedMember(by_key[key], key, address, source, states[key], hop))
    tables = _tables(fleet, by_key, previous)
    service_keys = [("service", name) for name in fleet.services]
    vips = list(dict.fromkeys(service.vip for service in fleet.services.values()))
    vip_keys = [("vip", str(vip)) for vip in vips]
    before = {("service", s.name): s.number for s in previous.services} if previous else {}
    before |= {("vip", str(v.vip)): v.number for v in previous.vips} if previous else {}
    service_numbers = _numbers([*service_keys, *vip_keys], before, LAST_SERVICE)
    services = tuple(
        PlannedService(
            number=service_numbers["service", service.name],
            name=service.name,
            vip=service.vip,
            protocol=service.protocol,
            port=service.port,
            table=(service.pool, service.table_size),
            encapsulation=service.encapsulation,
            hash=service.hash,
            hash_key=hash_keys[fleet.pools[service.pool].hash_key],
        )
        for service in fleet.services.values()
    )
    takes = {m.key for m in members if m.state == "up" and m.next_hop is not None}
    served = {
        service.vip
        for service in fleet.services.values()
        if any((m.pool, m.backend) in takes for m in used[service.pool].members)
    }
    return Plan(
        instance=instance,
        members=tuple(members),
        tables=tables,
        services=services,
        vips=tuple(
            PlannedVip(
                number=service_numbers["vip", str(vip)],
                vip=vip,
                protocols=frozenset(s.protocol for s in services if s.vip == vip),
            )
            for vip in vips
        ),
        announced=tuple(vip for vip in vips if vip in served),
    )


def _ends(fleet: Fleet, instance: Instance, key: MemberKey) -> tuple[Address, Address]:
    """Outer source and destination for a member."""
    address = fleet.backends[key[1]].address
    source = instance.source(address.version)
    assert source is not None, "the configuration is checked for it"
    return source, address


def _states(fleet: Fleet, used: Iterable[Pool], observed: Observed) -> dict[MemberKey, State]:
    """State of every member of a pool in use, in the order of the file.

    The floor is a pool's own matter: members count with the pool that names them.
    """
    states: dict[MemberKey, State] = {}
    owners = dict.fromkeys(member.pool for pool in used for member in pool.members)
    for owner in owners:
        pool = fleet.pools[owner]
        own = [member for member in pool.members if member.pool == owner]
        up = [member for member in own if _up(member, observed)]
        all_serve = len(up) < pool.min_up * len(own)
        for member in own:
            state: State = "up" if all_serve or _up(member, observed) else "down"
            states[member.pool, member.backend] = "draining" if member.drain else state
    return states


def _up(member: Member, observed: Observed) -> bool:
    return member.check is None or observed.up.get((member.pool, member.backend), False)


def _numbers(keys: Iterable[Key], before: Mapping[Key, int], last: int) -> dict[Key, int]:
    """A number from 1 to `last` for each key: the one it had, else one that nobody had before,
    the lowest above all that are in use as long as there is one."""
    keys = list(keys)
    numbers = {key: before[key] for key in keys if key in before}
    taken = set(before.values())
    candidate = max(taken, default=0)
    for key in keys:
        if key in numbers:
            continue
        for _ in range(last):
            candidate = candidate % last + 1
            if candidate not in taken:
                break
        else:
            # Everything is taken by what is and what has just been: only what is counts.
            taken = set(numbers.values())
            candidate = next(n for n in range(1, last + 1) if n not in taken)
        numbers[key] = candidate
        taken.add(candidate)
    return numbers


def _tables(
    fleet: Fleet, numbers: Mapping[MemberKey, int], previous: Plan | None
) -> tuple[PlannedTable, ...]:
    """One table for each pool and size in use; a previous one of the same members serves again.

    Members stand in the order of their names, so that the walk, too, is the same however the file
    orders them."""
    old = {table.key: table for table in previous.tables} if previous else {}
    tables = []
    for key in dict.fromkeys((s.pool, s.table_size) for s in fleet.services.values()):
        pool, size = key
        members = sorted(fleet.pools[pool].members, key=lambda member: member.backend.encode())
        names = tuple(member.backend for member in members)
        weights = tuple(member.weight for member in members)
        table = PlannedTable(
            pool=pool,
            size=size,
            names=names,
            weights=weights,
            members=tuple(numbers[m.pool, m.backend] for m in members),
        )
        before = old.get(key)
        same = before is not None and (before.names, before.weights) == (names, weights)
        tables.append(
            replace(table, indices=before.indices)
            if same and before is not None
            else replace(table, indices=maglev.build(names, weights, size))
        )
    return tuple(tables)
