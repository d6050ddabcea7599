"""A plan: the complete content of every table of one instance, as values.

`turnout.plan.compile` makes it from the configuration and what is observed; a data plane
knows how to apply it and nothing else. Numbers here are the numbers in the maps: zero is
"none", so they begin at 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from turnout.config import Address, Encapsulation, FlowHash, Protocol

MemberKey = tuple[str, str]
"""(pool that names it, backend)."""

State = Literal["up", "draining", "down"]


@dataclass(frozen=True, slots=True)
class NextHop:
    """Where an encapsulated packet leaves, taken from the kernel's routes and neighbours."""

    ifindex: int
    vlan: int
    """VLAN id, 0 for none."""
    own_mac: bytes
    mac: bytes
    mtu: int
    """Largest outer IP packet, bytes."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What is known of the world."""

    up: Mapping[MemberKey, bool] = field(default_factory=dict)
    """Health by member. A member that is absent is not known yet, and is not served."""
    next_hops: Mapping[Address, NextHop] = field(default_factory=dict)
    """By backend address. Without one, packets for that backend are counted and dropped."""


@dataclass(frozen=True, slots=True)
class PlannedMember:
    number: int
    key: MemberKey
    address: Address
    source: Address
    """Outer source: the instance's own address of the same family."""
    state: State
    next_hop: NextHop | None

    @property
    def takes_flows(self) -> bool:
        """Whether flows that come to it reach it."""
        return self.state == "up" and self.next_hop is not None


@dataclass(frozen=True, slots=True)
class PlannedTable:
    """One lookup table, shared by all services with the same pool and size."""

    pool: str
    size: int
    names: tuple[str, ...]
    """In the order of their bytes."""
    weights: tuple[int, ...]
    members: tuple[int, ...]
    """Member numbers in the order of the indices."""
    indices: NDArray[np.uint16] = field(
        default_factory=lambda: np.empty(0, np.uint16), compare=False, repr=False
    )
    """shape (size,): 0-based indices into `members`; follows from names, weights and size."""

    @property
    def key(self) -> tuple[str, int]:
        return (self.pool, self.size)


@dataclass(frozen=True, slots=True)
class PlannedService:
    number: int
    name: str
    vip: Address
    protocol: Protocol
    port: int | None
    table: tuple[str, int]
    """Key of its PlannedTable."""
    encapsulation: Encapsulation
    hash: FlowHash
    hash_key: bytes = field(repr=False)
    """16 bytes: two little-endian words. A secret: printed nowhere."""


@dataclass(frozen=True, slots=True)
class PlannedVip:
    """A VIP itself: answers echo requests, and owns the fragments of its protocols."""

    number: int
    vip: Address
    protocols: frozenset[Protocol]


@dataclass(frozen=True, slots=True)
class Plan:
    """Numbers of services and VIPs share one space."""

    instance: str
    members: tuple[PlannedMember, ...]
    tables: tuple[PlannedTable, ...]
    services: tuple[PlannedService, ...]
    vips: tuple[PlannedVip, ...]
    announced: tuple[Address, ...]
    """VIPs of which at least one service can be served."""


@dataclass(frozen=True, slots=True)
class Tally:
    packets: int
    bytes: int
    """Of the inner IP packets."""
    new_flows: int
    """TCP SYNs."""


@dataclass(frozen=True, slots=True)
class Counters:
    """What a data plane has counted since it was loaded, summed over CPUs."""

    services: Mapping[int, Tally]
    """By service (or VIP) number."""
    members: Mapping[int, Tally]
    """By member number."""
    reasons: Mapping[str, int]
    """Every packet seen, once, under the one reason for what became of it."""
