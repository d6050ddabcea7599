"""Every encapsulation, family and tag: the numbers, written out."""

from itertools import product

import pytest

from tests.plan.fleets import address, fleet_of
from turnout.config import Backend, Encapsulation, Fleet, Member, Pool, Service
from turnout.plan import rooms

#   encapsulation, inner, outer: adds, largest inner, MSS, link MTU needed, frame, tagged frame
NUMBERS = {
    ("gue", 4, 4): (28, 1472, 1432, 1528, 1542, 1546),
    ("gue", 4, 6): (48, 1452, 1412, 1548, 1562, 1566),
    ("gue", 6, 4): (28, 1472, 1412, 1528, 1542, 1546),
    ("gue", 6, 6): (48, 1452, 1392, 1548, 1562, 1566),
    ("gre", 4, 4): (24, 1476, 1436, 1524, 1538, 1542),
    ("gre", 4, 6): (44, 1456, 1416, 1544, 1558, 1562),
    ("gre", 6, 4): (24, 1476, 1416, 1524, 1538, 1542),
    ("gre", 6, 6): (44, 1456, 1396, 1544, 1558, 1562),
    ("ipip", 4, 4): (20, 1480, 1440, 1520, 1534, 1538),
    ("ipip", 4, 6): (40, 1460, 1420, 1540, 1554, 1558),
    ("ipip", 6, 4): (20, 1480, 1420, 1520, 1534, 1538),
    ("ipip", 6, 6): (40, 1460, 1400, 1540, 1554, 1558),
}


def fleet(encapsulations: tuple[Encapsulation, ...] = ("gue", "gre", "ipip")) -> Fleet:
    """A service for each encapsulation and VIP family, its backends of both families."""
    backends = {f"b{version}": Backend(f"b{version}", address(1, version)) for version in (4, 6)}
    pool = Pool(
        "p", tuple(Member("p", name, 1, False, None) for name in backends), None, 0.0, "default"
    )
    services = {
        f"{name}{version}": Service(
            f"{name}{version}", address(9, version), "tcp", 80, "p", "maglev", 101, name, "5-tuple"
        )
        for name, version in product(encapsulations, (4, 6))
    }
    return fleet_of(pool, backends=backends, services=services)


def test_every_encapsulation_family_and_tag() -> None:
    found = {
        (room.encapsulation, room.inner, room.outer): (
            room.overhead,
            room.largest_inner,
            room.mss,
            room.link_mtu,
            room.frame,
            room.tagged_frame,
        )
        for room in rooms(fleet())
    }
    assert found == NUMBERS


def test_other_links_and_clients_shift_the_numbers() -> None:
    room = rooms(fleet(("gue",)), link_mtu=9000, client_mtu=1400)[0]
    assert (room.largest_inner, room.mss) == (8972, 8932)
    assert (room.link_mtu, room.frame, room.tagged_frame) == (1428, 1442, 1446)


@pytest.mark.parametrize("value", [-1, 0, 1279, 65_536])
def test_what_no_link_has_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match=f"link MTU: {value}: expected 1280 to 65535 bytes"):
        rooms(fleet(), link_mtu=value)
    with pytest.raises(ValueError, match=f"client MTU: {value}: expected 1280 to 65535 bytes"):
        rooms(fleet(), client_mtu=value)
