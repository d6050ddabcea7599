"""VIPs from the kernel's table, by BIRD with the printed snippet, to a router that runs BIRD."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_address

import pytest

from turnout.announce import KernelRoutes, snippet
from turnout.config import Address, Fleet
from turnout.kernel import netns
from turnout.lab import ROUTER, VIP4, VIP6, Lab, Topology
from turnout.lab.bird import instance_config, router_config

TOPOLOGY = Topology(clients=1, instances=1, backends=1)
(INSTANCE,) = TOPOLOGY.instance_hosts()
OTHER4, OTHER6 = ip_address("192.0.2.11"), ip_address("2001:db8::11")
ALL: list[Address] = [VIP4, VIP6, OTHER4, OTHER6]
BLACKHOLE = "6"
"""As `ip -N` says it."""
USERS_OWN = "protocol kernel { scan time 60; ipv4 { export all; }; }\n"
ONE_SESSION = f"""
router id 10.0.1.254;
protocol device {{}}
protocol bfd {{}}
protocol kernel {{ ipv4 {{ export all; }}; }}
protocol kernel {{ ipv6 {{ export all; }}; }}
protocol bgp lb1 {{
    local 10.0.1.254 as 65000;
    neighbor {INSTANCE.address4} as 65001;
    connect delay time 1;
    bfd on;
    ipv4 {{ import all; export none; }};
    ipv6 {{ import all; export none; }};
}}
"""


@pytest.fixture(scope="module")
def machines() -> Iterator[Lab]:
    with Lab(TOPOLOGY) as lab:
        yield lab


@pytest.fixture
def lab(machines: Lab) -> Iterator[Lab]:
    """With nothing in the instance's table and no BIRD running, before and after."""
    yield machines
    machines.kill(INSTANCE.name)
    machines.kill(ROUTER)
    for family in ("-4", "-6"):
        for where in (["table", str(machines.fleet.announcement.table)], ["proto", "bird"]):
            flush = ["ip", family, "route", "flush", *where]
            for node in (INSTANCE.name, ROUTER):
                machines.run(node, flush, check=False)


def announce(lab: Lab, *vips: Address) -> None:
    with netns.inside(lab.record.namespace(INSTANCE.name)):
        asyncio.run(KernelRoutes(lab.fleet.announcement).announce(vips))


def table(lab: Lab) -> dict[str, tuple[str, str]]:
    """Destinations in the instance's table, with type and protocol."""
    number = str(lab.fleet.announcement.table)
    return {
        route["dst"]: (route.get("type", "unicast"), route["protocol"])
        for family in ("-4", "-6")
        for route in json.loads(
            lab.run(
                INSTANCE.name,
                ["ip", family, "-d", "-j", "-N", "route", "show", "table", number],
                check=False,
            ).stdout
            or "[]"
        )
    }


def ip(lab: Lab, words: str) -> None:
    lab.run(INSTANCE.name, ["ip", *words.split()])


def ours(lab: Lab, *vips: Address) -> dict[str, tuple[str, str]]:
    return {str(vip): (BLACKHOLE, str(lab.fleet.announcement.protocol)) for vip in vips}


def routes(lab: Lab) -> dict[str, str]:
    """VIPs that the router has a route for, with the next hop."""
    found = {}
    for family in ("-4", "-6"):
        text = lab.run(ROUTER, ["ip", family, "-j", "route", "show", "proto", "bird"]).stdout
        for route in json.loads(text or "[]"):
            if route["dst"] in {str(vip) for vip in ALL}:
                found[route["dst"]] = route.get("gateway") or route["via"]["host"]
    return found


def start_bird(lab: Lab, node: str, text: str) -> None:
    file = lab.directory / f"{node}-own.conf"
    file.write_text(text)
    words = ["-c", str(file), "-s", f"{file}.ctl", "-P", f"{file}.pid"]
    lab.start(node, "bird", ["bird", "-f", *words])


def start_both(lab: Lab) -> None:
    """The router as the laboratory has it, and the instance as its snippet says."""
    start_bird(lab, ROUTER, router_config(TOPOLOGY))
    start_instance(lab, lab.fleet)


def start_instance(lab: Lab, fleet: Fleet, more: str = "") -> None:
    file = lab.directory / "snippet.conf"
    file.write_text(snippet(fleet, INSTANCE.name))
    start_bird(lab, INSTANCE.name, more + instance_config(file))


def wait_for_bfd(lab: Lab, node: str, sessions: int) -> None:
    """Until so many BFD sessions of a node's BIRD are up, and no others are there."""
    control = str(lab.directory / f"{node}-own.conf.ctl")

    def up() -> bool:
        show = ["birdc", "-s", control, "show", "bfd", "sessions"]
        text = lab.run(node, show, check=False).stdout
        states = [line.split()[2] for line in text.splitlines() if " 0.0" in line or " 0.1" in line]
        return states == ["Up"] * sessions

    lab.wait(up, f"{sessions} BFD sessions of {node}")


