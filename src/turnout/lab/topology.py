"""A laboratory network as values: who is in it, and with which addresses.

    clients ── 10.0.0.0/24 ──┐
    instances ─ 10.0.1.0/24 ─┤ router
    backends ── 10.0.2.0/24 ─┤
    instances ─ 10.0.3.0/24 ─┘ second arms

Each LAN is a bridge of the router, so that the router's own interface stays up when a host's
link fails: what it notices then, it has learned by BFD, as behind a real switch.
"""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface
from typing import Any, Literal

from turnout.config import Encapsulation, Mode

Lan = Literal["clients", "instances", "backends", "arms"]
LANS: tuple[Lan, ...] = ("clients", "instances", "backends", "arms")
ROUTER = "router"

VIP4 = IPv4Address("192.0.2.10")
VIP6 = IPv6Address("2001:db8::10")
PORT = 80

ROUTER_AS = 65000
INSTANCE_AS = 65001


@dataclass(frozen=True, slots=True)
class Link:
    """A host's interface and the LAN that it is on."""

    interface: str
    lan: Lan
    port: str
    """The router's end, a port of the LAN's bridge."""
    address4: IPv4Interface
    address6: IPv6Interface


@dataclass(frozen=True, slots=True)
class Host:
    """A client, an instance or a backend. The first link has the default route."""

    name: str
    links: tuple[Link, ...]

    @property
    def address4(self) -> IPv4Address:
        return self.links[0].address4.ip

    @property
    def address6(self) -> IPv6Address:
        return self.links[0].address6.ip


@dataclass(frozen=True, slots=True)
class Topology:
    """How many of what, around one router."""

    clients: int = 1
    instances: int = 2
    backends: int = 4
    two_armed: int = 0
    """So many of the instances, the last ones, reach the backends by an interface of their own."""
    mode: Mode = "native"
    encapsulation: Encapsulation = "gue"
    mtu: int = 1600
    """Of every link but the clients', which have 1500."""

    def __post_init__(self) -> None:
        for name in ("clients", "instances", "backends"):
            if not 0 < getattr(self, name) < 200:
                raise ValueError(f"{name}: found {getattr(self, name)}, expected 1 to 199")

    def client_hosts(self) -> tuple[Host, ...]:
        return tuple(_host("client", n, "clients") for n in range(1, self.clients + 1))

    def instance_hosts(self) -> tuple[Host, ...]:
        armed = self.instances - self.two_armed
        return tuple(
            _host("lb", n, "instances", "arms") if n > armed else _host("lb", n, "instances")
            for n in range(1, self.instances + 1)
        )

    def backend_hosts(self) -> tuple[Host, ...]:
        return tuple(_host("web", n, "backends") for n in range(1, self.backends + 1))

    def hosts(self) -> tuple[Host, ...]:
        return (*self.client_hosts(), *self.instance_hosts(), *self.backend_hosts())

    def nodes(self) -> tuple[str, ...]:
        """Every machine's name, the router's first."""
        return (ROUTER, *(host.name for host in self.hosts()))

    def fleet(self) -> dict[str, Any]:
        """What the fleet file says: one pool, served over IPv4 and IPv6."""
        service = {
            "protocol": "tcp",
            "port": PORT,
            "pool": "web",
            "encapsulation": self.encapsulation,
        }
        return {
            "key_file": "hash.key",
            "announcement": {"local_as": INSTANCE_AS, "peer_as": ROUTER_AS},
            "instances": {
                host.name: {
                    "interfaces": [link.interface for link in host.links],
                    "mode": self.mode,
                    "addresses": [str(host.address4), str(host.address6)],
                    "routers": [str(gateway4("instances").ip), str(gateway6("instances").ip)],
                }
                for host in self.instance_hosts()
            },
            "backends": {
                host.name: {"address": str(host.address4)} for host in self.backend_hosts()
            },
            "pools": {
                "web": {
                    "members": {host.name: {} for host in self.backend_hosts()},
                    "check": {
                        "type": "http",
                        "port": PORT,
                        "path": "/healthz",
                        "interval": "500ms",
                        "timeout": "500ms",
                        "rise": 2,
                        "fall": 3,
                    },
                }
            },
            "services": {
                "www": {"vip": str(VIP4), **service},
                "www6": {"vip": str(VIP6), **service},
            },
        }


def gateway4(lan: Lan) -> IPv4Interface:
    """The router's IPv4 address on a LAN."""
    return IPv4Interface(f"10.0.{LANS.index(lan)}.254/24")


def gateway6(lan: Lan) -> IPv6Interface:
    """The router's IPv6 address on a LAN."""
    return IPv6Interface(f"fd00:{LANS.index(lan)}::fe/64")


def _host(kind: str, number: int, *lans: Lan) -> Host:
    name = f"{kind}{number}"
    return Host(name, tuple(_link(name, number, arm, lan) for arm, lan in enumerate(lans)))


def _link(name: str, number: int, arm: int, lan: Lan) -> Link:
    net = LANS.index(lan)
    return Link(
        interface=f"eth{arm}",
        lan=lan,
        port=name if arm == 0 else f"{name}-{arm}",
        address4=IPv4Interface(f"10.0.{net}.{number}/24"),
        address6=IPv6Interface(f"fd00:{net}::{number:x}/64"),
    )
