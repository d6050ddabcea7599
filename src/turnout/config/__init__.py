"""The fleet file: YAML in, frozen values out, errors with file, line and field."""

from turnout.config.errors import ConfigError, Problem
from turnout.config.fields import SPLIT_FIELDS
from turnout.config.load import load, read_key
from turnout.config.manual import reference, schema
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
    Switch,
    SwitchSplit,
    Target,
)
from turnout.config.scalars import LAST_SWITCH_PORT

__all__ = [
    "DEFAULT_TABLE_SIZE",
    "LAST_SWITCH_PORT",
    "SPLIT_FIELDS",
    "Address",
    "Announcement",
    "Backend",
    "Check",
    "ConfigError",
    "Encapsulation",
    "Fleet",
    "FlowHash",
    "Instance",
    "Member",
    "Mode",
    "Pool",
    "Problem",
    "Protocol",
    "Service",
    "Switch",
    "SwitchSplit",
    "Target",
    "load",
    "read_key",
    "reference",
    "schema",
]
