"""`turnout run` and `turnout show` as a person uses them: real daemons on a real interface.

net  eth0 ───── eth0  lb
     10.7.0.1          10.7.0.254: the instance
     10.7.0.11, 10.7.0.12: web1, web2
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

TURNOUT = (sys.executable, "-m", "turnout")
PATIENCE_S = 30.0
VIP = "192.0.2.10"
TABLE = "174"
SERVER = """
import socket, sys
with socket.create_server((sys.argv[1], 80), backlog=64) as server:
    while True:
        server.accept()[0].close()
"""
FLEET = """
instances:
  lb1: {interfaces: [eth0], addresses: [10.7.0.254]}
backends:
  web1: {address: 10.7.0.11}
  web2: {address: 10.7.0.12}
pools:
  web:
    members: {web1: {}, web2: {}}
    check: {type: tcp, port: 80, interval: 200ms, timeout: 200ms, rise: 1, fall: 2}
services:
  www: {vip: 192.0.2.10, protocol: tcp, port: 80, pool: web}
"""


def ip(*arguments: str) -> str:
    return subprocess.run(
        ["ip", *arguments], capture_output=True, text=True, check=True, timeout=30
    ).stdout


def until(said: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not said():
        assert time.monotonic() < end, f"not within {PATIENCE_S:g} s: {what}"
        time.sleep(0.03)


@dataclass
class Network:
    name: str
    directory: Path
    servers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def lb(self) -> str:
        return f"{self.name}-lb"

    @property
    def net(self) -> str:
        return f"{self.name}-net"

    def exec(self, namespace: str, *command: str) -> list[str]:
        return ["ip", "netns", "exec", namespace, *command]

    def serve(self, address: str) -> None:
        command = self.exec(self.net, sys.executable, "-c", SERVER, address)
        self.servers[address] = subprocess.Popen(command)

    def stop_serving(self, address: str) -> None:
        server = self.servers.pop(address)
        server.kill()
        server.wait(10)

    def routes(self) -> list[str]:
        shown = subprocess.run(
            ["ip", "-n", self.lb, "-j", "route", "show", "table", TABLE],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        # A table that never had a route is not there yet, which is an error.
        return [] if shown.returncode else [route["dst"] for route in json.loads(shown.stdout)]

    def attached(self) -> bool:
        (link,) = json.loads(ip("-n", self.lb, "-j", "link", "show", "eth0"))
        return "xdp" in link


@dataclass
class Running:
    """A daemon, and how to ask it."""

    network: Network
    process: subprocess.Popen[str]
    socket: Path
    log: Path

    def show(self, name: str) -> Any:
        done = subprocess.run(
            [*TURNOUT, "show", name, "-o", "json", "--socket", str(self.socket)],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return json.loads(done.stdout)

    def states(self) -> dict[str, str]:
        return {row["backend"]: row["state"] for row in self.show("backends")["backends"]}

    def events(self, name: str) -> list[dict[str, Any]]:
        text = self.log.read_text()
        assert "Traceback" not in text, text
        # The last line may be half written.
        logged = [json.loads(line) for line in text.splitlines(keepends=True) if "\n" in line]
        return [event for event in logged if event["event"] == name]

    def until_logged(self, name: str) -> dict[str, Any]:
        until(lambda: bool(self.events(name)), f"event {name}\n{self.log.read_text()}")
        return self.events(name)[-1]

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(PATIENCE_S)


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    made = Network(f"da-{os.getpid()}", tmp_path)
    try:
        for namespace in (made.lb, made.net):
            ip("netns", "add", namespace)
            ip("-n", namespace, "link", "set", "lo", "up")
        ip(
            *("link", "add", "eth0", "netns", made.lb, "type", "veth"),
            *("peer", "name", "eth0", "netns", made.net),
        )
        ip("-n", made.lb, "addr", "add", "10.7.0.254/24", "dev", "eth0")
        for address in ("10.7.0.1", "10.7.0.11", "10.7.0.12"):
            ip("-n", made.net, "addr", "add", f"{address}/24", "dev", "eth0")
        for namespace in (made.lb, made.net):
            ip("-n", namespace, "link", "set", "eth0", "up")
        ip("-n", made.net, "route", "add", VIP, "via", "10.7.0.254")
        made.serve("10.7.0.11")
        made.serve("10.7.0.12")
        (tmp_path / "fleet.yaml").write_text(FLEET)
        yield made
    finally:
        for address in list(made.servers):
            made.stop_serving(address)
        for namespace in (made.lb, made.net):
            subprocess.run(["ip", "netns", "del", namespace], check=False, timeout=30)


@contextmanager
def running(network: Network, *options: str) -> Iterator[Running]:
    path, log = network.directory / "turnout.sock", network.directory / "log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            network.exec(
                network.lb,
                *(*TURNOUT, "run", str(network.directory / "fleet.yaml")),
                *("--instance", "lb1", "--socket", str(path), *options),
            ),
            stderr=errors,
            text=True,
        )
    daemon = Running(network, process, path, log)
    try:
        daemon.until_logged("started")
        yield daemon
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(10)


def refused(network: Network, *before: str) -> tuple[int, str]:
    """Exit status and words of a daemon that does not start."""
    done = subprocess.run(
        network.exec(
            network.lb,
            *(*before, *TURNOUT, "run", str(network.directory / "fleet.yaml")),
            *("--instance", "lb1", "--socket", str(network.directory / "turnout.sock")),
        ),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stderr


def test_a_flow_is_forwarded_shown_and_counted(network: Network) -> None:
    with running(network, "--metrics", "10.7.0.254:9100") as daemon:
        until(lambda: network.routes() == [VIP], "the VIP's route")
        assert daemon.states() == {"web1": "up", "web2": "up"}
        status = daemon.show("status")
        assert (status["instance"], status["generation"]) == ("lb1", 1)
        assert status["interfaces"] == [{"name": "eth0", "mode": "native"}]
        assert status["announced"] == [VIP]
        # Nobody decapsulates here, so that the SYN is never answered; it is forwarded all the same.
        subprocess.run(
            network.exec(
                network.net,
                *(sys.executable, "-c"),
                f"import socket; s = socket.socket(); s.settimeout(0.2); s.connect_ex(('{VIP}', 80))",
            ),
            check=True,
            timeout=60,
        )
        (service,) = daemon.show("services")["services"]
        assert service["new_flows"] == service["packets"] > 0
        counted = {row["reason"]: row["packets"] for row in daemon.show("counters")["counters"]}
        assert counted["forwarded"] == service["packets"]
        scraped = subprocess.run(
            network.exec(network.net, "curl", "-sS", "http://10.7.0.254:9100/metrics"),
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        assert 'turnout_member_up{backend="web1",pool="web"} 1.0' in scraped
        assert daemon.end() == 0


def test_a_stop_withdraws_then_detaches(network: Network) -> None:
    with running(network) as daemon:
        until(lambda: network.routes() == [VIP], "the VIP's route")
        daemon.process.send_signal(signal.SIGTERM)
        while daemon.process.poll() is None:
            # Asked in this order: what is detached must have been withdrawn before.
            assert network.attached() or network.routes() == []
        assert daemon.process.returncode == 0
        assert not network.attached()
        assert not daemon.socket.exists()
        assert daemon.events("stopped")


def test_health_decides_who_serves_and_whether_to_announce(network: Network) -> None:
    network.stop_serving("10.7.0.12")
    with running(network) as daemon:
        until(lambda: network.routes() == [VIP], "announced with one of two up")
        assert daemon.states()["web1"] == "up"
        network.stop_serving("10.7.0.11")
        until(lambda: network.routes() == [], "withdrawn with none up")
        assert daemon.states() == {"web1": "down", "web2": "down"}
        assert daemon.until_logged("member_down")["reason"]
        network.serve("10.7.0.12")
        until(lambda: network.routes() == [VIP], "announced again")
        assert daemon.states() == {"web1": "down", "web2": "up"}
        assert daemon.end(signal.SIGINT) == 0


def test_reload_takes_the_good_and_refuses_the_bad_whole(network: Network) -> None:
    fleet = network.directory / "fleet.yaml"
    with running(network) as daemon:
        until(lambda: network.routes() == [VIP], "the VIP's route")
        fleet.write_text(FLEET.replace("port: 80, pool: web", "port: 99999, pool: wbe"))
        daemon.process.send_signal(signal.SIGHUP)
        errors = daemon.until_logged("reload_refused")["errors"]
        assert [error.split(":")[1] for error in errors] == ["12", "12"]
        assert daemon.show("status")["generation"] == 1
        assert network.routes() == [VIP]

        fleet.write_text(
            FLEET.replace(VIP, "192.0.2.20").replace(
                "members: {web1: {}", "members: {web1: {drain: true}"
            )
        )
        daemon.process.send_signal(signal.SIGHUP)
        until(lambda: network.routes() == ["192.0.2.20"], "the new VIP in the place of the old")
        status = daemon.show("status")
        assert (status["generation"], status["applied_generation"]) == (2, 2)
        assert daemon.states() == {"web1": "draining", "web2": "up"}

        fleet.write_text(FLEET.replace("[eth0]", "[eth0, eth1]"))
        daemon.process.send_signal(signal.SIGHUP)
        until(lambda: len(daemon.events("reload_refused")) == 2, "the second refusal")
        assert "restart needed" in daemon.events("reload_refused")[-1]["errors"][0]
        assert daemon.end() == 0


def test_one_daemon_a_socket_and_a_dead_one_is_followed(network: Network) -> None:
    with running(network) as daemon:
        status, words = refused(network)
        assert (status, words.strip()) == (
            1,
            f"Error: another daemon serves {daemon.socket}; stop it or name another --socket",
        )
        assert daemon.show("status")["instance"] == "lb1"
        daemon.end(signal.SIGKILL)
        assert daemon.socket.exists()
    with running(network) as daemon:
        assert daemon.show("status")["instance"] == "lb1"
        assert daemon.end() == 0


def test_what_cannot_start_says_why_and_leaves_nothing(network: Network) -> None:
    fleet = network.directory / "fleet.yaml"
    status, words = refused(network, "setpriv", "--bounding-set=-all", "--inh-caps=-all")
    assert status == 1
    assert "run it as root" in words

    fleet.write_text(FLEET.replace("[eth0]", "[eth0, eth9]"))
    status, words = refused(network)
    assert status == 1
    assert "interface eth9" in words

    assert not network.attached()
    assert network.routes() == []
    assert not (network.directory / "turnout.sock").exists()
