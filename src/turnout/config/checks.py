"""From records to a Fleet, with the checks that look at more than one field.

Each check works on what could be read, so that one mistake does not hide another.
"""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from turnout.config.errors import Problem
from turnout.config.fields import ANNOUNCEMENT
from turnout.config.model import (
    Announcement,
    Backend,
    Check,
    Fleet,
    Instance,
    Member,
    Pool,
    Service,
)
from turnout.config.records import Problems, Record, read_record
from turnout.config.tree import Mapping as MappingNode
from turnout.config.tree import Mark
from turnout.core import is_prime, least_prime

MAX_POOL_MEMBERS = 4096
"""The forwarder's walk over the members is bounded by it (bpf/layout.h)."""
MAX_MEMBERS = 16_383
MAX_SERVICES = 4095
"""Services and VIPs together: each takes a number in the maps."""
SLOTS_PER_MEMBER = 100
"""Maglev, section 5.3: with 100 slots a member, shares are within one per cent."""

Records = dict[str, Record]


def build(path: Path, root: Record, problems: Problems) -> Fleet | None:
    """The fleet, or None; problems are added."""
    kinds = ("instances", "backends", "pools", "services")
    instances, backends, pools, services = (_records(root, kind) for kind in kinds)
    for kind in kinds:
        if root.sound(kind) and not root.values[kind]:
            problems.at(root.at(kind), kind, "found none: expected at least one")

    _check_instances(instances, problems)
    flat = _check_pools(pools, backends, problems)
    _check_services(services, pools, flat, problems)
    _check_addresses(instances, backends, services, problems)
    checks = {name: _check_of(name, pools, services, flat, problems) for name in pools}
    _check_reach(instances, backends, services, flat, problems)
    if problems:
        return None

    built = {
        name: Pool(
            name,
            tuple(
                Member(
                    owner, backend, member.values["weight"], member.values["drain"], checks[owner]
                )
                for owner, backend, member in flat[name]
            ),
            checks[name],
            record.values["min_up"],
            record.values["hash_key"],
        )
        for name, record in pools.items()
    }
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
        pools=built,
        services={n: _service(n, r.values) for n, r in services.items()},
        warnings=tuple(sorted(_warnings(root, pools))),
    )


def _records(root: Record, kind: str) -> Records:
    return root.values[kind] if root.sound(kind) else {}


def _service(name: str, values: Mapping[str, Any]) -> Service:
    return Service(name=name, **{k: v for k, v in values.items() if k != "allow_small_table"})


def _unknown(what: str, name: str, known: Mapping[str, object]) -> str:
    close = get_close_matches(name, known, 1, 0.6)
    hint = f"did you mean {close[0]}?" if close else f"expected one of {', '.join(known) or 'none'}"
    return f"no {what} is named {name!r}: {hint}"


def _check_instances(instances: Records, problems: Problems) -> None:
    for record in instances.values():
        for name in ("interfaces", "addresses", "routers"):
            seen: set[Any] = set()
            for index, value in enumerate(record.values.get(name, ())):
                if value in seen:
                    place = f"{name}[{index}]"
                    problems.at(record.at(place), f"{record.path}.{place}", f"{value} stands twice")
                seen.add(value)
        families: dict[int, Any] = {}
        for index, address in enumerate(record.values.get("addresses", ())):
            other = families.setdefault(address.version, address)
            if other != address:
                place = f"addresses[{index}]"
                problems.at(
                    record.at(place),
                    f"{record.path}.{place}",
                    f"found {address} beside {other}: expected one address of a family, "
                    "the outer source of encapsulated packets",
                )


