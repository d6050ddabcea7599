"""The XDP data plane of an instance."""

from turnout.xdp.errors import DataPlaneError
from turnout.xdp.forwarder import Forwarder

__all__ = ["DataPlaneError", "Forwarder"]
