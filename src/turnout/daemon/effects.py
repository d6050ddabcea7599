"""What the reconcile loop needs of the world: one small protocol an effect.

The rooms xdp, health and announce provide them; tests replace them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from turnout.config import Address, Check
from turnout.plan import Counters, MemberKey, NextHop, Plan
from turnout.switch import Change, Flow


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
        """Interface name to the mode in force: "native", "generic", or "none" where it is gone."""

    def restore(self) -> None:
        """Attach again where an interface was deleted and has come back.

        Raises turnout.xdp.DataPlaneError.
        """

    def close(self) -> None:
        """Detach what was attached."""


class Neighbours(Protocol):
    """The kernel's routes and neighbours."""

    async def next_hops(self, addresses: Iterable[Address]) -> Mapping[Address, NextHop]:
        """Next hop of each address that has one."""

    async def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever a next hop may have changed, until cancelled; and once at the
        beginning, since what changed before was not seen."""


class Announcer(Protocol):
    async def announce(self, vips: Iterable[Address]) -> None:
        """Make exactly these VIPs announced."""


class Verdict(Protocol):
    """What the checks say of one member."""

    @property
    def up(self) -> bool: ...
    @property
    def reason(self) -> str:
        """Of the last result: why it failed, in a few words; empty for a success."""
        ...


class Health(Protocol):
    """The checks of the members."""

    def follow(self, members: Mapping[MemberKey, tuple[Check, Address]]) -> None:
        """Check exactly these from now on. A member whose check and address are as before keeps
        its verdict."""

    def verdicts(self) -> Mapping[MemberKey, Verdict]:
        """Of the members for which there is one yet."""

    async def run(self, changed: Callable[[], None]) -> None:
        """Check, calling `changed` after a verdict has changed, until cancelled."""


class FlowTable(Protocol):
    """The flows of one bridge."""

    def apply(self, wanted: Sequence[Flow]) -> Change:
        """Make `wanted` all flows of ours, at once or not at all. Blocks, for seconds where the switch
        does not answer. Raises turnout.switch.SwitchError."""


@dataclass(frozen=True, slots=True)
class Effects:
    """All of them, for one instance."""

    data_plane: DataPlane
    neighbours: Neighbours
    announcer: Announcer
    health: Health
    bridge: Callable[[str], FlowTable]
    """By the name that ovs-ofctl takes."""