def _check_pools(
    pools: Records, backends: Records, problems: Problems
) -> dict[str, list[tuple[str, str, Record]]]:
    """Members of each pool with those of included pools: (pool that names it, backend, record)."""
    for record in pools.values():
        for backend, member in record.values.get("members", {}).items():
            if backend not in backends:
                problems.at(member.mark, member.path, _unknown("backend", backend, backends))
        included: set[str] = set()
        for index, other in enumerate(record.values.get("include", ())):
            place = f"include[{index}]"
            where = record.at(place), f"{record.path}.{place}"
            if other not in pools:
                problems.at(*where, _unknown("pool", other, pools))
            if other in included:
                problems.at(*where, f"{other} stands twice")
            included.add(other)

    flat: dict[str, list[tuple[str, str, Record]]] = {}
    for name, record in pools.items():
        flat[name] = members = []
        owners: dict[str, str] = {}
        for owner in _included(name, pools, (), problems):
            for backend, member in pools[owner].values.get("members", {}).items():
                if backend in owners:
                    problems.at(
                        record.at("include"),
                        f"{record.path}.include",
                        f"backend {backend} comes from pool {owners[backend]} and from {owner}: "
                        "a backend is in a pool once",
                    )
                    continue
                owners[backend] = owner
                members.append((owner, backend, member))
        if not members and record.sound("members", "include"):
            problems.at(
                record.at("members"), f"{record.path}.members", "found no member: expected one"
            )
        if len(members) > MAX_POOL_MEMBERS:
            message = f"{len(members)} members: expected at most {MAX_POOL_MEMBERS}"
            problems.at(record.at("members"), f"{record.path}.members", message)
    total = sum(len(record.values.get("members", {})) for record in pools.values())
    if total > MAX_MEMBERS:
        mark = next(iter(pools.values())).mark
        problems.at(mark, "pools", f"{total} members in all: expected at most {MAX_MEMBERS}")
    return flat


def _included(
    name: str, pools: Records, above: tuple[str, ...], problems: Problems
) -> Iterator[str]:
    """The pool and those it includes, each once; a cycle is told where it closes."""
    order: dict[str, None] = {}
    stack: list[tuple[str, tuple[str, ...]]] = [(name, above)]
    while stack:
        pool, path = stack.pop()
        if pool in path:
            record = pools[path[-1]]
            index = record.values["include"].index(pool)
            way = " → ".join((*path[path.index(pool) :], pool))
            place = f"include[{index}]"
            problems.at(
                record.at(place), f"{record.path}.{place}", f"pools include in a circle: {way}"
            )
            continue
        if pool not in pools or pool in order:
            continue
        order[pool] = None
        included = pools[pool].values.get("include", ())
        stack.extend((other, (*path, pool)) for other in reversed(included))
    return iter(order)


def _check_services(
    services: Records,
    pools: Records,
    flat: Mapping[str, list[tuple[str, str, Record]]],
    problems: Problems,
) -> None:
    taken: dict[tuple[Any, ...], str] = {}
    vips = set()
    for name, record in services.items():
        values = record.values
        if record.sound("vip"):
            vips.add(values["vip"])
        if record.sound("vip", "protocol", "port"):
            key = (values["vip"], values["protocol"], values["port"])
            other = taken.setdefault(key, name)
            if other != name:
                port = "all ports" if key[2] is None else f"port {key[2]}"
                problems.at(
                    record.at("vip"),
                    f"{record.path}.vip",
                    f"{key[0]} {key[1]} {port} is service {other} already: expected another "
                    "address, protocol or port",
                )
        if record.sound("pool") and values["pool"] not in pools:
            where = record.at("pool"), f"{record.path}.pool"
            problems.at(*where, _unknown("pool", values["pool"], pools))
        if record.sound("table_size"):
            size = values["table_size"]
            members = len(flat.get(values.get("pool", ""), ()))
            where = record.at("table_size"), f"{record.path}.table_size"
            least = 2 if values.get("allow_small_table") else SLOTS_PER_MEMBER
            if not is_prime(size):
                problems.at(
                    *where, f"found {size}, which is not a prime: expected {least_prime(size)}"
                )
            if values.get("allow_small_table") and size < members:
                problems.at(*where, f"found {size} for {members} members: expected a slot for each")
            elif not values.get("allow_small_table") and size < least * members:
                problems.at(
                    *where,
                    f"found {size} for {members} members: expected {least_prime(least * members)} "
                    "(100 slots a member, for even shares), or `allow_small_table: true`",
                )
    if len(services) + len(vips) > MAX_SERVICES:
        mark = next(iter(services.values())).mark
        message = f"{len(services)} services and {len(vips)} VIPs: expected at most {MAX_SERVICES}"
        problems.at(mark, "services", message + " in all")


