import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from turnout.kernel import netns
from turnout.lab import HOME, ROUTER, Host, LabError, Machines, Record, Topology, find
from turnout.lab.processes import ProcessId

SMALL = Topology(instances=1, backends=1)


def namespaces(record: Record) -> list[str]:
    return [node for node in record.nodes if netns.exists(record.namespace(node))]


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    with Machines(Topology(clients=2, instances=2, backends=2, two_armed=1)) as machines:
        yield machines


def can_connect(machines: Machines, source: str, host: Host, address: str) -> bool:
    """Whether a TCP connection from a machine to a host's address opens and carries a byte."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with machines.socket(host.name, family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, 7))
        listening.listen()
        listening.settimeout(5)
        with machines.socket(source, family, socket.SOCK_STREAM) as client:
            client.settimeout(5)
            client.connect((address, 7))
            client.sendall(b"x")
            accepted, _ = listening.accept()
            with accepted:
                return accepted.recv(1) == b"x"


@pytest.mark.parametrize("family", ["address4", "address6"])
def test_every_host_reaches_every_other(machines: Machines, family: str) -> None:
    hosts = machines.topology.hosts()
    for source in hosts:
        for host in hosts:
            assert can_connect(machines, source.name, host, str(getattr(host, family)))


def test_second_arm_leads_to_the_backends(machines: Machines) -> None:
    one, two = machines.topology.instance_hosts()
    backend = machines.topology.backend_hosts()[0]
    for address in (backend.address4, backend.address6):
        routes = [
            machines.run(host.name, ["ip", "route", "get", str(address)]).stdout
            for host in (one, two)
        ]
        assert "dev eth0" in routes[0]
        assert "dev eth1" in routes[1]


def test_an_unplugged_host_is_out_of_reach_and_the_router_keeps_its_interface(
    machines: Machines,
) -> None:
    host = machines.topology.backend_hosts()[0]
    machines.unplug(host.name)
    with machines.socket("client1", socket.AF_INET, socket.SOCK_STREAM) as client:
        client.settimeout(0.3)
        with pytest.raises(TimeoutError):
            client.connect((str(host.address4), 7))
    assert "LOWER_UP" in machines.run(ROUTER, ["ip", "link", "show", "backends"]).stdout
    machines.plug(host.name)
    assert can_connect(machines, "client1", host, str(host.address4))


def test_what_a_program_said_is_in_the_error(machines: Machines) -> None:
    machines.start("client1", "talker", ["sh", "-c", "echo no such luck; exit 3"])
    with pytest.raises(LabError, match=r"(?s)talker ended with status 3.*no such luck"):
        machines.wait(lambda: False, "a wonder")
    machines.kill("client1")


def test_a_failed_command_names_the_machine_and_its_words(machines: Machines) -> None:
    with pytest.raises(LabError, match=r"web1: ls /nowhere: exit status 2: .*No such file"):
        machines.run("web1", ["ls", "/nowhere"])


def test_the_server_says_who_it_is(machines: Machines) -> None:
    backend = machines.topology.backend_hosts()[1]
    machines.start(
        backend.name, "server", [sys.executable, "-m", "turnout.lab.server", "web2", "80"]
    )
    url = f"http://{backend.address4}/"
    ask = ["curl", "-s", "-m", "5", "-D", "-", "--data", "x" * 1000, url]
    machines.wait(lambda: machines.run("client2", ask, check=False).returncode == 0, "server")
    answer = machines.run("client2", ask).stdout
    assert answer.endswith("\n\nweb2\n")
    assert "X-Backend: web2\n" in answer
    assert "X-Received: 1000\n" in answer
    machines.stop("web2", ["server"])
    assert machines.run("client2", ask, check=False).returncode == 7


def test_two_labs_at_once_know_nothing_of_each_other(machines: Machines) -> None:
    with Machines(SMALL) as other:
        assert other.record.name != machines.record.name
    assert namespaces(machines.record) == list(machines.topology.nodes())


def test_a_name_is_taken_once(machines: Machines) -> None:
    with pytest.raises(FileExistsError), Machines(SMALL, machines.record.name):
        pass
    assert namespaces(machines.record) == list(machines.topology.nodes())


def test_nothing_is_left_after_an_exception() -> None:
    seen: list[Machines] = []

    def fail() -> None:
        with Machines(SMALL) as machines:
            seen.append(machines)
            machines.start("web1", "sleeper", ["sleep", "60"])
            sleepers.update(machines.record.processes)
            raise ZeroDivisionError

    sleepers: dict[str, ProcessId] = {}
    with pytest.raises(ZeroDivisionError):
        fail()
    assert [sleeper.alive() for sleeper in sleepers.values()] == [False]
    assert namespaces(seen[0].record) == []
    assert not seen[0].directory.exists()


SCRIPT = """
import time
from turnout.lab import Machines, Topology
with Machines(Topology(instances=1, backends=1)) as machines:
    machines.start("web1", "sleeper", ["sleep", "60"])
    print(machines.record.name, flush=True)
    time.sleep(60)
