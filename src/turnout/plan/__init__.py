"""The plan: a pure function from configuration and observation to the content of every table."""

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
    "State",
    "Tally",
]
