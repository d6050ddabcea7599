import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any

import pytest

from turnout.config import Address
from turnout.kernel import netns
from turnout.lab import Machines, Topology
from turnout.plan import NextHop
from turnout.xdp import Neighbours

TOPOLOGY = Topology(clients=1, instances=2, backends=1)
INSTANCE, BESIDE = TOPOLOGY.instance_hosts()
(BACKEND,) = TOPOLOGY.backend_hosts()
GATEWAYS = [ip_address("10.0.1.254"), ip_address("fd00:1::fe")]
NOBODY = [ip_address("10.0.1.99"), ip_address("fd00:1::99")]
ROUTER_MAC = bytes.fromhex("0200000001fe")


@pytest.fixture
def machines() -> Iterator[Machines]:
    with Machines(TOPOLOGY) as machines:
        yield machines


def on_instance(machines: Machines, main: Coroutine[Any, Any, None]) -> None:
    """Run in the instance's namespace, the whole event loop."""
    with netns.inside(machines.record.namespace(INSTANCE.name)):
        asyncio.run(main)


def ip(machines: Machines, words: str, node: str = INSTANCE.name) -> str:
    return machines.run(node, ["ip", *words.split()]).stdout


def mac_of(machines: Machines, node: str) -> bytes:
    words = ip(machines, "-o link show dev eth0", node).split()
    return bytes.fromhex(words[words.index("link/ether") + 1].replace(":", ""))


