"""Routes of a table and protocol of ours: read, add, remove."""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address

from turnout.kernel.netlink import Netlink

Address = IPv4Address | IPv6Address

_FAMILIES = (socket.AF_INET, socket.AF_INET6)


async def host_routes(netlink: Netlink, table: int, protocol: int) -> set[Address]:
    """Destinations of the host routes in `table` that have `protocol`."""
    found = set()
    for family in _FAMILIES:
        async for route in await netlink.route("dump", family=family, table=table):
            destination = route.get("dst") or route.get_attr("RTA_DST")
            if route["proto"] == protocol and _table(route) == table and destination:
                address = ip_address(destination)
                if route["dst_len"] == address.max_prefixlen:
                    found.add(address)
    return found


def _table(route: object) -> int:
    return int(route.get_attr("RTA_TABLE"))  # type: ignore[attr-defined]


async def add_blackhole(netlink: Netlink, address: Address, table: int, protocol: int) -> None:
    """A host route that discards. Raises NetlinkError."""
    await netlink.route("replace", **_route(address, table, protocol))


async def remove_blackhole(netlink: Netlink, address: Address, table: int, protocol: int) -> None:
    """Raises NetlinkError."""
    await netlink.route("del", **_route(address, table, protocol))


def _route(address: Address, table: int, protocol: int) -> dict[str, object]:
    return {
        "family": socket.AF_INET if address.version == 4 else socket.AF_INET6,
        "dst": f"{address}/{address.max_prefixlen}",
        "table": table,
        "proto": protocol,
        "type": "blackhole",
    }
