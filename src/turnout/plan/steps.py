"""What changes from one plan to the next, in the order in which it is to be done."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from turnout.plan.model import Plan, PlannedMember, PlannedService, PlannedTable, PlannedVip

Action = Literal["add", "change", "remove"]
Item = PlannedMember | PlannedTable | PlannedService | PlannedVip


@dataclass(frozen=True, slots=True)
class Step:
    """One change. `item` is what is to be, or for a removal what was."""

    action: Action
    item: Item

    def __str__(self) -> str:
        return f"{self.action} {_describe(self.item)}"


def diff(old: Plan | None, new: Plan) -> tuple[Step, ...]:
    """Steps from `old` to `new`: make before break. Members that are new or come up, tables, services
    and VIPs, members that cease to take flows; removals last, in the other direction."""
    was = {member.number for member in old.members} if old else set()
    last = [m for m in new.members if m.number in was and not m.takes_flows]
    first = [m for m in new.members if m.number not in was or m.takes_flows]
    members = old.members if old else ()
    kinds: tuple[tuple[tuple[Item, ...], tuple[Item, ...]], ...] = (
        (old.tables if old else (), new.tables),
        (old.services if old else (), new.services),
        (old.vips if old else (), new.vips),
    )
    steps = list(_made(members, first))
    for before, after in kinds:
        steps.extend(_made(before, after))
    steps.extend(_made(members, last))
    for before, after in reversed(kinds):
        steps.extend(_gone(before, after))
    steps.extend(_gone(members, new.members))
    return tuple(steps)


def _name(item: Item) -> Any:
    """What stays the same while an item changes."""
    return item.key if isinstance(item, PlannedTable) else item.number


def _made(before: Iterable[Item], after: Iterable[Item]) -> Iterable[Step]:
    old = {_name(item): item for item in before}
    for item in after:
        if _name(item) not in old:
            yield Step("add", item)
        elif old[_name(item)] != item:
            yield Step("change", item)


def _gone(before: Iterable[Item], after: Iterable[Item]) -> Iterable[Step]:
    new = {_name(item) for item in after}
    return (Step("remove", item) for item in before if _name(item) not in new)


def _describe(item: Item) -> str:
    match item:
        case PlannedMember():
            hop = "" if item.next_hop else ", next hop not known"
            return f"member {'/'.join(item.key)} (number {item.number}, {item.state}{hop})"
        case PlannedTable():
            return f"table of pool {item.pool} ({item.size} slots, {len(item.members)} members)"
        case PlannedService():
            port = "all ports" if item.port is None else f"port {item.port}"
            return f"service {item.name} ({item.vip} {item.protocol} {port})"
        case PlannedVip():
            return f"VIP {item.vip}"
