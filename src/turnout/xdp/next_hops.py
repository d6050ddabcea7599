"""Next hops from the kernel's routes, and neighbours kept resolved: what the forwarder sends never
refreshes them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Self

from turnout.config import Address
from turnout.kernel import neighbours
from turnout.kernel.neighbours import Entry, Link, Neighbour, Way
from turnout.kernel.netlink import Netlink
from turnout.plan import NextHop


class Neighbours:
    """Resolves addresses to next hops."""

    def __init__(self) -> None:
        self._entries: dict[Neighbour, Entry | None] = {}
        """Of the neighbours in use, as last read."""
        self._last: dict[Neighbour, bytes] = {}
        """Last known MAC: a deleted neighbour keeps it until another takes its place."""
        self._ours: set[Neighbour] = set()
        """Those that this object has made managed."""

    async def next_hops(self, addresses: Iterable[Address]) -> Mapping[Address, NextHop]:
        """Of each address that has a route and a neighbour whose MAC is known.

        The kernel is asked to resolve the others; a later call will find them. Takes about a
        millisecond an address. Raises OSError.
        """
        async with Netlink() as netlink:
            return await self._read(netlink, set(addresses))

    async def _read(self, netlink: Netlink, addresses: set[Address]) -> dict[Address, NextHop]:
        links = await neighbours.links(netlink)
        ways = {address: await neighbours.way_to(netlink, address) for address in addresses}
        used = {(way.oif, way.gateway) for way in ways.values() if way}
        # From here on their changes are news: one may come while the entries are read.
        self._entries = {key: self._entries.get(key) for key in used}
        found = await neighbours.entries(netlink)
        self._entries = {key: found.get(key) for key in used}
        self._last = {key: mac for key, mac in self._last.items() if key in used}
        for key, entry in self._entries.items():
            if entry is not None and entry.mac is not None:
                self._last[key] = entry.mac
            # One that somebody has deleted is begun again.
            if entry is None or not (entry.managed or entry.fixed):
                await neighbours.manage(netlink, key)
                self._ours.add(key)
        await self._release(netlink, self._ours - used, found)
        return {
            address: hop
            for address, way in ways.items()
            if way and (hop := next_hop(way, links, self._last)) is not None
        }

    async def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` now and whenever a next hop may have changed, until cancelled.

        Raises OSError, also where changes came too fast to be seen.
        """
        async for change in neighbours.changes(begun=changed):
            if change is None or self._is_news(*change):
                changed()

    def _is_news(self, neighbour: Neighbour, entry: Entry | None) -> bool:
        """Not, for instance, that a MAC was confirmed: with many backends that is told all the
        time."""
        return neighbour in self._entries and entry != self._entries[neighbour]

    async def _release(
        self, netlink: Netlink, gone: set[Neighbour], found: Mapping[Neighbour, Entry]
    ) -> None:
        for key in gone:
            # What somebody has changed meanwhile is theirs.
            if key in found and found[key].managed:
                await neighbours.release(netlink, key)
        self._ours -= gone

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Leave the neighbours to the kernel's own judgement again."""
        async with Netlink() as netlink:
            await self._release(netlink, set(self._ours), await neighbours.entries(netlink))


def next_hop(
    way: Way, links: Mapping[int, Link], macs: Mapping[Neighbour, bytes]
) -> NextHop | None:
    """The next hop of a way, None where its neighbour is not resolved or the forwarder cannot
    send so: it sends Ethernet with at most one tag, on the interface below a VLAN."""
    link, mac = links.get(way.oif), macs.get((way.oif, way.gateway), b"")
    if link is None or len(link.mac) != 6 or len(mac) != 6:
        return None
    mtu = min(link.mtu, way.mtu or link.mtu)
    if not link.vlan:
        return NextHop(link.index, 0, link.mac, mac, mtu)
    parent = links.get(link.parent)
    if parent is None or parent.vlan:
        return None
    return NextHop(parent.index, link.vlan, link.mac, mac, mtu)
