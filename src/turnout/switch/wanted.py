"""The flows of a switch, from the fleet file alone."""

from turnout.config import Fleet, Switch, SwitchSplit
from turnout.split import Split, approximate
from turnout.switch.field import FIELDS
from turnout.switch.openflow import Flow, flows


def split_of(asked: SwitchSplit) -> Split:
    """The split that a switch is to make."""
    weights = [target.weight for target in asked.targets]
    return approximate(weights, asked.width, asked.rules, asked.norm)


def wanted(fleet: Fleet, name: str) -> list[Flow]:
    """All flows of ours that the switch must have. Raises ValueError for a switch that the fleet does
    not have."""
    if name not in fleet.switches:
        known = ", ".join(fleet.switches) or "none"
        raise ValueError(f"no switch is named {name!r}: expected one of {known}")
    return [
        flow
        for split in fleet.switches[name].splits
        for flow in flows(
            split_of(split),
            [target.port for target in split.targets],
            FIELDS[split.field],
            None if split.service is None else fleet.services[split.service],
            split.table,
        )
    ]


def kept_by(fleet: Fleet, instance: str) -> list[Switch]:
    """The switches whose flows the daemon of an instance keeps."""
    return [switch for switch in fleet.switches.values() if switch.instance == instance]


def kept_by_others(fleet: Fleet, instance: str) -> set[str]:
    """The bridges whose flows the daemon of an instance leaves as they are: those that nobody's keeps,
    and those that it would reach but another's keeps."""
    return {
        switch.bridge
        for switch in fleet.switches.values()
        if switch.instance is None or (switch.remote and switch.instance != instance)
    }
