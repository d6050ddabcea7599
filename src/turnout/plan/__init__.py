"""The plan: a pure function from configuration and observation to the content of every table."""

from turnout.plan.compiler import compile
from turnout.plan.keys import hash_key
from turnout.plan.model import (
    Counters,
    MemberKey,
    NextHop,
    Observed,
    Plan,
    PlannedMember,
    PlannedService,
    PlannedTable,
    PlannedVip,
    State,
    Tally,
)
from turnout.plan.mtu import Room, largest_inner, largest_mss, overhead, rooms
from turnout.plan.steps import Step, diff
from turnout.plan.view import to_json

__all__ = [
    "Counters",
    "MemberKey",
    "NextHop",
    "Observed",
    "Plan",
    "PlannedMember",
    "PlannedService",
    "PlannedTable",
    "PlannedVip",
    "Room",
    "State",
    "Step",
    "Tally",
    "compile",
    "diff",
    "hash_key",
    "largest_inner",
    "largest_mss",
    "overhead",
    "rooms",
    "to_json",
]
