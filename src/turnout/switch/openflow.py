"""A split as flows of Open vSwitch, a line each as `ovs-ofctl -O OpenFlow13 add-flows` reads."""

from collections.abc import Sequence

from turnout.split import Split
from turnout.switch.field import Field

COOKIE = 0x7475726E
"""Marks a flow as ours: "turn" in ASCII."""

PRIORITY = 1000
"""Of the match-all rule; a longer prefix has as much more."""

LAST_PORT = 0xFFFFFF00
"""OpenFlow 1.3, section A.2.1; those after it have a meaning of their own."""


def flows(split: Split, ports: Sequence[str], field: Field) -> list[str]:
    """The flows, the longest prefix first; `ports` are the names or numbers of the targets' ports.

    Raises ValueError for a split of more bits than the field has, and for what is no port.
    """
    field.check(split)
    lines = []
    for rule in split.rules:
        match = [f"cookie={COOKIE:#x}", f"priority={PRIORITY + rule.length}"]
        if field.needs:
            match.append(field.needs)
        if rule.length:
            # Prefixes are of the lowest `width` bits.
            value, mask = (
                field.written(bits << split.width - rule.length)
                for bits in (rule.prefix, (1 << rule.length) - 1)
            )
            match.append(f"{field.name}={value}/{mask}")
        lines.append(f"{','.join(match)},actions=output:{_port(ports[rule.target])}")
    return lines


def _port(name: str) -> str:
    if name.isascii() and name.isdecimal() and len(name) <= 10:
        if not 1 <= int(name) <= LAST_PORT:
            raise ValueError(f"target: port {name}: expected 1 to {LAST_PORT}")
        return name
    # In quotes a name is never taken for one of the words of the language, as "all"; but a blank or
    # a comma ends it even there.
    if not name.isprintable() or any(c in '"\\ ,' for c in name):
        raise ValueError(f"target: {name!r}: expected the name or number of a port")
    return f'"{name}"'
