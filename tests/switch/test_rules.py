"""What the text of a split does in the program that it is for."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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

FRAMES = """
import socket, struct, sys
first, end = map(int, sys.argv[1:])
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("in0", 0))
for key in range(first, end):
    head = struct.pack("!BBHHHBBHII", 0x45, 0, 28, 0, 0, 64, 17, 0, 0x0A000000 + key, 0x0A00FFFE)
    total = sum(struct.unpack("!10H", head))
    check = 0xFFFF - (total % 0xFFFF or 0xFFFF)
    udp = struct.pack("!4H", 1, 9, 8, 0)
    frame = b"\\x02" * 6 + b"\\x04" * 6 + b"\\x08\\x00" + head[:10] + struct.pack("!H", check)
    out.send(frame + head[12:] + udp + bytes(18))
"""


def run(*command: str, text: str | None = None) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


@pytest.fixture
def space(request: pytest.FixtureRequest) -> Iterator[str]:
    name = f"turnout-{abs(hash(request.node.nodeid)) % 10**8}"
    run("ip", "netns", "add", name)
    yield name
    run("ip", "netns", "del", name)


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


class Bridge:
    """An Open vSwitch of its own: userspace datapath, one way in, ports out."""

    def __init__(self, space: str, folder: Path) -> None:
        self.folder = folder
        self.within = ("env", f"OVS_RUNDIR={folder}", "ip", "netns", "exec", space)
        self.socket = f"unix:{folder}/db.sock"
        self.processes: list[subprocess.Popen[bytes]] = []

    def begin(self, ports: list[str]) -> None:
        database, schema = self.folder / "conf.db", "/usr/share/openvswitch/vswitch.ovsschema"
        run("ovsdb-tool", "create", str(database), schema)
        self.start("ovsdb-server", str(database), f"--remote=p{self.socket}")
        self.start("ovs-vswitchd", self.socket, "--disable-system")
        run(*self.within, "ip", "link", "add", "in0", "type", "veth", "peer", "name", "in1")
        for end in ("in0", "in1"):
            run(*self.within, "ip", "link", "set", end, "up")
        words = ["add-br", "br", "--", "set", "bridge", "br", "datapath_type=netdev"]
        words += ["fail_mode=secure", "--", "add-port", "br", "in1"]
        for port in ports:
            words += ["--", "add-port", "br", port, "--"]
            words += ["set", "interface", port, "type=internal"]
        run(*self.within, "ovs-vsctl", "--timeout=30", f"--db={self.socket}", *words)

    def start(self, *command: str) -> None:
        # `--detach` would return when it is ready, but hide its id.
        process = subprocess.Popen(
            [*self.within, *command, "--no-chdir", "--unixctl=" + command[0] + ".ctl"],
            stderr=subprocess.DEVNULL,
        )
        self.processes.append(process)
        for _ in range(300):
            ready = subprocess.run(
                [*self.within, "ovs-appctl", "-t", self.control(command[0]), "version"],
                capture_output=True,
            )
            if not ready.returncode:
                return
        raise AssertionError(f"{command[0]} is not ready")

    def control(self, program: str) -> str:
        return f"{self.folder}/{program}.ctl"

    def add(self, flows: list[str]) -> None:
        text = "\n".join(flows)
        run(
            *self.within,
            "ovs-ofctl",
            "-O",
            "OpenFlow13",
            "--bundle",
            "add-flows",
            "br",
            "-",
            text=text,
        )

    def counts(self) -> Counter[str]:
        # Counters of the datapath reach the flows when its own are given up.
        run(*self.within, "ovs-appctl", "-t", self.control("ovs-vswitchd"), "revalidator/purge")
        flows = run(*self.within, "ovs-ofctl", "-O", "OpenFlow13", "--names", "dump-flows", "br")
        counts: Counter[str] = Counter()
        for packets, port in re.findall(
            r"cookie=0x7475726e.*n_packets=(\d+).*output:\"?(\w+)", flows
        ):
            counts[port] += int(packets)
        return counts

    def end(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
            process.wait(30)


@pytest.fixture
def bridge(space: str, tmp_path: Path) -> Iterator[Bridge]:
    made = Bridge(space, tmp_path)
    try:
        made.begin(["a", "b", "c"])
        yield made
    finally:
        made.end()


@pytest.mark.parametrize(("width", "budget"), [(8, None), (10, 6)])
def test_flows_give_each_port_its_addresses(bridge: Bridge, width: int, budget: int | None) -> None:
    split = approximate([3, 5, 11], width, budget)
    bridge.add(openflow.flows(split, ["a", "b", "c"], FIELDS["nw_src"]))
    for end in range(64, (1 << width) + 1, 64):
        # Fewer than a socket's queue has room for, and the next when these have been counted.
        run(*bridge.within, sys.executable, "-c", FRAMES, str(end - 64), str(end))
        for _ in range(500):
            counts = bridge.counts()
            if counts.total() >= end:
                break
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
    flows = [read(flow, name) for flow in openflow.flows(split, "12345", FIELDS[name])]
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
    ):
        with pytest.raises(ValueError, match=message):
            call()
