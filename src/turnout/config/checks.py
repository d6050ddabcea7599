"""From records to a Fleet, with the checks that look at more than one field.

Each check works on what could be read, so that one mistake does not hide another.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from turnout.config import pools as pools_of
from turnout.config import switches as switches_of
from turnout.config.errors import Mark, Problem, Problems, meant
from turnout.config.fields import ANNOUNCEMENT
from turnout.config.model import (
    Address,
    Announcement,
    Backend,
    Check,
    Fleet,
    Instance,
    Member,
    Pool,
    Service,
)
from turnout.config.pools import Entry, Records
from turnout.config.records import Record, read_record
from turnout.config.tree import Mapping as MappingNode
from turnout.core import is_prime, least_prime

MAX_SERVICES = 4095
"""Services and VIPs together: each takes a number in the maps (bpf/layout.h)."""
SLOTS_PER_MEMBER = 100
"""Maglev, section 5.3: with 100 slots a member, shares are within one per cent."""


def build(path: Path, root: Record, problems: Problems) -> Fleet | None:
    """The fleet, or None; problems are added."""
    kinds = ("instances", "backends", "pools", "services")
    instances, backends, pools, services = (root.values.get(kind, {}) for kind in kinds)
    for kind in kinds:
        if root.sound(kind) and not root.values[kind]:
            problems.at(root.at(kind), kind, "found none: expected at least one")

    members = pools_of.members(pools, backends, problems)
    checks = pools_of.checks(pools, services, members, problems)
    _check_families(instances, problems)
    _check_services(services, pools, problems)
    _check_tables(services, members, problems)
    _check_addresses(instances, backends, services, problems)
    _check_reach(instances, backends, services, members, problems)
    switches = root.values.get("switches", {})
    switches_of.check(switches, instances, services, problems)
    if problems:
        return None

    announcement = root.values["announcement"] or read_record(
        ANNOUNCEMENT, MappingNode(root.mark), "announcement", problems
    )
    key_file = root.values["key_file"]
    return Fleet(
        path=path,
        key_file=path.parent / key_file if key_file is not None else None,
        announcement=Announcement(**announcement.values),
        instances={n: Instance(name=n, **r.values) for n, r in instances.items()},
        backends={n: Backend(name=n, **r.values) for n, r in backends.items()},
        pools=_pools(pools, members, checks),
        services={n: _service(n, r.values) for n, r in services.items()},
        switches=switches_of.build(switches, services),
        warnings=tuple(sorted(_warnings(root, pools))),
    )


def _pools(
    pools: Records, members: Mapping[str, list[Entry]], checks: Mapping[str, Check | None]
) -> dict[str, Pool]:
    # One object for a member, however many pools it is in: included pools can be large.
    made = {
        (owner, backend): Member(
            owner, backend, record.values["weight"], record.values["drain"], checks[owner]
        )
        for owner, pool in pools.items()
        for backend, record in pool.values["members"].items()
    }
    return {
        name: Pool(
            name,
            tuple(made[entry.pool, entry.backend] for entry in members[name]),
            checks[name],
            record.values["min_up"],
            record.values["hash_key"],
        )
        for name, record in pools.items()
    }


def _service(name: str, values: Mapping[str, Any]) -> Service:
    return Service(name=name, **{k: v for k, v in values.items() if k != "allow_small_table"})


def _check_families(instances: Records, problems: Problems) -> None:
    for record in instances.values():
        families: dict[int, Address] = {}
        for index, address in enumerate(record.values.get("addresses", ())):
            other = families.setdefault(address.version, address)
            if other != address:
                place = f"addresses[{index}]"
                message = (
                    f"found {address} beside {other}: expected one address of a family, "
                    "the outer source of encapsulated packets"
                )
                problems.at(record.at(place), f"{record.path}.{place}", message)


def _check_services(services: Records, pools: Records, problems: Problems) -> None:
    taken: dict[tuple[Any, ...], str] = {}
    vips = {r.values["vip"] for r in services.values() if r.sound("vip")}
    for name, record in services.items():
        values = record.values
        if record.sound("vip", "protocol", "port"):
            vip, protocol, port = key = (values["vip"], values["protocol"], values["port"])
            other = taken.setdefault(key, name)
            if other != name:
                ports = "all ports" if port is None else f"port {port}"
                message = (
                    f"{vip} {protocol} {ports} is service {other} already: expected another "
                    "address, protocol or port"
                )
                problems.at(record.at("vip"), f"{record.path}.vip", message)
        if record.sound("pool") and values["pool"] not in pools:
            message = f"no pool is named {values['pool']!r}: {meant(values['pool'], pools)}"
            problems.at(record.at("pool"), f"{record.path}.pool", message)
    if len(services) + len(vips) > MAX_SERVICES:
        mark = next(iter(services.values())).mark
        message = f"{len(services)} services and {len(vips)} VIPs: expected at most {MAX_SERVICES}"
        problems.at(mark, "services", message + " in all")


def _check_tables(
    services: Records, members: Mapping[str, list[Entry]], problems: Problems
) -> None:
    for record in services.values():
        if not record.sound("table_size", "allow_small_table"):
            continue
        size = record.values["table_size"]
        where = record.at("table_size"), f"{record.path}.table_size"
        if not is_prime(size):
            message = f"found {size}, which is not a prime: expected {least_prime(size)}"
            problems.at(*where, message)
        count = len(members.get(record.values.get("pool", ""), ()))
        if record.values["allow_small_table"]:
            if size < count:
                message = f"found {size} for {count} members: expected a slot for each"
                problems.at(*where, message)
        elif size < SLOTS_PER_MEMBER * count:
            message = (
                f"found {size} for {count} members: expected at least "
                f"{least_prime(SLOTS_PER_MEMBER * count)} ({SLOTS_PER_MEMBER} slots a member, "
                "for even shares), or `allow_small_table: true`"
            )
            problems.at(*where, message)


def _check_addresses(
    instances: Records, backends: Records, services: Records, problems: Problems
) -> None:
    """An address is one machine's, or a VIP."""
    owners: dict[Address, str] = {}
    for address, mark, path, owner in _hosts(instances, backends):
        other = owners.setdefault(address, owner)
        if other != owner:
            problems.at(mark, path, f"{address} is the address of {other} already")
    for name, record in instances.items():
        for router in record.values.get("routers", ()):
            owners.setdefault(router, f"a router of instance {name}")
    for record in services.values():
        if record.sound("vip") and record.values["vip"] in owners:
            vip = record.values["vip"]
            message = (
                f"{vip} is the address of {owners[vip]}: expected an address that no machine has"
            )
            problems.at(record.at("vip"), f"{record.path}.vip", message)


