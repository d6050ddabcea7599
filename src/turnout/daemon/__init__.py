"""The daemon of one instance: configuration and observation to plan, plan to data plane."""

from turnout.daemon.configuration import Configuration, RefusalError, read
from turnout.daemon.effects import (
    Announcer,
    DataPlane,
    Effects,
    Health,
    Neighbours,
    Verdict,
)
from turnout.daemon.loop import Daemon, StartError
from turnout.daemon.snapshot import MemberState, MemberStatus, Snapshot

__all__ = [
    "Announcer",
    "Configuration",
    "Daemon",
    "DataPlane",
    "Effects",
    "Health",
    "MemberState",
    "MemberStatus",
    "Neighbours",
    "RefusalError",
    "Snapshot",
    "StartError",
    "Verdict",
    "read",
]
