"""The kernel's links, routes and neighbours: what a next hop is made of."""

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

from pyroute2.netlink.rtnl import (
    RTMGRP_IPV4_ROUTE,
    RTMGRP_IPV4_RULE,
    RTMGRP_IPV6_ROUTE,
    RTMGRP_IPV6_RULE,
    RTMGRP_LINK,
    RTMGRP_NEIGH,
)

from turnout.kernel.netlink import Netlink, NetlinkError

Address = IPv4Address | IPv6Address

# linux/rtnetlink.h
_GROUPS = (
    RTMGRP_LINK
    | RTMGRP_NEIGH
    | RTMGRP_IPV4_ROUTE
    | RTMGRP_IPV6_ROUTE
    | RTMGRP_IPV4_RULE
    | RTMGRP_IPV6_RULE
)
_RTN_UNICAST = 1

# linux/neighbour.h
_NUD_STALE = 0x04
_NUD_FIXED = 0x40 | 0x80
"""noarp, permanent."""
_NUD_VALID = 0x02 | _NUD_STALE | 0x08 | 0x10 | _NUD_FIXED
"""reachable, stale, delay, probe, and the fixed ones."""
_NTF_EXT_LEARNED = 0x10
_NTF_EXT_MANAGED = 1


@dataclass(frozen=True, slots=True)
class Link:
    """An interface."""

    index: int
    mac: bytes
    mtu: int
    parent: int
    """Index of the interface that a VLAN stands on."""
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


@dataclass(frozen=True, slots=True)
class Entry:
    """What the kernel has of a neighbour."""

    mac: bytes | None
    """None while it is not resolved."""
    managed: bool
    """The kernel keeps it resolved by itself."""
    fixed: bool
    """Somebody else's word, which never ages: permanent, without ARP, or learned elsewhere."""


async def changes(
    begun: Callable[[], None],
) -> AsyncIterator[tuple[Neighbour, Entry | None] | None]:
    """What changes from now on: a neighbour with its new entry (None: deleted), or None for a
    link, a route or a rule. `begun` is called when nothing is missed any more.

    Raises OSError where the kernel had to leave changes out.
    """
    async with Netlink() as connection:
        await connection.bind(groups=_GROUPS)
        begun()
        while True:
            async for message in connection.get():
                if message["event"] not in ("RTM_NEWNEIGH", "RTM_DELNEIGH"):
                    yield None
                elif message.get_attr("NDA_DST"):
                    deleted = message["event"] == "RTM_DELNEIGH"
                    yield _neighbour(message), None if deleted else _entry(message)


async def links(netlink: Netlink) -> dict[int, Link]:
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
            parent=message.get_attr("IFLA_LINK") or 0,
            vlan=vlan,
        )
    return found


async def way_to(netlink: Netlink, address: Address) -> Way | None:
    """The kernel's route. None where there is no route, or where it does not lead to another host."""
    try:
        for route in await netlink.route("get", dst=str(address), family=_family(address)):
            oif = route.get_attr("RTA_OIF")
            if route["type"] != _RTN_UNICAST or not oif:
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


async def entries(netlink: Netlink) -> dict[Neighbour, Entry]:
    """All neighbours."""
    return {
        _neighbour(message): _entry(message)
        for family in (socket.AF_INET, socket.AF_INET6)
        async for message in await netlink.neigh("dump", family=family)
    }


async def manage(netlink: Netlink, neighbour: Neighbour) -> None:
    """Have the kernel keep a neighbour resolved by itself. One that is not there is begun."""
    with suppress(NetlinkError):  # The interface has gone meanwhile.
        await netlink.neigh(
            "replace", **_request(neighbour), state=0, NDA_FLAGS_EXT=_NTF_EXT_MANAGED
        )


async def release(netlink: Netlink, neighbour: Neighbour) -> None:
    """Leave a neighbour to its use again."""
    try:
        await netlink.neigh("change", **_request(neighbour), state=_NUD_STALE)
    except NetlinkError:
        # Not resolved: nothing is lost with it. Or gone already.
        with suppress(NetlinkError):
            await netlink.neigh("del", **_request(neighbour))


def _request(neighbour: Neighbour) -> dict[str, Any]:
    ifindex, address = neighbour
    return {"family": _family(address), "ifindex": ifindex, "dst": str(address)}


def _neighbour(message: Any) -> Neighbour:
    return message["ifindex"], ip_address(message.get_attr("NDA_DST"))


def _entry(message: Any) -> Entry:
    state = message["state"]
    mac = message.get_attr("NDA_LLADDR") if state & _NUD_VALID else None
    return Entry(
        mac=_mac(mac) or None,
        managed=bool((message.get_attr("NDA_FLAGS_EXT") or 0) & _NTF_EXT_MANAGED),
        fixed=bool(state & _NUD_FIXED or message["flags"] & _NTF_EXT_LEARNED),
    )


def _family(address: Address) -> int:
    return socket.AF_INET if address.version == 4 else socket.AF_INET6


def _mac(text: str | None) -> bytes:
    return bytes.fromhex(text.replace(":", "")) if text else b""
