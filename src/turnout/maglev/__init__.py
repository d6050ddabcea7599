"""Lookup tables: arrays in, arrays out."""

from turnout.maglev.disruption import Disruption, disruption
from turnout.maglev.lookup import lookup
from turnout.maglev.table import MAX_MEMBERS, MAX_SIZE, MAX_WEIGHT, build, fill, preference, quotas

__all__ = [
    "MAX_MEMBERS",
    "MAX_SIZE",
    "MAX_WEIGHT",
    "Disruption",
    "build",
    "disruption",
    "fill",
    "lookup",
    "preference",
    "quotas",
]
