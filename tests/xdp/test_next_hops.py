"""What the kernel says, made into a next hop. With a real kernel: tests/lab/test_neighbours.py."""

from dataclasses import replace
from ipaddress import ip_address

import pytest

from turnout.kernel.neighbours import Link, Way
from turnout.plan import NextHop
from turnout.xdp.next_hops import next_hop

OWN, VLAN_OWN, MAC = b"\2\0\0\0\0\1", b"\2\0\0\0\0\5", b"\2\0\0\0\0\2"
GATEWAY = ip_address("10.0.0.1")
ETH = Link(index=3, mac=OWN, mtu=1500, parent=0, vlan=0)
VETH = replace(ETH, parent=9)
VLAN = Link(index=4, mac=VLAN_OWN, mtu=1496, parent=3, vlan=42)
LINKS = {3: ETH, 4: VLAN}
MACS = {(3, GATEWAY): MAC, (4, GATEWAY): MAC}


def test_an_interface_is_itself_whatever_it_is_linked_to() -> None:
    expected = NextHop(3, 0, OWN, MAC, 1500)
    assert next_hop(Way(3, GATEWAY, None), LINKS, MACS) == expected
    assert next_hop(Way(3, GATEWAY, None), {3: VETH}, MACS) == expected


def test_a_vlan_is_its_parent_with_a_tag_and_its_own_mac() -> None:
    assert next_hop(Way(4, GATEWAY, None), LINKS, MACS) == NextHop(3, 42, VLAN_OWN, MAC, 1496)


@pytest.mark.parametrize(("of_route", "expected"), [(None, 1500), (1400, 1400), (9000, 1500)])
def test_the_smaller_mtu_counts(of_route: int | None, expected: int) -> None:
    hop = next_hop(Way(3, GATEWAY, of_route), LINKS, MACS)
    assert hop is not None
    assert hop.mtu == expected


@pytest.mark.parametrize(
    ("way", "links"),
    [
        pytest.param(Way(7, GATEWAY, None), LINKS, id="link gone"),
        pytest.param(Way(3, ip_address("10.0.0.2"), None), LINKS, id="not resolved"),
        pytest.param(Way(3, GATEWAY, None), {3: replace(ETH, mac=b"")}, id="no MAC of its own"),
        pytest.param(Way(4, GATEWAY, None), {4: VLAN}, id="parent in another namespace"),
        pytest.param(
            Way(4, GATEWAY, None), {4: VLAN, 3: replace(ETH, vlan=7, parent=2)}, id="two tags"
        ),
    ],
)
def test_no_next_hop(way: Way, links: dict[int, Link]) -> None:
    assert next_hop(way, links, MACS) is None