async def until(check: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(10):
        while not await check():
            await asyncio.sleep(0.02)


@asynccontextmanager
async def watched(neighbours: Neighbours, passes: list[int]) -> AsyncIterator[None]:
    """`passes` counts the calls of `changed`."""
    begun = asyncio.Event()

    def changed() -> None:
        passes.append(1)
        begun.set()

    task = asyncio.create_task(neighbours.watch(changed))
    try:
        async with asyncio.timeout(5):
            await begun.wait()
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def resolved(neighbours: Neighbours, addresses: list[Address]) -> dict[Address, NextHop]:
    """The next hops, as soon as all have one."""
    hops: dict[Address, NextHop] = {}

    async def complete() -> bool:
        hops.update(await neighbours.next_hops(addresses))
        return len(hops) == len(addresses)

    await until(complete)
    return hops


def test_next_hops_on_the_link_and_behind_a_gateway(machines: Machines) -> None:
    beside: list[Address] = [BESIDE.address4, BESIDE.address6]
    behind: list[Address] = [BACKEND.address4, BACKEND.address6]
    own, other = mac_of(machines, INSTANCE.name), mac_of(machines, BESIDE.name)

    async def main() -> None:
        async with Neighbours() as neighbours:
            hops = await resolved(neighbours, [*beside, *behind])
        index = hops[beside[0]].ifindex
        assert f"{index}: eth0" in ip(machines, "-o link show dev eth0")
        for address in beside:
            assert hops[address] == NextHop(index, 0, own, other, TOPOLOGY.mtu)
        for address in behind:
            assert hops[address] == NextHop(index, 0, own, ROUTER_MAC, TOPOLOGY.mtu)

    on_instance(machines, main())


def test_an_ipv4_backend_behind_an_ipv6_gateway(machines: Machines) -> None:
    ip(machines, f"route add {BACKEND.address4} via inet6 {GATEWAYS[1]} dev eth0")

    async def main() -> None:
        async with Neighbours() as neighbours:
            hops = await resolved(neighbours, [BACKEND.address4])
        assert hops[BACKEND.address4].mac == ROUTER_MAC
        assert str(GATEWAYS[0]) not in ip(machines, "neigh show")

    on_instance(machines, main())


def test_what_leads_nowhere_has_no_next_hop(machines: Machines) -> None:
    ip(machines, "route add blackhole 10.9.0.0/16")
    ip(machines, "route add unreachable fd09::/16")
    nowhere: list[Address] = [
        *map(ip_address, ["127.0.0.1", "::1", "10.9.0.1", "fd09::1"]),
        INSTANCE.address4,
        INSTANCE.address6,
        *NOBODY,
    ]

    async def main() -> None:
        async with Neighbours() as neighbours:
            hops = await neighbours.next_hops([*nowhere, BESIDE.address4])
            assert not hops.keys() & set(nowhere)
            await resolved(neighbours, [BESIDE.address4])
            assert not (await neighbours.next_hops(nowhere)).keys()

    on_instance(machines, main())


@pytest.mark.parametrize("address", NOBODY, ids=str)
def test_a_backend_that_comes_later_is_seen(machines: Machines, address: Address) -> None:
    async def main() -> None:
        passes: list[int] = []
        async with Neighbours() as neighbours, watched(neighbours, passes):
            assert not await neighbours.next_hops([address])
            net = 24 if address.version == 4 else 64
            ip(machines, f"address add {address}/{net} dev eth0", BESIDE.name)
            # It speaks, so that nobody need wait until the kernel asks for it again.
            family = socket.AF_INET if address.version == 4 else socket.AF_INET6
            with machines.socket(BESIDE.name, family, socket.SOCK_DGRAM) as speaking:
                speaking.bind((str(address), 0))
                own = INSTANCE.address4 if address.version == 4 else INSTANCE.address6
                speaking.sendto(b"", (str(own), 9))
            hops = await resolved(neighbours, [address])
            assert hops[address].mac == mac_of(machines, BESIDE.name)

    on_instance(machines, main())


def test_a_deleted_neighbour_keeps_its_mac_and_is_begun_again(machines: Machines) -> None:
    address = BESIDE.address4

    async def main() -> None:
        async with Neighbours() as neighbours, watched(neighbours, []):
            (before,) = (await resolved(neighbours, [address])).values()
            machines.unplug(BESIDE.name)
            ip(machines, f"neigh del {address} dev eth0")

            async def begun_again() -> bool:
                assert await neighbours.next_hops([address]) == {address: before}
                return "managed" in ip(machines, f"neigh show {address}")

            await until(begun_again)
            assert before.mac.hex(":") not in ip(machines, f"neigh show {address}")

    on_instance(machines, main())


def test_what_an_operator_sets_is_taken_and_left_alone(machines: Machines) -> None:
    other, given = BESIDE.address4, "lladdr 02:00:00:00:00:77 dev eth0 nud permanent"

    async def main() -> None:
        async with Neighbours() as neighbours, watched(neighbours, []):
            await resolved(neighbours, [other])
            ip(machines, f"neigh replace {other} {given}")
            ip(machines, f"neigh replace {NOBODY[0]} {given}")

            async def taken() -> bool:
                hops = await neighbours.next_hops([other, NOBODY[0]])
                return {hop.mac.hex() for hop in hops.values()} == {"020000000077"} and len(
                    hops
                ) == 2

            await until(taken)
        for address in (other, NOBODY[0]):
            assert "PERMANENT" in ip(machines, f"neigh show {address}")

    on_instance(machines, main())


def test_a_change_of_route_is_seen(machines: Machines) -> None:
    address = BACKEND.address6

    async def main() -> None:
        async with Neighbours() as neighbours, watched(neighbours, []):
            (before,) = (await resolved(neighbours, [address])).values()
            ip(machines, f"-6 route add {address} via {BESIDE.address6} mtu 1400")

            async def moved() -> bool:
                (hop,) = (await resolved(neighbours, [address])).values()
                return hop != before

            await until(moved)
            (hop,) = (await neighbours.next_hops([address])).values()
            assert hop.mac == mac_of(machines, BESIDE.name)
            assert hop.mtu == 1400
            # Nothing needs the router any more.
            assert "managed" not in ip(machines, f"neigh show {GATEWAYS[1]}")

    on_instance(machines, main())


def test_managed_while_in_use_and_no_longer(machines: Machines) -> None:
    addresses: list[Address] = [BESIDE.address4, BESIDE.address6]

    async def main() -> None:
        async with Neighbours() as neighbours:
            await resolved(neighbours, addresses)
            await neighbours.next_hops([*addresses, *NOBODY])
            for address in (*addresses, *NOBODY):
                assert "managed" in ip(machines, f"neigh show {address}")
        for address in addresses:
            assert "lladdr" in ip(machines, f"neigh show {address}")
        assert "managed" not in ip(machines, "neigh show nud all")
        assert not any(str(address) in ip(machines, "neigh show nud all") for address in NOBODY)

    on_instance(machines, main())


def test_one_that_was_managed_before_stays_so(machines: Machines) -> None:
    ip(machines, f"neigh add {BESIDE.address4} dev eth0 managed")

    async def main() -> None:
        async with Neighbours() as neighbours:
            await resolved(neighbours, [BESIDE.address4])

    on_instance(machines, main())
    assert "managed" in ip(machines, f"neigh show {BESIDE.address4}")


def test_what_changes_no_next_hop_is_no_news(machines: Machines) -> None:
    address = BESIDE.address4

    async def main() -> None:
        passes: list[int] = []
        async with Neighbours() as neighbours, watched(neighbours, passes):
            await resolved(neighbours, [address])
            await neighbours.next_hops([address])
            passes.clear()
            # A confirmed MAC; somebody else's neighbour.
            ip(machines, f"neigh change {address} dev eth0 managed")
            ip(machines, f"neigh add {NOBODY[0]} lladdr 02:00:00:00:00:77 dev eth0")
            ip(machines, "route add 10.8.0.0/16 via 10.0.1.254")

            async def told() -> bool:
                return bool(passes)

            await until(told)
            assert passes == [1], "the route alone is news"

    on_instance(machines, main())


def test_a_watch_that_missed_something_says_so(machines: Machines) -> None:
    batch = machines.directory / "routes"
    batch.write_text(
        "".join(f"route add blackhole 10.{n >> 8}.{n & 255}.0/24\n" for n in range(9000, 19000))
    )

    async def main() -> None:
        async with Neighbours() as neighbours:
            begun = asyncio.Event()
            task = asyncio.create_task(neighbours.watch(begun.set))
            async with asyncio.timeout(5):
                await begun.wait()
            # Nobody reads meanwhile, and it is more than a socket holds.
            ip(machines, f"-batch {batch}")
            with pytest.raises(OSError, match="105"):
                async with asyncio.timeout(10):
                    await task
            await resolved(neighbours, [BESIDE.address4])

    on_instance(machines, main())
