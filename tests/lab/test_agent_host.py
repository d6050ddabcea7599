"""`turnout agent` on a host of its own: what it sets, puts back and takes back.

One namespace: eth0 with the backend's address, and its peer.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import pytest
from click.testing import CliRunner
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from turnout.agent import AgentError, Host, Wanted, alone, undo
from turnout.cli import main
from turnout.kernel import addresses, netns, sysctl

NAME = "turnout-test-agent"
TURNOUT = (sys.executable, "-m", "turnout")
PATIENCE_S = 15.0
OWN, V4, OTHER, V6 = map(ip_address, ("10.0.2.11", "192.0.2.10", "192.0.2.11", "2001:db8::10"))
CONF4, CONF6 = ("net", "ipv4", "conf"), ("net", "ipv6", "conf")
FLEET = """
instances: {{lb1: {{interfaces: [eth0], addresses: [10.0.2.1]}}}}
backends: {{web1: {{address: 10.0.2.11}}, web2: {{address: 10.0.2.12}}}}
pools: {{web: {{members: {{web1: {{}}, web2: {{}}}}}}}}
services:
  www: {{vip: {vip}, protocol: tcp, port: 80, pool: web}}
  www6: {{vip: "2001:db8::10", protocol: tcp, port: 80, pool: web}}
