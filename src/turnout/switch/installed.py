"""The flows of a switch as it tells them, and what must change for those that are wanted."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Any

from turnout.switch.openflow import COOKIE, Flow, is_number

FLAGS = ("send_flow_rem", "check_overlap", "reset_counts", "no_packet_counts", "no_byte_counts")
"""Of a flow; no comma ends them."""

ALL_OFF = f"delete cookie={COOKIE:#x}/-1"
"""A line of a bundle that takes all of ours away."""

Key = tuple[int, int, frozenset[tuple[Any, ...]]]
"""Table, priority and match: no two flows have the same."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A flow that is in the switch."""

    cookie: int
    table: int
    priority: int
    match: str
    actions: str
    packets: int
    lasting: bool
    """Not given up by itself after some time."""

    @property
    def ours(self) -> bool:
        return self.cookie == COOKIE

    @property
    def port(self) -> int | None:
        """Where it sends packets, if that is all it does."""
        number = self.actions.removeprefix("output:")
        return int(number) if is_number(number) else None


@dataclass(frozen=True, slots=True)
class Change:
    """What makes the wanted flows installed: lines of one bundle, and what they do."""

    lines: tuple[str, ...]
    added: int
    changed: int
    """Sent to another port, the match as before."""
    removed: int

    def __str__(self) -> str:
        return f"{self.added} added, {self.changed} changed, {self.removed} removed"


def read(dump: str) -> list[Installed]:
    """What `ovs-ofctl dump-flows` printed."""
    found = []
    for line in dump.splitlines():
        head, actions, last = line.strip().partition(" actions=")
        if not actions:
            continue
        # A comma ends what is told of a flow; last comes its match, priority first, unless both say
        # nothing.
        said = head.split()
        match = "" if said[-1].endswith(",") or said[-1] in FLAGS else said.pop()
        told = dict(word.rstrip(",").split("=", 1) for word in said if "=" in word)
        words = match.split(",")
        priority = 32768
        if words[0].startswith("priority="):
            priority = int(words.pop(0).removeprefix("priority="))
        found.append(
            Installed(
                cookie=int(told.get("cookie", "0"), 0),
                table=int(told.get("table", "0")),
                priority=priority,
                match=",".join(words),
                actions=last,
                packets=int(told.get("n_packets", "0")),
                lasting=not told.keys() & {"idle_timeout", "hard_timeout"},
            )
        )
    return found


def difference(
    installed: Iterable[Installed], wanted: Sequence[Flow], ports: Mapping[int, str]
) -> Change:
    """From the flows of a switch to those that are wanted; `ports` are its ports by number. Flows of
    others stay.

    Raises ValueError for a port that the switch has not, or has twice, and for a flow of somebody else that
    matches the same with the same priority, which ours would replace.
    """
    there = {_key(flow.table, flow.priority, flow.match): flow for flow in installed}
    lines = []
    added = changed = 0
    keys = set()
    for flow in wanted:
        number = _number(flow.port, ports)
        keys.add(key := _key(flow.table, flow.priority, flow.match))
        old = there.get(key)
        if old is not None and not old.ours:
            raise ValueError(
                f"table {flow.table}, priority {flow.priority}, {flow.match or 'every packet'}: "
                f"somebody else's flow (cookie {old.cookie:#x}): expected none, it is not replaced"
            )
        if old is not None and old.port == number and old.lasting:
            continue
        added += old is None
        changed += old is not None
        # By number: of ports whose names are alike ovs-ofctl would take any.
        lines.append(f"add {replace(flow, port=str(number))}")
    gone = [flow for key, flow in there.items() if flow.ours and key not in keys]
    removals = (
        f"delete_strict cookie={COOKIE:#x}/-1,table={flow.table},"
        f"priority={flow.priority}{flow.match and ','}{flow.match}"
        for flow in gone
    )
    return Change((*removals, *lines), added, changed, len(gone))


def _number(port: str, ports: Mapping[int, str]) -> int:
    if is_number(port):
        numbers = [number for number in ports if number == int(port)]
    else:
        numbers = [number for number, name in ports.items() if name == port]
    if not numbers:
        known = ", ".join(f"{name} ({number})" for number, name in ports.items())
        raise ValueError(
            f"port {port}: the switch has none such: expected one of {known or 'none'}"
        )
    if len(numbers) > 1:
        known = ", ".join(map(str, numbers))
        raise ValueError(
            f"port {port}: the switch has {len(numbers)} whose names begin so: expected a number, "
            f"of {known}"
        )
    return numbers[0]


def _key(table: int, priority: int, match: str) -> Key:
    return table, priority, frozenset(_word(word) for word in match.split(",") if word)


def _word(word: str) -> tuple[Any, ...]:
    """One word of a match, equal for what means the same; what is not ours stays as it is."""
    name, equals, value = word.partition("=")
    name = re.sub("^(tcp|udp)_", "tp_", name)
    if not equals or not re.fullmatch(r"(nw|ipv6|tp)_(src|dst)|reg[0-7]", name):
        return (word,)
    text, _, mask = value.partition("/")
    bits = 128 if name.startswith("ipv6") else 16 if name.startswith("tp") else 32
    whole = (1 << bits) - 1
    if name.startswith("tp") or name.startswith("reg"):
        return name, int(text, 0), int(mask or "-1", 0) & whole
    if mask.isdecimal():
        return name, int(ip_address(text)), whole >> bits - int(mask) << bits - int(mask)
    return name, int(ip_address(text)), int(ip_address(mask)) if mask else whole
