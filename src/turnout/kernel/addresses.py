"""Addresses and interfaces of this host."""

import errno
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

from pyroute2 import IPRoute, NetlinkError

Address = IPv4Address | IPv6Address

_FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}
_NO_DAD = 0x02
_ETHERNET = 1
"""ARPHRD_ETHER."""


@contextmanager
def _netlink(step: str) -> Iterator[IPRoute]:
    """Raises OSError for what the kernel refuses within the block."""
    try:
        with IPRoute() as netlink:
            yield netlink
    except NetlinkError as error:
        raise OSError(error.code, f"{step}: {os.strerror(error.code)}") from None


def on_interface(name: str) -> set[Address]:
    """Addresses of an interface. Raises OSError where there is none of that name."""
    index = socket.if_nametoindex(name)
    with _netlink(f"read the addresses of {name}") as netlink:
        return {
            ip_address(message.get_attr("IFA_LOCAL") or message.get_attr("IFA_ADDRESS"))
            for message in netlink.get_addr(index=index)
        }


def add(name: str, address: Address) -> bool:
    """Give the interface a host address. False where it had it already. Raises OSError."""
    more = {"flags": _NO_DAD} if address.version == 6 else {}
    try:
        with _netlink(f"add {address} to {name}") as netlink:
            netlink.addr(
                "add",
                index=socket.if_nametoindex(name),
                family=_FAMILIES[address.version],
                address=str(address),
                prefixlen=address.max_prefixlen,
                **more,
            )
    except FileExistsError:
        return False
    return True


def remove(name: str, address: Address) -> None:
    """Take a host address away; nothing happens where it is not there. Raises OSError."""
    try:
        with _netlink(f"remove {address} from {name}") as netlink:
            netlink.addr(
                "del",
                index=socket.if_nametoindex(name),
                family=_FAMILIES[address.version],
                address=str(address),
                prefixlen=address.max_prefixlen,
            )
    except OSError as error:
        if error.errno != errno.EADDRNOTAVAIL:
            raise


def interfaces_with(address: Address) -> list[str]:
    """Names of the interfaces that carry the address."""
    with _netlink(f"look for {address}") as netlink:
        return sorted(
            {
                socket.if_indextoname(message["index"])
                for message in netlink.get_addr(family=_FAMILIES[address.version])
                if ip_address(message.get_attr("IFA_LOCAL") or message.get_attr("IFA_ADDRESS"))
                == address
            }
        )


def default_interfaces() -> list[str]:
    """Names of the interfaces by which default routes leave."""
    found: set[int] = set()
    with _netlink("read the default routes") as netlink:
        for family in _FAMILIES.values():
            for route in netlink.get_default_routes(family=family):
                hops = route.get_attr("RTA_MULTIPATH") or ()
                found.update(hop["oif"] for hop in hops)
                if route.get_attr("RTA_OIF"):
                    found.add(route.get_attr("RTA_OIF"))
    return sorted(socket.if_indextoname(index) for index in found)


@dataclass(frozen=True, slots=True)
class Interface:
    mtu: int
    ethernet: bool


def interface(name: str) -> Interface:
    """Raises OSError where there is none of that name."""
    with _netlink(f"look at {name}") as netlink:
        (link,) = netlink.get_links(socket.if_nametoindex(name))
        return Interface(int(link.get_attr("IFLA_MTU")), link["ifi_type"] == _ETHERNET)
