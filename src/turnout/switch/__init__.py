"""Splits as the rules of a real switch: OpenFlow and nftables."""

from turnout.switch import nft, openflow, sample
from turnout.switch.bridge import Bridge, SwitchError
from turnout.switch.field import FIELDS, Field
from turnout.switch.installed import Change, Installed
from turnout.switch.openflow import Flow
from turnout.switch.wanted import kept_by, kept_by_others, split_of, wanted

__all__ = [
    "FIELDS",
    "Bridge",
    "Change",
    "Field",
    "Flow",
    "Installed",
    "SwitchError",
    "kept_by",
    "kept_by_others",
    "nft",
    "openflow",
    "sample",
    "split_of",
    "wanted",
]
