"""What the text of a split does in the program that it is for."""

import re
import sys
from collections import Counter
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.switch.vswitch import Vswitch, run
from turnout.split import Split, approximate
from turnout.switch import FIELDS, nft, openflow

SOURCES = """
import socket, sys
width = int(sys.argv[1])
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
to.bind(("10.0.255.254", 9))
for key in range(1 << width):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind((f"10.0.{key >> 8}.{key & 255}", 0))
    one.sendto(b"x", to.getsockname())
    assert to.recv(9) == b"x"
    one.close()
"""


@pytest.mark.parametrize(("width", "budget"), [(8, None), (10, 6)])
def test_nft_gives_each_target_its_addresses(space: str, width: int, budget: int | None) -> None:
    within = ("ip", "netns", "exec", space)
    run(*within, "ip", "link", "set", "lo", "up")
    run(*within, "ip", "route", "add", "local", "10.0.0.0/16", "dev", "lo")
    names = ["a", "b.example", "c-3"]
    # The second replaces the first.
    for weights in ([1, 1, 2], [3, 5, 11]):
        split = approximate(weights, width, budget)
        run(*within, "nft", "-f", "-", text=nft.ruleset(split, names, FIELDS["nw_src"]))
    run(*within, sys.executable, "-c", SOURCES, str(width))
    listed = run(*within, "nft", "list", "ruleset")
    counts = {
        name: int(packets)
        for name, packets in re.findall(r"chain to_(\S+) \{\s*counter packets (\d+)", listed)
    }
    assert counts == dict(zip(names, split.partition, strict=True))


@pytest.mark.parametrize("field", [name for name, field in FIELDS.items() if field.nft])
@pytest.mark.parametrize(("weights", "width"), [([1], 0), ([0, 1, 0], 4), ([3, 5, 11], 16)])
def test_nft_takes_every_field(space: str, field: str, weights: list[int], width: int) -> None:
    ruleset = nft.ruleset(approximate(weights, width), ["a", "b", "c"], FIELDS[field])
    run("ip", "netns", "exec", space, "nft", "-f", "-", text=ruleset)


@pytest.mark.parametrize(("width", "budget"), [(8, None), (10, 6)])
def test_flows_give_each_port_its_addresses(
    vswitch: Vswitch, width: int, budget: int | None
) -> None:
    split = approximate([3, 5, 11], width, budget)
    vswitch.add([*map(str, openflow.flows(split, ["a", "b", "c"], FIELDS["nw_src"]))])
    counts = vswitch.sent(width)
    assert [counts[port] for port in ("a", "b", "c")] == list(split.partition)


@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=5).filter(any),
    st.integers(3, 9),
    st.sampled_from(["nw_src", "ipv6_dst", "tcp_src", "reg3"]),
)
def test_the_flow_of_most_priority_that_matches_is_the_longest_rule(
    weights: list[int], width: int, name: str
) -> None:
    split = approximate(weights, width, 5)
    flows = [read(str(flow), name) for flow in openflow.flows(split, "12345", FIELDS[name])]
    got = Counter(
        max(flow for flow in flows if key & flow[2] == flow[1])[3] for key in range(1 << width)
    )
    assert [got[str(place + 1)] for place in range(len(weights))] == list(split.partition)


def read(flow: str, name: str) -> tuple[int, int, int, str]:
    """(priority, value, mask, port)"""
    priority = re.search(r"priority=(\d+)", flow)
    match = re.search(rf"{name}=([^/,]+)/([^/,]+)", flow)
    assert priority
    value, mask = match.groups() if match else ("0x0", "0x0")
    both = [int(n, 16) if n.startswith("0x") else int(ip_address(n)) for n in (value, mask)]
    return int(priority[1]), both[0], both[1], flow.rpartition("output:")[2]


def test_what_a_switch_cannot_take_is_refused() -> None:
    wide: Split = approximate([1, 2], 33)
    for call, message in (
        (lambda: openflow.flows(wide, "12", FIELDS["nw_src"]), "width: 33: expected at most 32"),
        (lambda: nft.ruleset(wide, "ab", FIELDS["tcp_src"]), "width: 33: expected at most 16"),
        (lambda: nft.ruleset(approximate([1], 1), "a", FIELDS["reg0"]), "field: reg0: expected"),
        (lambda: nft.ruleset(approximate([1], 1), ["a b"], FIELDS["nw_src"]), "target: 'a b'"),
        (lambda: openflow.flows(approximate([1], 1), ["0"], FIELDS["nw_src"]), "port 0: expected"),
        (lambda: openflow.flows(approximate([1], 1), ['a"'], FIELDS["nw_src"]), "target: 'a\"'"),
        (lambda: openflow.flows(approximate([1], 1), ["a b"], FIELDS["nw_src"]), "target: 'a b'"),
        (lambda: openflow.flows(approximate([1], 1), ["a,b"], FIELDS["nw_src"]), "target: 'a,b'"),
        (lambda: openflow.flows(approximate([1], 1), ["a#"], FIELDS["nw_src"]), "target: 'a#'"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
