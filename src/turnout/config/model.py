"""The fleet file as frozen values: what the user wrote, checked and with defaults filled in.

Order is the file's order everywhere; names are unique within their kind.
"""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Literal

from turnout.config.errors import Problem

Address = IPv4Address | IPv6Address
Mode = Literal["auto", "native", "generic"]
Protocol = Literal["tcp", "udp"]
Encapsulation = Literal["gue", "ipip", "gre"]
FlowHash = Literal["5-tuple", "client-address"]
Norm = Literal["linf", "linf_plus", "linf_rel", "linf_plus_rel", "l1"]

DEFAULT_TABLE_SIZE = 65_537


@dataclass(frozen=True, slots=True)
class Instance:
    """One load-balancer machine."""

    name: str
    interfaces: tuple[str, ...]
    mode: Mode
    addresses: tuple[Address, ...]
    """Its own addresses, at most one a family: the outer source of what it encapsulates."""
    routers: tuple[Address, ...]
    """BGP neighbours, for the snippet."""

    def source(self, version: int) -> Address | None:
        """The outer source of IP version 4 or 6, or None where the instance has none."""
        return next((a for a in self.addresses if a.version == version), None)


@dataclass(frozen=True, slots=True)
class Backend:
    """A server: a name and an address."""

    name: str
    address: Address


@dataclass(frozen=True, slots=True)
class Check:
    """How the health of a pool's members is asked for. Times in seconds."""

    type: Literal["tcp", "http"]
    port: int
    path: str
    """http only: the request target; "" for tcp."""
    status: tuple[int, int]
    """http only: lowest and highest status code that counts as success."""
    interval_s: float
    timeout_s: float
    rise: int
    """Successes in a row that bring a member up."""
    fall: int
    """Failures in a row that take it down."""


@dataclass(frozen=True, slots=True)
class Member:
    """A backend in a pool. `pool` names it, also where another pool includes that one."""

    pool: str
    backend: str
    weight: int
    drain: bool
    check: Check | None
    """Its pool's check; None: always up."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A named set of members; those of included pools stand after its own."""

    name: str
    members: tuple[Member, ...]
    check: Check | None
    min_up: float
    """The floor, 0..1: with a smaller share of members up, the whole pool is served."""
    hash_key: str
    """Name of the key of the flow hash."""


@dataclass(frozen=True, slots=True)
class Service:
    """A VIP with protocol and port (None: all ports)."""

    name: str
    vip: Address
    protocol: Protocol
    port: int | None
    pool: str
    policy: Literal["maglev"]
    table_size: int
    encapsulation: Encapsulation
    hash: FlowHash


@dataclass(frozen=True, slots=True)
class Announcement:
    """VIP routes, put where a BGP speaker finds them."""

    table: int
    """Kernel routing table of ours."""
    protocol: int
    """Kernel route protocol number of ours."""
    local_as: int
    peer_as: int


@dataclass(frozen=True, slots=True)
class Target:
    """Where a switch sends a share of the packets."""

    name: str
    port: str
    """Of the switch, by name or number."""
    weight: int


@dataclass(frozen=True, slots=True)
class SwitchSplit:
    """Packets that a switch splits over targets."""

    name: str
    targets: tuple[Target, ...]
    service: str | None
    """Whose packets; None: all that have the field."""
    field: str
    """Its lowest `width` bits decide."""
    width: int
    rules: int | None
    """The match-all rule included; None: as many as it takes."""
    norm: Norm
    table: int


@dataclass(frozen=True, slots=True)
class Switch:
    """An Open vSwitch bridge."""

    name: str
    bridge: str
    """As ovs-ofctl takes it."""
    instance: str | None
    """Whose daemon keeps the flows; None: nobody's."""
    splits: tuple[SwitchSplit, ...]

    @property
    def remote(self) -> bool:
        """Whether the same name reaches it from every machine."""
        return is_remote(self.bridge)


def is_remote(bridge: str) -> bool:
    """Whether a bridge is reached by an address, and so the same one from every machine."""
    return bridge.startswith(("tcp:", "ssl:"))


@dataclass(frozen=True, slots=True)
class Fleet:
    """The whole file."""

    path: Path
    key_file: Path | None
    announcement: Announcement
    instances: dict[str, Instance]
    backends: dict[str, Backend]
    pools: dict[str, Pool]
    services: dict[str, Service]
    switches: dict[str, Switch]
    warnings: tuple[Problem, ...]
    """What is allowed but may not be meant."""
