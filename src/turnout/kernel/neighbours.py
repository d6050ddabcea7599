"""The kernel's links, routes and neighbours: what a next hop is made of."""

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

from pyroute2 import AsyncIPRoute, NetlinkError
from pyroute2.netlink.rtnl import (
    RTMGRP_IPV4_ROUTE,
    RTMGRP_IPV6_ROUTE,
    RTMGRP_LINK,
    RTMGRP_NEIGH,
)

Address = IPv4Address | IPv6Address

# linux/neighbour.h
_NUD_VALID = 0x02 | 0x04 | 0x08 | 0x10 | 0x40 | 0x80
"""Reachable, stale, delay, probe, noarp, permanent."""
_NTF_EXT_MANAGED = 1


@dataclass(frozen=True, slots=True)
class Link:
    """An interface."""

    index: int
    mac: bytes
    mtu: int
    parent: int
    """Index of the interface that a VLAN stands on, else its own."""
    vlan: int
    """VLAN id, 0 where it is no VLAN."""


@dataclass(frozen=True, slots=True)
class Way:
    """How packets for an address leave this host."""

    oif: int
    gateway: Address
    """The address itself where it is on the link."""
    mtu: int | None
    """The route's, where it has one."""


Neighbour = tuple[int, Address]
"""Interface index and address."""


@asynccontextmanager
async def netlink() -> AsyncIterator[AsyncIPRoute]:
    """A connection to the kernel."""
    async with AsyncIPRoute() as connection:
        yield connection


async def watch(changed: Callable[[], None]) -> None:
    """Call `changed` at every change of links, routes and neighbours, until cancelled; and once at
    the beginning, since what changed before was not seen."""
    groups = RTMGRP_LINK | RTMGRP_NEIGH | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE
    async with AsyncIPRoute() as connection:
        await connection.bind(groups=groups)
        changed()
        while True:
            async for _ in connection.get():
                changed()


async def links(netlink: AsyncIPRoute) -> dict[int, Link]:
    """All interfaces by index."""
    found = {}
    async for message in await netlink.link("dump"):
        vlan = 0
        info = message.get_attr("IFLA_LINKINFO")
        if info is not None and info.get_attr("IFLA_INFO_KIND") == "vlan":
            vlan = info.get_attr("IFLA_INFO_DATA").get_attr("IFLA_VLAN_ID")
        found[message["index"]] = Link(
            index=message["index"],
            mac=_mac(message.get_attr("IFLA_ADDRESS")),
            mtu=message.get_attr("IFLA_MTU"),
            parent=message.get_attr("IFLA_LINK") or message["index"],
            vlan=vlan,
        )
    return found


async def way_to(netlink: AsyncIPRoute, address: Address) -> Way | None:
    """The kernel's route. None where there is no route, or where it does not lead to another host."""
    try:
        for route in await netlink.route("get", dst=str(address), family=_family(address)):
            oif = route.get_attr("RTA_OIF")
            if route["type"] != 1 or not oif:
                return None
            gateway = route.get_attr("RTA_GATEWAY")
            via = route.get_attr("RTA_VIA")
            if via is not None:
                gateway = via["addr"]
            metrics = route.get_attr("RTA_METRICS")
            mtu = metrics.get_attr("RTAX_MTU") if metrics is not None else None
            return Way(oif, ip_address(gateway) if gateway else address, mtu)
    except NetlinkError:
        pass
    return None


async def resolved(netlink: AsyncIPRoute) -> dict[Neighbour, bytes]:
    """MAC of every neighbour that has one."""
    found = {}
    for family in (socket.AF_INET, socket.AF_INET6):
        async for message in await netlink.neigh("dump", family=family):
            mac = message.get_attr("NDA_LLADDR")
            if mac and message["state"] & _NUD_VALID:
                key = message["ifindex"], ip_address(message.get_attr("NDA_DST"))
                found[key] = _mac(mac)
    return found


async def manage(netlink: AsyncIPRoute, neighbour: Neighbour, managed: bool) -> None:
    """Have the kernel keep a neighbour resolved by itself, or leave it to its use again.

    One that is not there is begun.
    """
    ifindex, address = neighbour
    request: dict[str, Any] = {
        "family": _family(address),
        "ifindex": ifindex,
        "dst": str(address),
        "state": 0,
        "NDA_FLAGS_EXT": _NTF_EXT_MANAGED if managed else 0,
    }
    try:
        await netlink.neigh("replace" if managed else "change", **request)
    except NetlinkError:
        # The interface or the entry has gone meanwhile: the next call sees what there is.
        return


def _family(address: Address) -> int:
    return socket.AF_INET if address.version == 4 else socket.AF_INET6


def _mac(text: str | None) -> bytes:
    return bytes.fromhex(text.replace(":", "")) if text else b""