"""


def left_behind(number: signal.Signals) -> tuple[Record, int]:
    """A laboratory whose owner got a signal, and the owner's exit status."""
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as owner:
        assert owner.stdout
        record = find(owner.stdout.readline().strip())
        assert record
        owner.send_signal(number)
        return record, owner.wait(20)


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (signal.SIGTERM, 128 + signal.SIGTERM),
        (signal.SIGHUP, 128 + signal.SIGHUP),
        (signal.SIGINT, -signal.SIGINT),
    ],
)
def test_nothing_is_left_after_a_signal(number: signal.Signals, status: int) -> None:
    record, got = left_behind(number)
    assert got == status
    assert not any(process.alive() for process in record.processes.values())
    assert namespaces(record) == []
    assert not record.directory.exists()


def test_what_a_killed_lab_left_is_removed_by_the_next() -> None:
    record, _ = left_behind(signal.SIGKILL)
    assert namespaces(record) == list(record.nodes)
    (sleeper,) = record.processes.values()
    assert sleeper.alive()
    with Machines(SMALL):
        assert namespaces(record) == []
        assert not sleeper.alive()
        assert not record.directory.exists()


def test_a_recorded_pid_that_is_anothers_now_is_left_alone() -> None:
    record, _ = left_behind(signal.SIGKILL)
    with subprocess.Popen(["sleep", "60"]) as other:
        (key,) = record.processes
        real = record.processes[key]
        record.processes[key] = replace(real, pid=other.pid, started=real.started - 1)
        record.save()
        with Machines(SMALL):
            assert not record.directory.exists()
            assert other.poll() is None
        other.terminate()


def test_a_process_that_was_not_written_down_is_found_by_its_namespace() -> None:
    record, _ = left_behind(signal.SIGKILL)
    (sleeper,) = record.processes.values()
    record.processes.clear()
    record.save()
    with Machines(SMALL):
        assert not sleeper.alive()


def test_a_kept_lab_outlives_its_maker() -> None:
    with Machines(SMALL) as machines:
        machines.keep()
    record = find(machines.record.name)
    assert record
    with Machines(SMALL):
        assert namespaces(record) == list(record.nodes)
    record.remove()
    assert namespaces(record) == []
    assert find(record.name) is None
    assert not (HOME / record.name).exists()


def test_entering_a_namespace_is_the_threads_own_matter(machines: Machines) -> None:
    own = Path("/proc/thread-self/ns/net").readlink()
    seen: list[Path] = []

    def look() -> None:
        netns.enter(machines.record.namespace("web1"))
        seen.append(Path("/proc/thread-self/ns/net").readlink())

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen[0] != own
    assert Path("/proc/thread-self/ns/net").readlink() == own
    with pytest.raises(FileNotFoundError), netns.inside("turnout-none"):
        pass


def test_a_topology_without_hosts_is_refused() -> None:
    for field in ("clients", "instances", "backends"):
        none: Any = {field: 0}
        with pytest.raises(ValueError, match=f"{field}: found 0, expected 1 to 199"):
            Topology(**none)
