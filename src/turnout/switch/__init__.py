"""Splits as the rules of a real switch: OpenFlow and nftables."""

from turnout.switch import nft, openflow
from turnout.switch.field import FIELDS, Field

__all__ = ["FIELDS", "Field", "nft", "openflow"]
