"""`turnout lab` as a person uses it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from turnout.kernel import netns
from turnout.lab.record import find

# Another name than a person's, who may have one up.
NAME = f"test{os.getpid():x}"
TURNOUT = f"""
from turnout.cli import lab
lab.NAME = {NAME!r}
from turnout.cli import main
main()
"""


def turnout(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", TURNOUT, "lab", *arguments],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


@pytest.fixture(scope="module")
def up() -> Iterator[str]:
    """What `lab up` printed."""
    done = turnout("up", "--instances", "1", "--backends", "2", "--encapsulation", "ipip")
    try:
        assert done.returncode == 0, done.stderr
        yield done.stdout
    finally:
        left = find(NAME)
        if left:
            left.remove()


def test_it_says_what_there_is_and_what_to_try(up: str) -> None:
    for word in ("router", "client1", "lb1", "web1", "web2", "fleet file", "lab down"):
        assert word in up
    assert "ended" not in up


def test_status_names_machines_and_programs(up: str) -> None:
    done = turnout("status", "-o", "json")
    assert done.returncode == 0
    machines = {row["name"]: row for row in json.loads(done.stdout)["machines"]}
    assert set(machines) == {"router", "client1", "lb1", "web1", "web2"}
    assert all(netns.exists(row["namespace"]) for row in machines.values())
    programs = {
        name: {program["name"] for program in row["programs"] if program["running"]}
        for name, row in machines.items()
    }
    assert programs["lb1"] == {"bird", "run"}
    assert programs["web1"] == {"agent", "server"}
    assert "web2" in turnout("status").stdout


def test_a_command_on_a_machine(up: str) -> None:
    done = turnout("shell", "client1", "--", "curl", "-s", "-m", "5", "http://192.0.2.10/")
    assert done.stdout.strip() in ("web1", "web2")
    assert turnout("shell", "client1", "--", "false").returncode == 1
    wrong = turnout("shell", "client9")
    assert wrong.returncode == 2
    assert "no machine is named 'client9': router, client1, lb1, web1, web2" in wrong.stderr


def test_a_second_one_is_refused(up: str) -> None:
    done = turnout("up")
    assert done.returncode == 1
    assert "it is up already" in done.stderr


def test_down_takes_everything_away(up: str) -> None:
    record = find(NAME)
    assert record
    assert turnout("down").returncode == 0
    assert not any(netns.exists(record.namespace(node)) for node in record.nodes)
    assert not any(process.alive() for process in record.processes.values())
    done = turnout("status")
    assert done.returncode == 1
    assert "none is up: `turnout lab up` builds one" in done.stderr
