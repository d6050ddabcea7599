"""What the daemon knows and holds at one moment, as values: all that the API shows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from turnout.config import Address, Member
from turnout.daemon.configuration import Configuration
from turnout.daemon.effects import Verdict
from turnout.plan import MemberKey, Plan

MemberState = Literal["up", "draining", "down", "unknown"]
"""As the checks and the configuration have it; "unknown": no verdict yet, so not served."""


@dataclass(frozen=True, slots=True)
class MemberStatus:
    member: Member
    state: MemberState
    reason: str
    """Why it is in that state, where there is something to say."""
    since: float
    """When it came into that state (or was first seen), seconds since the epoch."""

    def since_then(self, moment: float) -> "MemberStatus":
        return replace(self, since=moment)


@dataclass(frozen=True, slots=True)
class Snapshot:
    configuration: Configuration
    generation: int
    """Of the configuration: 1 at the start, one more with each reload that was accepted."""
    applied: int
    """Generation whose plan is in force; 0 before the first."""
    failure: str
    """Why the last pass failed; empty if it did not."""
    plan: Plan | None
    announced: tuple[Address, ...]
    members: Mapping[MemberKey, MemberStatus]
    modes: Mapping[str, str]
    """Interface to "native", "generic", or "none" where the forwarder is not attached."""
    started: float
    """Seconds since the epoch."""
    now: float


def member_status(member: Member, verdict: Verdict | None, now: float) -> MemberStatus:
    """The state of a member, from what is configured and what its check says."""
    if member.check is not None:
        if verdict is None:
            return MemberStatus(member, "unknown", "not checked yet", now)
        if not verdict.up:
            # Its last check may have succeeded already: it takes `rise` of them.
            return MemberStatus(member, "down", verdict.reason or "last check succeeded", now)
    if member.drain:
        return MemberStatus(member, "draining", "drain: true", now)
    return MemberStatus(member, "up", "" if member.check else "no check", now)
