"""A split as flows of OpenFlow."""

from collections.abc import Sequence
from dataclasses import dataclass

from turnout.config import LAST_SWITCH_PORT, Service
from turnout.split import Split
from turnout.switch.field import Field

COOKIE = 0x7475726E
"""Marks a flow as ours: "turn" in ASCII."""

PRIORITY = 1000
"""Of the match-all rule; a longer prefix has as much more. Those of one service are a step higher,
of one port two."""


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow of ours; str() is a line as `ovs-ofctl -O OpenFlow13 add-flows` reads it."""

    table: int
    priority: int
    match: str
    port: str
    """Where its packets go, by name or number."""

    def __str__(self) -> str:
        table = f"table={self.table}," if self.table else ""
        match = f"{self.match}," if self.match else ""
        # In quotes a name is never taken for one of the words of the language, as "all".
        port = self.port if is_number(self.port) else f'"{self.port}"'
        return f"cookie={COOKIE:#x},{table}priority={self.priority},{match}actions=output:{port}"


def flows(
    split: Split,
    ports: Sequence[str],
    field: Field,
    service: Service | None = None,
    table: int = 0,
) -> list[Flow]:
    """The flows, the longest prefix first; `ports` are the names or numbers of the targets' ports.
    With a service they match its packets alone.

    Raises ValueError for a split of more bits than the field has, and for what is no port.
    """
    field.check(split)
    for port in ports:
        _check_port(port)
    priority = PRIORITY
    words = [field.needs] if field.needs else []
    if service is not None:
        version = service.vip.version
        words = [
            service.protocol + ("6" if version == 6 else ""),
            f"{'ipv6_dst' if version == 6 else 'nw_dst'}={service.vip}",
        ]
        if service.port is not None:
            words.append(f"tp_dst={service.port}")
        priority *= len(words)
    found = []
    for rule in split.rules:
        match = list(words)
        if rule.length:
            # Prefixes are of the lowest `width` bits.
            value, mask = (
                field.written(bits << split.width - rule.length)
                for bits in (rule.prefix, (1 << rule.length) - 1)
            )
            match.append(f"{field.name}={value}/{mask}")
        port = ports[rule.target]
        found.append(Flow(table, priority + rule.length, ",".join(match), port))
    return found


def ports(targets: Sequence[str]) -> list[str]:
    """The ports of targets by their names; of targets without names, which are called 0, 1, 2 ..., the
    first ports: there is no port 0."""
    if list(targets) == [str(place) for place in range(len(targets))]:
        return [str(place) for place in range(1, len(targets) + 1)]
    return list(targets)


def is_number(port: str) -> bool:
    """Whether a port is named by its number."""
    return port.isascii() and port.isdecimal()


def _check_port(name: str) -> None:
    if is_number(name):
        if len(name) > 10 or not 1 <= int(name) <= LAST_SWITCH_PORT:
            raise ValueError(f"target: port {name}: expected 1 to {LAST_SWITCH_PORT}")
    # For ovs-ofctl a blank or a comma ends a name even in quotes, and # begins a comment.
    elif not name.isprintable() or not name or any(c in '"\\ ,#' for c in name):
        raise ValueError(
            f"target: {name!r}: expected the number of a port, or a name without blanks, commas, "
            "quotes, backslashes and #"
        )
