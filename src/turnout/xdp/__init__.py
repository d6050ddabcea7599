"""The XDP data plane of an instance."""

from turnout.xdp.errors import DataPlaneError
from turnout.xdp.forwarder import Forwarder
from turnout.xdp.next_hops import Neighbours

__all__ = ["DataPlaneError", "Forwarder", "Neighbours"]
