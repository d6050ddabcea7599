"""Blackhole routes for single addresses in a table of ours: read, add, remove."""

import errno
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

from turnout.kernel.netlink import Netlink, NetlinkError

Address = IPv4Address | IPv6Address

_FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}
_RTN_BLACKHOLE = 6  # linux/rtnetlink.h


async def blackholes(netlink: Netlink, table: int, protocol: int) -> set[Address]:
    """Addresses that have one of `protocol` in `table`."""
    found = set()
    for version, family in _FAMILIES.items():
        # The kernel sends the routes of all tables where it does not filter.
        async for route in await netlink.route("dump", family=family, table=table):
            if (
                route.get_attr("RTA_TABLE") == table
                and route["proto"] == protocol
                and route["type"] == _RTN_BLACKHOLE
                and route["dst_len"] == (32 if version == 4 else 128)
            ):
                found.add(ip_address(route.get_attr("RTA_DST")))
    return found


async def add_blackhole(netlink: Netlink, address: Address, table: int, protocol: int) -> bool:
    """False where the table has a route for the address already. Raises NetlinkError."""
    try:
        await netlink.route("add", **_route(address, table, protocol))
    except NetlinkError as error:
        if error.code != errno.EEXIST:
            raise
        return False
    return True


async def remove_blackhole(netlink: Netlink, address: Address, table: int, protocol: int) -> None:
    """One that is not there is no error. Raises NetlinkError."""
    try:
        await netlink.route("del", **_route(address, table, protocol))
    except NetlinkError as error:
        if error.code != errno.ESRCH:
            raise


def _route(address: Address, table: int, protocol: int) -> dict[str, Any]:
    return {
        "family": _FAMILIES[address.version],
        "dst": f"{address}/{address.max_prefixlen}",
        "table": table,
        "proto": protocol,
        "type": "blackhole",
    }