"""


def ip(*arguments: str) -> str:
    return subprocess.run(
        ["ip", *arguments], capture_output=True, text=True, check=True, timeout=10
    ).stdout


def until(said: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not said():
        assert time.monotonic() < end, f"not within {PATIENCE_S:g} s: {what}"
        time.sleep(0.03)


def connect() -> None:
    ip("link", "add", "eth0", "type", "veth", "peer", "name", "far")
    ip("link", "set", "eth0", "up")
    ip("link", "set", "far", "up")
    ip("address", "add", "10.0.2.11/24", "dev", "eth0")


@pytest.fixture(autouse=True)
def host() -> Iterator[None]:
    """The test, and what it starts, is in the namespace."""
    netns.remove(NAME)
    netns.create(NAME)
    try:
        with netns.inside(NAME):
            ip("link", "set", "lo", "up")
            sysctl.write((*CONF6, "default", "accept_dad"), "0")
            connect()
            yield
    finally:
        netns.remove(NAME)


@dataclass
class Agent:
    """A running `turnout agent`."""

    process: subprocess.Popen[bytes]
    file: Path
    log: Path
    run: Path

    def events(self) -> list[str]:
        lines = self.log.read_text().splitlines()
        return [json.loads(line)["event"] for line in lines]

    def undo(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*TURNOUT, "agent", str(self.file), "--backend", "web1", "--undo"],
            env={**os.environ, "RUNTIME_DIRECTORY": str(self.run)},
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(10)


@pytest.fixture
def agent(host: None, tmp_path: Path) -> Iterator[Agent]:
    """Ready, on a host where one VIP was on lo before."""
    file, log, run = tmp_path / "fleet.yaml", tmp_path / "log", tmp_path / "run"
    file.write_text(FLEET.format(vip=V4))
    addresses.add("lo", V6)
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [*TURNOUT, "agent", str(file), "--backend", "web1"],
            env={**os.environ, "RUNTIME_DIRECTORY": str(run)},
            stderr=errors,
        )
    made = Agent(process, file, log, run)
    try:
        until(lambda: "agent ready" in made.events() or process.poll() is not None, "ready")
        yield made
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(10)


def wanted(*vips: str) -> Wanted:
    instances = (ip_address("10.0.2.1"),)
    return Wanted("web1", OWN, instances, tuple(map(ip_address, vips)), ())


def arp() -> tuple[str, str]:
    return sysctl.read((*CONF4, "all", "arp_ignore")), sysctl.read((*CONF4, "all", "arp_announce"))


def vips() -> set[str]:
    return {str(address) for address in addresses.on_interface("lo") if not address.is_loopback}


def test_what_was_changed_is_put_back_and_undone(agent: Agent) -> None:
    assert vips() == {str(V4), str(V6)}
    assert arp() == ("1", "2")
    assert f"added {V4} to lo" in agent.events()
    assert f"added {V6} to lo" not in agent.events()
    before = len(agent.events())

    addresses.remove("lo", V4)
    addresses.remove("lo", V6)
    sysctl.write((*CONF4, "all", "arp_ignore"), "0")
    sysctl.write((*CONF4, "eth0", "rp_filter"), "1")
    until(lambda: vips() == {str(V4), str(V6)} and arp() == ("1", "2"), "put back")
    until(lambda: len(agent.events()) == before + 4, "a line for each")
    assert sorted(agent.events()[before:]) == [
        f"added {V4} to lo",
        f"added {V6} to lo",
        "set net.ipv4.conf.all.arp_ignore from 0 to 1",
        "set net.ipv4.conf.eth0.rp_filter from 1 to 2",
    ]

    refused = agent.undo()
    assert refused.returncode == 1
    assert "an agent of this backend runs" in refused.stderr
    assert vips() == {str(V4), str(V6)}

    assert agent.stop() == 0
    assert (vips(), arp()) == ({str(V4), str(V6)}, ("1", "2"))
    (state,) = agent.run.glob("*.json")
    assert state.stat().st_mode & 0o777 == 0o600

    assert agent.undo().returncode == 0
    assert (vips(), arp()) == (set(), ("0", "0"))
    assert sysctl.read((*CONF4, "eth0", "rp_filter")) == "1"
    assert not list(agent.run.glob("*.json"))
    assert agent.undo().stdout == "nothing to take back\n"


def test_an_address_that_was_there_before_stays_after_undo(agent: Agent) -> None:
    agent.stop()
    assert agent.undo().stdout.splitlines() == [
        f"removed {V4} from lo",
        "set net.ipv4.conf.all.arp_ignore back to 0",
        "set net.ipv4.conf.all.arp_announce back to 0",
    ]
    assert vips() == {str(V6)}


def test_undo_needs_no_file_that_still_knows_the_backend(agent: Agent) -> None:
    agent.stop()
    agent.file.write_text("nonsense")
    assert agent.undo().returncode == 0
    assert vips() == {str(V6)}


def test_reload_takes_a_good_file_and_refuses_a_bad_one(agent: Agent) -> None:
    agent.file.write_text("services: {}")
    agent.process.send_signal(signal.SIGHUP)
    refused = "reload refused, the running configuration stays"
    until(lambda: refused in agent.events(), "refused")
    assert vips() == {str(V4), str(V6)}
    agent.file.write_text(FLEET.format(vip=OTHER))
    agent.process.send_signal(signal.SIGHUP)
    until(lambda: vips() == {str(OTHER), str(V6)}, "the other VIP")
    agent.stop()
    assert agent.undo().returncode == 0
    assert vips() == {str(V6)}


def test_a_burst_of_signals_never_ends_it(agent: Agent) -> None:
    for _ in range(200):
        agent.process.send_signal(signal.SIGHUP)
        time.sleep(0.002)
    agent.file.write_text(FLEET.format(vip=OTHER))
    agent.process.send_signal(signal.SIGHUP)
    until(lambda: str(OTHER) in vips(), "the last one was heard")
    assert agent.stop() == 0
    assert agent.events()[-1].startswith("agent stopped")


@contextmanager
def receiving() -> Iterator[Callable[[], list[bytes]]]:
    """A call sends a packet of a client's that the instance has encapsulated, and a plain one of
    the instance's own after it; it answers what of them the host's server got."""
    (link,) = json.loads(ip("-j", "link", "show", "eth0"))
    ether = Ether(dst=link["address"], src="02:00:00:00:00:02")
    inner = IP(src="198.51.100.7", dst=str(V4)) / UDP(sport=9, dport=5000) / b"opened"
    outer = IP(src="10.0.2.1", dst=str(OWN)) / UDP(sport=50000, dport=6080)
    plain = IP(src="10.0.2.1", dst=str(OWN)) / UDP(sport=9, dport=5000) / b"plain"
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server,
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as far,
    ):
        server.bind(("", 5000))
        server.settimeout(5)
        far.bind(("far", 0))

        def received() -> list[bytes]:
            far.send(bytes(ether / outer / inner))
            far.send(bytes(ether / plain))
            found = [server.recv(99)]
            while found[-1] != b"plain":
                found.append(server.recv(99))
            return found

        yield received


def test_packets_are_opened_until_the_agent_is_gone(agent: Agent) -> None:
    with receiving() as received:
        assert received() == [b"opened", b"plain"]
        agent.process.kill()
        agent.process.wait(10)
        assert received() == [b"plain"]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "agent-web1.json"


def test_settings_that_do_no_harm_are_left(state: Path) -> None:
    sysctl.write((*CONF4, "all", "arp_ignore"), "2")
    sysctl.write((*CONF4, "all", "arp_announce"), "2")
    sysctl.write((*CONF4, "eth0", "rp_filter"), "0")
    made = Host(state)
    assert list(made.reconcile(wanted(str(V4)))) == [f"added {V4} to lo"]
    assert list(made.reconcile(wanted(str(V4)))) == []
    made.close()


@pytest.mark.parametrize(
    ("every", "own", "after"),
    [("0", "0", "0"), ("0", "1", "2"), ("1", "0", "2"), ("1", "1", "2"), ("2", "1", "1")],
)
def test_a_strict_reverse_path_filter_is_made_loose(
    state: Path, every: str, own: str, after: str
) -> None:
    sysctl.write((*CONF4, "all", "rp_filter"), every)
    sysctl.write((*CONF4, "eth0", "rp_filter"), own)
    made = Host(state)
    list(made.reconcile(wanted(str(V4))))
    assert sysctl.read((*CONF4, "eth0", "rp_filter")) == after
    made.close()
    list(undo(state))
    assert sysctl.read((*CONF4, "eth0", "rp_filter")) == own
    assert sysctl.read((*CONF4, "all", "rp_filter")) == every


def test_a_client_may_be_reached_by_another_interface(state: Path) -> None:
    ip("link", "add", "out", "type", "veth", "peer", "name", "out-far")
    ip("link", "set", "out", "up")
    ip("address", "add", "10.0.3.11/24", "dev", "out")
    ip("route", "add", "default", "via", "10.0.3.1")
    sysctl.write((*CONF4, "eth0", "rp_filter"), "1")
    made = Host(state)
    list(made.reconcile(wanted(str(V4))))
    with receiving() as received:
        assert received() == [b"opened", b"plain"]
        # Without the setting the host drops what is opened, and says nothing.
        sysctl.write((*CONF4, "eth0", "rp_filter"), "1")
        assert received() == [b"plain"]
        list(made.reconcile(wanted(str(V4))))
        assert received() == [b"opened", b"plain"]
    made.close()


def test_an_ipv6_vip_on_a_host_without_ipv6(state: Path) -> None:
    names = [(*CONF6, interface, "disable_ipv6") for interface in ("lo", "eth0")]
    for name in names:
        sysctl.write(name, "1")
    made = Host(state)
    list(made.reconcile(wanted(str(V4))))
    assert [sysctl.read(name) for name in names] == ["1", "1"]
    list(made.reconcile(wanted(str(V4), str(V6))))
    assert [sysctl.read(name) for name in names] == ["0", "0"]
    assert str(V6) in vips()
    made.close()
    list(undo(state))
    assert [sysctl.read(name) for name in names] == ["1", "1"]


def test_an_interface_made_anew_is_taken_up_again(state: Path) -> None:
    made = Host(state)
    list(made.reconcile(wanted(str(V4))))
    ip("link", "delete", "eth0")
    with pytest.raises(AgentError, match=r"no interface has 10\.0\.2\.11, the address of backend"):
        list(made.reconcile(wanted(str(V4))))
    connect()
    list(made.reconcile(wanted(str(V4))))
    before = made.decapsulation.counters()["not_encapsulated"]
    # The peer of eth0 sends something that is nobody's.
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
        raw.bind(("far", 0))
        raw.send(bytes(12) + b"\x88\xb5" + bytes(46))
    until(
        lambda: made.decapsulation.counters()["not_encapsulated"] > before, "counted on the new one"
    )
    made.close()


def test_an_agent_that_starts_again_knows_what_was_before(state: Path) -> None:
    for _ in range(2):
        made = Host(state)
        list(made.reconcile(wanted(str(V4))))
        made.close()
    made = Host(state)
    assert list(made.reconcile(wanted(str(OTHER)))) == [
        f"added {OTHER} to lo",
        f"removed {V4} from lo: no service has it any more",
    ]
    made.close()
    list(undo(state))
    assert (vips(), arp()) == (set(), ("0", "0"))


def test_one_agent_at_a_time(state: Path) -> None:
    with (
        alone(state),
        pytest.raises(AgentError, match="an agent of this backend runs"),
        alone(state),
    ):
        pass
    with alone(state):
        pass


def test_a_state_file_of_somebody_else_is_refused(state: Path) -> None:
    state.write_text("[]")
    made = Host(state)
    with pytest.raises(AgentError, match="not a state file of the agent"):
        list(made.reconcile(wanted(str(V4))))
    made.close()
    assert vips() == set()


def test_an_interface_without_ethernet_is_refused(state: Path) -> None:
    ip("tuntap", "add", "tun0", "mode", "tun")
    ip("address", "add", "10.9.9.9/32", "dev", "tun0")
    made = Host(state)
    on_tun = Wanted("web1", ip_address("10.9.9.9"), (), (V4,), ())
    with pytest.raises(AgentError, match="tun0 is no Ethernet interface"):
        list(made.reconcile(on_tun))
    made.close()


def test_the_command_refuses_what_it_cannot_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text(FLEET.format(vip=V4))
    unknown = CliRunner().invoke(main, ["agent", str(file), "--backend", "web9"])
    assert unknown.exit_code == 2
    assert unknown.output == ("no backend is named 'web9': expected one of web1, web2\n")
    missing = "turnout.cli.agent.missing_capabilities"
    monkeypatch.setattr(missing, lambda: ("CAP_NET_ADMIN", "CAP_BPF"))
    refused = CliRunner().invoke(main, ["agent", str(file), "--backend", "web1"])
    assert refused.exit_code == 1
    assert refused.output == (
        "Error: not permitted: lacks CAP_NET_ADMIN and CAP_BPF; run it as root\n"
    )
    assert vips() == set()


def test_an_old_kernel_is_refused_before_anything_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text(FLEET.format(vip=V4))
    words = "kernel 6.1.0-28-amd64: Turnout needs Linux 6.6 or newer"
    monkeypatch.setattr("turnout.agent.decapsulation.outdated", lambda: words)
    monkeypatch.setattr("turnout.agent.state_file", lambda name: tmp_path / f"{name}.json")
    refused = CliRunner().invoke(main, ["agent", str(file), "--backend", "web1"])
    assert (refused.exit_code, refused.output) == (1, f"Error: {words}\n")
    assert vips() == set()
