"""Switches as they stand in the file: what each splits, and that no two splits take the same packets."""

from collections.abc import Iterator, Mapping
from typing import Any

from turnout.config.errors import Problems, meant
from turnout.config.fields import SPLIT_FIELDS
from turnout.config.model import Switch, SwitchSplit, Target, is_remote
from turnout.config.pools import Records
from turnout.config.records import Record


def check(switches: Records, instances: Records, services: Records, problems: Problems) -> None:
    """Adds what is wrong with the switches."""
    bridges: dict[tuple[str | None, str], str] = {}
    for name, record in switches.items():
        values = record.values
        if record.sound("instance") and values["instance"] is not None:
            _check_known("instance", record, instances, problems)
        if record.sound("bridge", "instance"):
            bridge = values["bridge"]
            key = (None if is_remote(bridge) else values["instance"], bridge)
            other = bridges.setdefault(key, name)
            if other != name:
                message = f"{values['bridge']} is switch {other} already: expected each bridge once"
                problems.at(record.at("bridge"), f"{record.path}.bridge", message)
        if not record.sound("splits"):
            continue
        if not values["splits"]:
            message = "found none: expected at least one"
            problems.at(record.at("splits"), f"{record.path}.splits", message)
        taken: dict[tuple[Any, ...], str] = {}
        for split, inner in values["splits"].items():
            if inner.sound("service") and inner.values["service"] is not None:
                _check_known("service", inner, services, problems)
            if inner.sound("service", "field", "width", "targets", "table"):
                _check_split(inner, services, problems)
                for packets in _packets(inner.values, services):
                    other = taken.setdefault(packets, split)
                    if other != split:
                        message = f"the same packets as split {other}: expected others"
                        problems.at(inner.mark, inner.path, message)
                        break


def build(switches: Records, services: Records) -> dict[str, Switch]:
    """The switches; nothing is wrong with them."""
    return {
        name: Switch(
            name,
            record.values["bridge"],
            record.values["instance"],
            tuple(
                _split(split, inner.values, services)
                for split, inner in record.values["splits"].items()
            ),
        )
        for name, record in switches.items()
    }


def _split(name: str, values: Mapping[str, Any], services: Records) -> SwitchSplit:
    targets = tuple(Target(name=n, **r.values) for n, r in values["targets"].items())
    field = _field(values, services)
    return SwitchSplit(name=name, **{**values, "targets": targets, "field": field})


def _check_known(kind: str, record: Record, known: Records, problems: Problems) -> None:
    name = record.values[kind]
    if name not in known:
        message = f"no {kind} is named {name!r}: {meant(name, known)}"
        problems.at(record.at(kind), f"{record.path}.{kind}", message)


def _check_split(record: Record, services: Records, problems: Problems) -> None:
    values = record.values
    width, targets, field = values["width"], values["targets"], _field(values, services)
    where = record.at("width"), f"{record.path}.width"
    if width > SPLIT_FIELDS[field]:
        problems.at(
            *where, f"found {width}: expected at most {SPLIT_FIELDS[field]}, all of {field}"
        )
    if len(targets) > 1 << width:
        message = f"found {width} for {len(targets)} targets: expected an address for each"
        problems.at(*where, message)
    where = record.at("targets"), f"{record.path}.targets"
    if not targets:
        problems.at(*where, "found none: expected at least one")
    elif not any(not r.sound("weight") or r.values["weight"] for r in targets.values()):
        problems.at(*where, "all weights are 0: expected one above")
    service = _service(values, services)
    if service is None:
        return
    protocol, version = service["protocol"], service["vip"].version
    has = {4: "nw_src", 6: "ipv6_src"}[version], f"{protocol}_", "reg"
    if not field.startswith(has):
        right = ", ".join(name for name in SPLIT_FIELDS if name.startswith(has))
        message = (
            f"found {field} for a service of IPv{version} and {protocol}: expected one of {right}"
        )
        problems.at(record.at("field"), f"{record.path}.field", message)


def _service(values: Mapping[str, Any], services: Records) -> Mapping[str, Any] | None:
    """The fields of the service, where it is named and sound."""
    record = services.get(values["service"] or "")
    return record.values if record and record.sound("vip", "protocol", "port") else None


def _field(values: Mapping[str, Any], services: Records) -> str:
    """The field that decides: without one, the client's address."""
    service = _service(values, services)
    client = "ipv6_src" if service and service["vip"].version == 6 else "nw_src"
    field: str = values["field"] or client
    return field


def _packets(values: Mapping[str, Any], services: Records) -> Iterator[tuple[Any, ...]]:
    """Who else takes one of these takes the same packets."""
    field, table, service = _field(values, services), values["table"], values["service"]
    if service:
        yield table, service
        return
    protocols = (field[:3],) if field in ("tcp_src", "udp_src") else ("tcp", "udp", "other")
    for version in (4, 6) if field.startswith("reg") else (6 if field.startswith("ipv6") else 4,):
        for protocol in protocols:
            yield table, version, protocol