def test_exactly_the_wanted_vips_are_in_the_table(lab: Lab) -> None:
    announce(lab, VIP4, VIP6)
    assert table(lab) == ours(lab, VIP4, VIP6)
    announce(lab, VIP4, VIP6)
    assert table(lab) == ours(lab, VIP4, VIP6)
    announce(lab, VIP6, OTHER4)
    assert table(lab) == ours(lab, VIP6, OTHER4)
    announce(lab)
    assert table(lab) == {}


def test_what_somebody_deleted_comes_back(lab: Lab) -> None:
    announce(lab, *ALL)
    number = lab.fleet.announcement.table
    ip(lab, f"route del blackhole {VIP4} table {number}")
    ip(lab, f"-6 route del blackhole {VIP6} table {number}")
    announce(lab, *ALL)
    assert table(lab) == ours(lab, *ALL)


def test_routes_of_others_are_left_alone(lab: Lab) -> None:
    number, protocol = lab.fleet.announcement.table, lab.fleet.announcement.protocol
    # Of another protocol, to a network, in another table: of these only the first is looked at.
    ip(lab, f"route add blackhole {OTHER4} table {number} proto static")
    ip(lab, f"-6 route add blackhole {OTHER6} table {number} proto static")
    ip(lab, f"route add blackhole 203.0.113.1 table {number + 1} proto {protocol}")
    theirs = table(lab)
    announce(lab, VIP4, VIP6)
    assert table(lab) == theirs | ours(lab, VIP4, VIP6)
    announce(lab)
    assert table(lab) == theirs
    shown = ["ip", "route", "show", "table", str(number + 1)]
    assert "203.0.113.1" in lab.run(INSTANCE.name, shown).stdout


def test_a_vip_whose_route_is_somebody_elses_is_named_and_the_others_are_announced(
    lab: Lab,
) -> None:
    number = lab.fleet.announcement.table
    ip(lab, f"route add blackhole {VIP4} table {number} proto static")
    ip(lab, f"-6 route add blackhole {VIP6} table {number} proto static")
    theirs = table(lab)
    with pytest.raises(FileExistsError, match=f"table {number}: routes for {VIP4}, {VIP6} are"):
        announce(lab, *ALL)
    assert table(lab) == theirs | ours(lab, OTHER4, OTHER6)


def test_the_hosts_own_routing_does_not_change(lab: Lab) -> None:
    before = [lab.run(INSTANCE.name, ["ip", "route", "get", str(vip)]).stdout for vip in ALL]
    announce(lab, *ALL)
    assert before == [
        lab.run(INSTANCE.name, ["ip", "route", "get", str(vip)]).stdout for vip in ALL
    ]


def test_announced_and_withdrawn(lab: Lab) -> None:
    start_both(lab)
    ip(lab, f"route add blackhole {OTHER4} table {lab.fleet.announcement.table} proto static")
    announce(lab, VIP4, VIP6)
    both = {str(VIP4): str(INSTANCE.address4), str(VIP6): str(INSTANCE.address6)}
    lab.wait(lambda: routes(lab) == both, "both VIPs at the router")
    for node in (INSTANCE.name, ROUTER):
        wait_for_bfd(lab, node, 2)
    announce(lab, VIP6, OTHER6)
    other = {str(vip): str(INSTANCE.address6) for vip in (VIP6, OTHER6)}
    lab.wait(lambda: routes(lab) == other, "one withdrawn, one more announced")
    announce(lab)
    lab.wait(lambda: routes(lab) == {}, "nothing announced")


def test_a_new_bird_tells_what_is_in_the_table(lab: Lab) -> None:
    announce(lab, *ALL)
    start_both(lab)
    lab.wait(lambda: routes(lab).keys() == set(map(str, ALL)), "announced")
    lab.kill(INSTANCE.name)
    lab.wait(lambda: routes(lab) == {}, "the router noticed")
    start_instance(lab, lab.fleet)
    lab.wait(lambda: routes(lab).keys() == set(map(str, ALL)), "announced again")
    assert table(lab) == ours(lab, *ALL)


def test_an_instance_out_of_reach_is_out_of_the_routes(lab: Lab) -> None:
    announce(lab, *ALL)
    start_both(lab)
    wait_for_bfd(lab, ROUTER, 2)
    lab.wait(lambda: routes(lab).keys() == set(map(str, ALL)), "announced")
    lab.unplug(INSTANCE.name)
    try:
        lab.wait(lambda: routes(lab) == {}, "the router noticed")
    finally:
        lab.plug(INSTANCE.name)


def test_both_families_by_one_session_beside_protocols_of_its_user(lab: Lab) -> None:
    own = lab.fleet.instances[INSTANCE.name]
    one = replace(own, routers=tuple(r for r in own.routers if r.version == 4))
    start_bird(lab, ROUTER, ONE_SESSION)
    start_instance(lab, replace(lab.fleet, instances={own.name: one}), USERS_OWN)
    announce(lab, VIP4, VIP6)
    both = {str(VIP4): str(INSTANCE.address4), str(VIP6): str(INSTANCE.address6)}
    lab.wait(lambda: routes(lab) == both, "both VIPs at the router")
    for node in (INSTANCE.name, ROUTER):
        wait_for_bfd(lab, node, 1)
