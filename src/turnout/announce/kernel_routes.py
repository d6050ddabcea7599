"""VIPs as routes of our own protocol in a table of our own, for BIRD or FRR to export.

The routes are blackholes: no rule of the host refers to the table, and if one ever did, a packet
for a VIP must not leave the instance unencapsulated.
"""

from collections.abc import Iterable

from turnout.config import Address, Announcement
from turnout.kernel.netlink import Netlink
from turnout.kernel.routes import add_blackhole, host_routes, remove_blackhole


class KernelRoutes:
    """Announces by the content of a routing table. Routes of other protocols are left alone."""

    def __init__(self, announcement: Announcement) -> None:
        self._table = announcement.table
        self._protocol = announcement.protocol

    async def announce(self, vips: Iterable[Address]) -> None:
        """Make exactly these VIPs announced: what is missing is added, what is ours and not
        wanted is removed, whoever did it. Raises OSError or NetlinkError."""
        wanted = set(vips)
        async with Netlink() as netlink:
            present = await host_routes(netlink, self._table, self._protocol)
            for vip in wanted - present:
                await add_blackhole(netlink, vip, self._table, self._protocol)
            for vip in present - wanted:
                await remove_blackhole(netlink, vip, self._table, self._protocol)
