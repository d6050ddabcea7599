"""The fleet file: YAML in, frozen values out, errors with file, line and field."""

from turnout.config.model import (
    DEFAULT_TABLE_SIZE,
    Address,
    Announcement,
    Backend,
    Check,
    Encapsulation,
    Fleet,
    FlowHash,
    Instance,
    Member,
    Mode,
    Pool,
    Protocol,
    Service,
)

__all__ = [
    "DEFAULT_TABLE_SIZE",
    "Address",
    "Announcement",
    "Backend",
    "Check",
    "Encapsulation",
    "Fleet",
    "FlowHash",
    "Instance",
    "Member",
    "Mode",
    "Pool",
    "Protocol",
    "Service",
]
