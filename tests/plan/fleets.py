"""Random fleets and observations, made without the configuration's parser."""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

from hypothesis import strategies as st

from turnout.config import (
    Announcement,
    Backend,
    Check,
    Fleet,
    Instance,
    Member,
    Pool,
    Protocol,
    Service,
)
from turnout.plan import NextHop, Observed

CHECK = Check("tcp", 80, "", (0, 0), 2.0, 1.0, 2, 3)
HOP = NextHop(2, 0, b"\2\0\0\0\0\1", b"\2\0\0\0\0\2", 1500)
KEYS = {"default": bytes(range(16)), "other": bytes(16)}
SIZES = (101, 251)


def address(number: int, version: int) -> IPv4Address | IPv6Address:
    if version == 4:
        return IPv4Address("10.0.0.0") + number
    return IPv6Address("fd00::") + number


def fleet_of(
    *pools: Pool,
    backends: Mapping[str, Backend] | None = None,
    services: Mapping[str, Service] | None = None,
) -> Fleet:
    """A fleet of one instance. Without services, one for each pool."""
    made = {
        f"s{i}": Service(
            f"s{i}", address(200, 4), "tcp", 1000 + i, pool.name, "maglev", 101, "ipip", "5-tuple"
        )
        for i, pool in enumerate(pools)
    }
    instance = Instance("lb", ("eth0",), "auto", (address(250, 4), address(250, 6)), ())
    return Fleet(
        path=Path("fleet.yaml"),
        key_file=None,
        announcement=Announcement(174, 74, 65001, 65000),
        instances={"lb": instance},
        backends=dict(backends or {}),
        pools={pool.name: pool for pool in pools},
        services=dict(made if services is None else services),
        switches={},
        warnings=(),
    )


@st.composite
def fleets(draw: st.DrawFn) -> Fleet:
    """Up to six backends in up to three pools, one of which may include another."""
    backends = {
        f"b{i}": Backend(f"b{i}", address(i, draw(st.sampled_from([4, 6]))))
        for i in range(draw(st.integers(1, 6)))
    }
    pools: dict[str, Pool] = {}
    for index in range(draw(st.integers(1, 3))):
        name = f"p{index}"
        check = draw(st.sampled_from([None, CHECK]))
        named = draw(st.lists(st.sampled_from(sorted(backends)), min_size=1, unique=True))
        own = tuple(
            Member(name, backend, draw(st.integers(1, 5)), draw(st.booleans()), check)
            for backend in named
        )
        included: tuple[Member, ...] = ()
        include = draw(st.booleans())
        if pools and include:
            other = pools[draw(st.sampled_from(sorted(pools)))]
            if not {m.backend for m in other.members} & set(named):
                included = other.members
        floor = draw(st.sampled_from([0.0, 0.5, 1.0]))
        key = draw(st.sampled_from(sorted(KEYS)))
        pools[name] = Pool(name, own + included, check, floor, key)
    services: dict[str, Service] = {}
    for index in range(draw(st.integers(1, 5))):
        vip = draw(st.sampled_from([address(200, 4), address(201, 4), address(200, 6)]))
        protocol: Protocol = draw(st.sampled_from(["tcp", "udp"]))
        taken = any((s.vip, s.protocol, s.port) == (vip, protocol, None) for s in services.values())
        services[f"s{index}"] = Service(
            name=f"s{index}",
            vip=vip,
            protocol=protocol,
            port=1000 + index if taken or draw(st.integers(0, 3)) else None,
            pool=draw(st.sampled_from(sorted(pools))),
            policy="maglev",
            table_size=draw(st.sampled_from(SIZES)),
            encapsulation=draw(st.sampled_from(["gue", "ipip", "gre"])),
            hash=draw(st.sampled_from(["5-tuple", "client-address"])),
        )
    return fleet_of(*pools.values(), backends=backends, services=services)


@st.composite
def observations(draw: st.DrawFn, fleet: Fleet) -> Observed:
    """Health and next hops known of some."""
    members = sorted({(m.pool, m.backend) for pool in fleet.pools.values() for m in pool.members})
    up = {key: draw(st.booleans()) for key in members if draw(st.booleans())}
    hops = {b.address: HOP for b in fleet.backends.values() if draw(st.integers(0, 3))}
    return Observed(up=up, next_hops=hops)
