"""Pools as they stand in the file: who is a member of which, and how each is checked."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from turnout.config.errors import Problems, meant
from turnout.config.model import Check
from turnout.config.records import Record

MAX_POOL_MEMBERS = 4096
"""The forwarder's walk over the members is bounded by it (bpf/layout.h)."""
MAX_MEMBERS = 16_383
"""A member's number has 14 bits in the maps (bpf/layout.h)."""
MAX_INCLUDED = 64
"""Pools in a pool, theirs counted; so that no file of a few megabytes means billions."""

Records = dict[str, Record]


class Entry(NamedTuple):
    """A member, and the pool that names it."""

    pool: str
    backend: str
    record: Record


def members(pools: Records, backends: Records, problems: Problems) -> dict[str, list[Entry]]:
    """Members of each pool, its own first, then those of included pools in the file's order."""
    own = {
        name: [Entry(name, *item) for item in record.values.get("members", {}).items()]
        for name, record in pools.items()
    }
    for entries in own.values():
        for entry in entries:
            if entry.backend not in backends:
                message = f"no backend is named {entry.backend!r}: {meant(entry.backend, backends)}"
                problems.at(entry.record.mark, entry.record.path, message)
    for record in pools.values():
        for index, other in enumerate(_include(record)):
            if other not in pools:
                message = f"no pool is named {other!r}: {meant(other, pools)}"
                _at(record, f"include[{index}]", message, problems)
    _tell_circles(pools, problems)

    flat = {name: _flat(name, pools, own, problems) for name in pools}
    total = sum(map(len, own.values()))
    if total > MAX_MEMBERS:
        mark = next(iter(pools.values())).mark
        problems.at(mark, "pools", f"{total} members in all: expected at most {MAX_MEMBERS}")
    return flat


def _flat(
    name: str, pools: Records, own: Mapping[str, list[Entry]], problems: Problems
) -> list[Entry]:
    record = pools[name]
    found: dict[str, Entry] = {}
    included = _included(name, pools)
    for pool in included:
        for entry in own[pool]:
            other = found.setdefault(entry.backend, entry)
            if other is not entry:
                message = (
                    f"backend {entry.backend} comes from pool {other.pool} and from {pool}: "
                    "expected each backend once"
                )
                _at(record, "include", message, problems)
    if len(included) > MAX_INCLUDED + 1:
        message = f"more than {MAX_INCLUDED} pools, with those that they include: expected fewer"
        _at(record, "include", message, problems)
    if len(found) > MAX_POOL_MEMBERS:
        message = f"{len(found)} members: expected at most {MAX_POOL_MEMBERS}"
        _at(record, "members", message, problems)
    if not found and record.sound("members", "include"):
        _at(record, "members", "found no member: expected one", problems)
    return list(islice(found.values(), MAX_POOL_MEMBERS))


def _included(name: str, pools: Records) -> list[str]:
    """The pool and those it includes, each once; at most two more than there may be."""
    order: dict[str, None] = {}
    stack = [name]
    while stack and len(order) < MAX_INCLUDED + 2:
        pool = stack.pop()
        if pool in pools and pool not in order:
            order[pool] = None
            stack.extend(reversed(_include(pools[pool])[: MAX_INCLUDED + 1]))
    return list(order)


def _tell_circles(pools: Records, problems: Problems) -> None:
    """Each include that closes a circle, where it stands."""
    done: set[str] = set()
    for start in pools:
        way: dict[str, Iterator[tuple[int, str]]] = {start: enumerate(_include(pools[start]))}
        while way and start not in done:
            pool = next(reversed(way))
            for index, other in way[pool]:
                if other in way:
                    names = [*list(way)[list(way).index(other) :], other]
                    circle = " → ".join(names if len(names) < 10 else [*names[:8], "…", other])
                    message = f"pools include each other in a circle: {circle}"
                    _at(pools[pool], f"include[{index}]", message, problems)
                elif other in pools and other not in done:
                    way[other] = enumerate(_include(pools[other]))
                    break
            else:
                done.add(pool)
                del way[pool]


def checks(
    pools: Records, services: Records, flat: Mapping[str, list[Entry]], problems: Problems
) -> dict[str, Check | None]:
    """The check of each pool, with its defaults."""
    asked: dict[str, set[int | None]] = {name: set() for name in pools}
    for service in services.values():
        if service.sound("pool", "port"):
            for owner in {entry.pool for entry in flat.get(service.values["pool"], ())}:
                asked[owner].add(service.values["port"])
    complete = bool(services) and all(
        service.sound("pool", "port") and service.values["pool"] in pools
        for service in services.values()
    )
    return {
        name: _check(record.values["check"], asked[name], complete, problems)
        if record.values.get("check")
        else None
        for name, record in pools.items()
    }


def _check(
    record: Record, asked: set[int | None], complete: bool, problems: Problems
) -> Check | None:
    """`asked`: the ports of the services that use the pool; `complete`: of all that do."""
    values = record.values
    if record.sound("interval", "timeout") and values["timeout"] > values["interval"]:
        message = (
            f"found {values['timeout']:g}s, longer than the interval of {values['interval']:g}s: "
            "expected at most the interval"
        )
        _at(record, "timeout", message, problems)
    if record.sound("type") and values["type"] == "tcp":
        for field in ("path", "status"):
            if field in record.marks:
                message = "a tcp check only connects: take it out, or use type: http"
                _at(record, field, message, problems)
    port = values.get("port")
    if port is None and record.sound("port"):
        if len(asked) == 1:
            (port,) = asked
        if port is None and complete:
            used = ", ".join(sorted("all" if p is None else str(p) for p in asked)) or "none"
            message = f"missing: services use the pool with ports {used}: expected the port to ask"
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


def _include(record: Record) -> tuple[str, ...]:
    found: tuple[str, ...] = record.values.get("include", ())
    return found


def _at(record: Record, field: str, message: str, problems: Problems) -> None:
    problems.at(record.at(field), f"{record.path}.{field}", message)


__all__ = ["MAX_INCLUDED", "MAX_MEMBERS", "MAX_POOL_MEMBERS", "Entry", "checks", "members"]
