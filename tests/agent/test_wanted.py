"""What the fleet file means for one backend."""

from ipaddress import ip_address
from pathlib import Path

import pytest

from turnout import config
from turnout.agent import Listener, Wanted, wanted
from turnout.plan import overhead

FLEET = """
instances:
  lb1: {interfaces: [eth0], addresses: [10.0.1.1, "fd00:1::1"]}
  lb2: {interfaces: [eth0], addresses: [10.0.1.2, "fd00:1::2"]}
backends:
  web1: {address: 10.0.2.11}
  web2: {address: "fd00:2::12"}
  spare: {address: 10.0.2.13}
  idle: {address: 10.0.2.14}
pools:
  web: {members: {web1: {}, web2: {drain: true}}, include: [reserve]}
  reserve: {members: {spare: {}}}
services:
  www: {vip: 192.0.2.10, protocol: tcp, port: 80, pool: web, encapsulation: ipip}
  all: {vip: 192.0.2.10, protocol: tcp, port: all, pool: web, encapsulation: gre}
  six: {vip: "2001:db8::10", protocol: tcp, port: 80, pool: web}
  dns: {vip: 192.0.2.53, protocol: udp, port: 53, pool: reserve}
"""
FOUR, SIX, DNS = map(ip_address, ("192.0.2.10", "2001:db8::10", "192.0.2.53"))


@pytest.fixture
def fleet(tmp_path: Path) -> config.Fleet:
    file = tmp_path / "fleet.yaml"
    file.write_text(FLEET)
    return config.load(file)


def test_a_backend_over_ipv4(fleet: config.Fleet) -> None:
    assert wanted(fleet, "web1") == Wanted(
        backend="web1",
        address=ip_address("10.0.2.11"),
        instances=(ip_address("10.0.1.1"), ip_address("10.0.1.2")),
        vips=(FOUR, SIX),
        listeners=(Listener(FOUR, 80, 20), Listener(FOUR, None, 24), Listener(SIX, 80, 28)),
    )


def test_a_draining_backend_over_ipv6_keeps_its_vips(fleet: config.Fleet) -> None:
    found = wanted(fleet, "web2")
    assert found.instances == (ip_address("fd00:1::1"), ip_address("fd00:1::2"))
    assert found.vips == (FOUR, SIX)
    assert [listener.overhead for listener in found.listeners] == [40, 44, 48]


def test_a_backend_of_an_included_pool_has_the_vips_of_both(fleet: config.Fleet) -> None:
    found = wanted(fleet, "spare")
    assert found.vips == (FOUR, SIX, DNS)
    # UDP has no MSS.
    assert {listener.vip for listener in found.listeners} == {FOUR, SIX}


def test_a_backend_of_no_pool_has_nothing(fleet: config.Fleet) -> None:
    found = wanted(fleet, "idle")
    assert (found.vips, found.listeners) == ((), ())


def test_an_unknown_backend_is_refused_with_the_known_ones(fleet: config.Fleet) -> None:
    with pytest.raises(ValueError, match=r"'web9'.*web1, web2, spare, idle"):
        wanted(fleet, "web9")


@pytest.mark.parametrize(
    ("encapsulation", "four", "six"), [("gue", 28, 48), ("gre", 24, 44), ("ipip", 20, 40)]
)
def test_overheads_are_those_of_the_manual(
    encapsulation: config.Encapsulation, four: int, six: int
) -> None:
    assert (overhead(encapsulation, 4), overhead(encapsulation, 6)) == (four, six)
    wire = (Path(__file__).parents[2] / "docs" / "wire.md").read_text()
    row = next(line for line in wire.splitlines() if line.startswith(f"| `{encapsulation}`"))
    assert row.endswith(f"| {four} | {six} |")


@pytest.mark.parametrize(
    ("vip", "bytes_added", "mtu", "largest"),
    [(FOUR, 20, 1500, 1440), (FOUR, 28, 1500, 1432), (SIX, 48, 1500, 1392), (SIX, 28, 9000, 8912)],
)
def test_largest_segment(vip: config.Address, bytes_added: int, mtu: int, largest: int) -> None:
    assert Listener(vip, 80, bytes_added).largest_mss(mtu) == largest
