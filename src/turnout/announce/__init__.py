"""Telling the network which VIPs are served here."""

from turnout.announce.kernel_routes import KernelRoutes
from turnout.announce.snippet import snippet

__all__ = ["KernelRoutes", "snippet"]
