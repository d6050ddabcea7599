"""VIPs as routes of our own protocol in a table of our own, for BIRD or FRR to export.

The routes are blackholes: no rule of the host refers to the table, and if one ever did, a packet
for a VIP must not leave the instance unencapsulated.
"""

from collections.abc import Iterable

from turnout.config import Address, Announcement
from turnout.kernel.netlink import Netlink
from turnout.kernel.routes import add_blackhole, blackholes, remove_blackhole


class KernelRoutes:
    """Announces by the content of a routing table. Routes of other protocols are left alone."""

    def __init__(self, announcement: Announcement) -> None:
        self._table = announcement.table
        self._protocol = announcement.protocol

    async def announce(self, vips: Iterable[Address]) -> None:
        """Make exactly these VIPs announced: what is missing is added, what is ours and not
        wanted is removed, whoever did it.

        Raises NetlinkError, and after everything else is done FileExistsError where somebody
        else's route for a VIP is in our table.
        """
        wanted = set(vips)
        async with Netlink() as netlink:
            present = await blackholes(netlink, self._table, self._protocol)
            for vip in present - wanted:
                await remove_blackhole(netlink, vip, self._table, self._protocol)
            taken = [
                str(vip)
                for vip in sorted(wanted - present, key=lambda vip: (vip.version, vip))
                if not await add_blackhole(netlink, vip, self._table, self._protocol)
            ]
        if taken:
            raise FileExistsError(
                f"table {self._table}: routes for {', '.join(taken)} are there that are not of "
                f"protocol {self._protocol}: remove them, or choose another announcement.table"
            )