def _check_addresses(
    instances: Records, backends: Records, services: Records, problems: Problems
) -> None:
    """An address has one owner."""
    owners: dict[Any, str] = {}
    places: list[tuple[Any, Mark, str, str]] = []
    for name, record in instances.items():
        for index, address in enumerate(dict.fromkeys(record.values.get("addresses", ()))):
            place = f"addresses[{index}]"
            mark = record.at(place)
            places.append((address, mark, f"{record.path}.{place}", f"instance {name}"))
    for name, record in backends.items():
        if record.sound("address"):
            address = record.values["address"]
            places.append(
                (address, record.at("address"), f"{record.path}.address", f"backend {name}")
            )
    for address, mark, path, owner in places:
        other = owners.setdefault(address, owner)
        if other != owner and not owner.split()[0] == "backend" != other.split()[0]:
            problems.at(mark, path, f"{address} is the address of {other} already")
    for record in services.values():
        if record.sound("vip") and record.values["vip"] in owners:
            vip = record.values["vip"]
            problems.at(
                record.at("vip"),
                f"{record.path}.vip",
                f"{vip} is the address of {owners[vip]}: expected an address that no machine has",
            )


def _check_of(
    name: str,
    pools: Records,
    services: Records,
    flat: Mapping[str, list[tuple[str, str, Record]]],
    problems: Problems,
) -> Check | None:
    """The check of a pool, with its defaults."""
    record = pools[name].values.get("check")
    if record is None:
        return None
    values = record.values
    if record.sound("interval", "timeout") and values["timeout"] > values["interval"]:
        problems.at(
            record.at("timeout"),
            f"{record.path}.timeout",
            f"found {values['timeout']:g}s, longer than the interval of {values['interval']:g}s: "
            "expected at most the interval",
        )
    if record.sound("type") and values["type"] == "tcp":
        for only_http in ("path", "status"):
            if only_http in record.marks:
                where = record.at(only_http), f"{record.path}.{only_http}"
                problems.at(*where, "a tcp check only connects: take it out, or use type: http")
    port = values.get("port")
    if port is None and record.sound("port"):
        ports = {
            service.values["port"]
            for service in services.values()
            if service.sound("pool", "port")
            and any(owner == name for owner, _, _ in flat.get(service.values["pool"], ()))
        }
        if len(ports) == 1 and None not in ports:
            port = ports.pop()
        elif all(service.sound("pool", "port") for service in services.values()):
            used = (
                ", ".join("all" if p is None else str(p) for p in sorted(ports, key=str)) or "none"
            )
            message = f"missing: services use the pool with ports {used}; expected the port to ask"
            problems.at(record.mark, f"{record.path}.port", message)
    if record.broken or port is None:
        return None
    http = values["type"] == "http"
    return Check(
        type=values["type"],
        port=port,
        path=(values["path"] or "/") if http else "",
        status=(values["status"] or (200, 399)) if http else (0, 0),
        interval_s=values["interval"],
        timeout_s=values["timeout"],
        rise=values["rise"],
        fall=values["fall"],
    )


def _check_reach(
    instances: Records,
    backends: Records,
    services: Records,
    flat: Mapping[str, list[tuple[str, str, Record]]],
    problems: Problems,
) -> None:
    """An instance can only send to a backend from an address of the same family."""
    needed: dict[int, str] = {}
    for service in services.values():
        for _, backend, _ in flat.get(service.values.get("pool", ""), ()):
            if backend in backends and backends[backend].sound("address"):
                needed.setdefault(backends[backend].values["address"].version, backend)
    for record in instances.values():
        if not record.sound("addresses"):
            continue
        have = {address.version for address in record.values["addresses"]}
        for version, backend in needed.items():
            if version not in have:
                address = backends[backend].values["address"]
                problems.at(
                    record.at("addresses"),
                    f"{record.path}.addresses",
                    f"no IPv{version} address, but backend {backend} has {address}: "
                    f"expected one to send from",
                )


def _warnings(root: Record, pools: Records) -> Iterator[Problem]:
    if root.values["key_file"] is None:
        yield Problem(
            root.mark.line,
            root.mark.column,
            "key_file",
            "none: clients can work out which member a flow goes to, and aim",
        )
    for pool in pools.values():
        for member in pool.values["members"].values():
            if member.values["drain"]:
                mark = member.at("drain")
                yield Problem(
                    mark.line,
                    mark.column,
                    f"{member.path}.drain",
                    "without connection tracking, established flows move to other members at once",
                )
