"""From configuration and observation to a plan."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from turnout import maglev
from turnout.config import Address, Fleet, Instance, Member, Pool, Protocol
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
    instance that the fleet does not have, and where so much changes at once that numbers run out.
    """
    if instance not in fleet.instances:
        known = ", ".join(fleet.instances)
        raise ValueError(f"no instance is named {instance!r}: expected one of {known}")
    used = {service.pool: fleet.pools[service.pool] for service in fleet.services.values()}
    members = _members(fleet, fleet.instances[instance], used.values(), observed, previous)
    numbers = {member.key: member.number for member in members}
    # A service that moves is another one to the maps: the old goes when the new is in place.
    places = {s.name: (s.name, s.vip, s.protocol, s.port) for s in fleet.services.values()}
    protocols: dict[Address, set[Protocol]] = {}
    for service in fleet.services.values():
        protocols.setdefault(service.vip, set()).add(service.protocol)
    before: dict[Hashable, int] = {}
    if previous:
        before |= {(s.name, s.vip, s.protocol, s.port): s.number for s in previous.services}
        before |= {v.vip: v.number for v in previous.vips}
    service_numbers = _numbers([*places.values(), *protocols], before, LAST_SERVICE, "services")
    takes = {m.key for m in members if m.takes_flows}
    serving = {
        pool.name
        for pool in used.values()
        if any((m.pool, m.backend) in takes for m in pool.members)
    }
    served = {service.vip for service in fleet.services.values() if service.pool in serving}
    return Plan(
        instance=instance,
        members=members,
        tables=_tables(fleet, numbers, previous),
        services=tuple(
            PlannedService(
                number=service_numbers[places[service.name]],
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
        ),
        vips=tuple(
            PlannedVip(service_numbers[vip], vip, frozenset(has)) for vip, has in protocols.items()
        ),
        announced=tuple(vip for vip in protocols if vip in served),
    )


def _members(
    fleet: Fleet,
    instance: Instance,
    used: Iterable[Pool],
    observed: Observed,
    previous: Plan | None,
) -> tuple[PlannedMember, ...]:
    """Every member of a pool in use. One that has moved to another address is another member to the
    maps: its record is written whole while nothing refers to it."""
    states = _states(fleet, used, observed)
    places = []
    for key in states:
        address = fleet.backends[key[1]].address
        source = instance.source(address.version)
        assert source is not None, "the configuration is checked for it"
        places.append((key, source, address))
    before = {(m.key, m.source, m.address): m.number for m in previous.members} if previous else {}
    numbers = _numbers(places, before, LAST_MEMBER, "members")
    return tuple(
        PlannedMember(
            number=numbers[key, source, address],
            key=key,
            address=address,
            source=source,
            state=states[key],
            next_hop=observed.next_hops.get(address),
        )
        for key, source, address in places
    )


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
        # As a quotient, which is exact where the floor is met exactly (0.07 * 100 > 7).
        all_serve = len(up) / len(own) < pool.min_up
        for member in own:
            state: State = "up" if all_serve or _up(member, observed) else "down"
            states[member.pool, member.backend] = "draining" if member.drain else state
    return states


def _up(member: Member, observed: Observed) -> bool:
    return member.check is None or observed.up.get((member.pool, member.backend), False)


def _numbers(
    keys: Sequence[Hashable], before: Mapping[Any, int], last: int, what: str
) -> dict[Any, int]:
    """A number from 1 to `last` for each key: the one it had, else one that nobody had before,
    the lowest above all that are in use as long as there is one.

    Raises ValueError where none is left: a number is never handed from one to another, whose
    packets would meet a record that is being rewritten.
    """
    numbers = {key: before[key] for key in keys if key in before}
    taken = set(before.values())
    top = max(taken, default=0)
    free = (n for n in chain(range(top + 1, last + 1), range(1, top)) if n not in taken)
    for key in keys:
        if key not in numbers and (number := next(free, None)) is not None:
            numbers[key] = number
    if short := len(keys) - len(numbers):
        left = last - len(taken)
        raise ValueError(
            f"{short + left} {what} are new and {left} numbers are free beside those in force: "
            "change fewer at a time, or restart"
        )
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