def _hosts(instances: Records, backends: Records) -> Iterator[tuple[Address, Mark, str, str]]:
    """Address, place, field and owner."""
    for name, record in instances.items():
        for index, address in enumerate(record.values.get("addresses", ())):
            place = f"addresses[{index}]"
            yield address, record.at(place), f"{record.path}.{place}", f"instance {name}"
    for name, record in backends.items():
        if record.sound("address"):
            mark = record.at("address")
            yield record.values["address"], mark, f"{record.path}.address", f"backend {name}"


def _check_reach(
    instances: Records,
    backends: Records,
    services: Records,
    members: Mapping[str, list[Entry]],
    problems: Problems,
) -> None:
    """An instance can only send to a backend from an address of the same family."""
    needed: dict[int, str] = {}
    for pool in dict.fromkeys(service.values.get("pool", "") for service in services.values()):
        for entry in members.get(pool, ()):
            backend = backends.get(entry.backend)
            if backend and backend.sound("address"):
                needed.setdefault(backend.values["address"].version, entry.backend)
    for record in instances.values():
        if not record.sound("addresses"):
            continue
        have = {address.version for address in record.values["addresses"]}
        for version in sorted(needed.keys() - have):
            backend_name = needed[version]
            address = backends[backend_name].values["address"]
            message = (
                f"no IPv{version} address, but backend {backend_name} has {address}: "
                "expected one to send from"
            )
            problems.at(record.at("addresses"), f"{record.path}.addresses", message)


def _warnings(root: Record, pools: Records) -> Iterator[Problem]:
    if root.values["key_file"] is None:
        mark = root.mark
        message = "none: clients can work out which member a flow goes to, and aim"
        yield Problem(mark.line, mark.column, "key_file", message)
    for pool in pools.values():
        for member in pool.values["members"].values():
            if member.values["drain"]:
                mark = member.at("drain")
                message = (
                    "without connection tracking, established flows move to other members at once"
                )
                yield Problem(mark.line, mark.column, f"{member.path}.drain", message)
