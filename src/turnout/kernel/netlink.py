"""The kernel's rtnetlink, of the namespace that the connection is made in."""

from pyroute2 import AsyncIPRoute as Netlink
from pyroute2 import NetlinkError

__all__ = ["Netlink", "NetlinkError"]
