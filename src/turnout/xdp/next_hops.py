"""Next hops from the kernel's routes, and neighbours kept resolved: what the forwarder sends never
refreshes them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Self

from turnout.config import Address
from turnout.kernel import neighbours
from turnout.kernel.neighbours import Link, Neighbour, Way
from turnout.plan import NextHop


class Neighbours:
    """Resolves addresses to next hops."""

    def __init__(self) -> None:
        self._last: dict[Neighbour, bytes] = {}
        """Last known MAC: a deleted neighbour keeps it until another takes its place."""
        self._managed: set[Neighbour] = set()

    async def next_hops(self, addresses: Iterable[Address]) -> Mapping[Address, NextHop]:
        """Of each address that has a route and a neighbour whose MAC is known.

        The kernel is asked to resolve the others; a later call will find them. Raises OSError.
        """
        async with neighbours.netlink() as netlink:
            links = await neighbours.links(netlink)
            ways = {a: await neighbours.way_to(netlink, a) for a in dict.fromkeys(addresses)}
            wanted = {(way.oif, way.gateway) for way in ways.values() if way}
            found = await neighbours.resolved(netlink)
            self._last = {key: mac for key, mac in self._last.items() if key in wanted}
            self._last.update({key: found[key] for key in wanted & found.keys()})
            # One that somebody has deleted is no longer managed, so it is begun again.
            for key in wanted - (self._managed & found.keys()):
                await neighbours.manage(netlink, key, True)
            for key in self._managed - wanted:
                await neighbours.manage(netlink, key, False)
            self._managed = wanted
        return {
            address: hop
            for address, way in ways.items()
            if way and (hop := self._hop(way, links.get(way.oif))) is not None
        }

    def _hop(self, way: Way, link: Link | None) -> NextHop | None:
        mac = self._last.get((way.oif, way.gateway), b"")
        if link is None or len(link.mac) != 6 or len(mac) != 6:
            return None
        mtu = min(link.mtu, way.mtu or link.mtu)
        return NextHop(link.parent if link.vlan else link.index, link.vlan, link.mac, mac, mtu)

    async def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` now and whenever a next hop may have changed, until cancelled."""
        await neighbours.watch(changed)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Leave the neighbours to the kernel's own judgement again."""
        async with neighbours.netlink() as netlink:
            for key in self._managed:
                await neighbours.manage(netlink, key, False)
