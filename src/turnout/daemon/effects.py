"""What the reconcile loop needs of the world: one small protocol an effect.

The rooms xdp, health and announce provide them; tests replace them.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from turnout.config import Address, Check
from turnout.plan import Counters, NextHop, Plan


class DataPlane(Protocol):
    """Holds the tables of one instance."""

    def apply(self, plan: Plan) -> None:
        """Make `plan` the content of every table: only what differs is written, atomically
        per service, make before break.

        Raises turnout.xdp.DataPlaneError when the kernel refuses; what was in force before
        then still is.
        """

    def counters(self) -> Counters:
        """Sums over all CPUs."""

    def modes(self) -> Mapping[str, str]:
        """Interface name to the mode in force: "native" or "generic"."""

    def close(self) -> None:
        """Detach what was attached."""


class Neighbours(Protocol):
    """The kernel's routes and neighbours."""

    async def next_hops(self, addresses: Iterable[Address]) -> Mapping[Address, NextHop]:
        """Next hop of each address that has one."""


class Announcer(Protocol):
    async def announce(self, vips: Iterable[Address]) -> None:
        """Make exactly these VIPs announced."""


class Prober(Protocol):
    async def probe(self, check: Check, address: Address) -> str | None:
        """Ask once. None: success; else why not, in a few words."""
