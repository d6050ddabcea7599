"""The demo as a person runs it, with shorter steps; in a pipe it prints its result alone."""

import json
import signal
import subprocess
import sys
import time
from types import TracebackType
from typing import Any, Self

import pytest
from click.testing import CliRunner

from turnout import lab
from turnout.cli.demo import command
from turnout.kernel import netns
from turnout.lab import HOME, Carried, Outcome, Promise, Step, Topology
from turnout.lab.promises import ALL_UP, DEATH, GONE, KILL, KILLED, MORTAL, RETURN, STEPS
from turnout.lab.record import find

SHORTER = """
from turnout.lab import story
story.LASTING, story.SETTLED_S = 160, 1.0
from turnout.cli import main
main()
"""
DEMO = [sys.executable, "-c", SHORTER, "demo", "-o", "json"]


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    done = subprocess.run(DEMO, capture_output=True, text=True, timeout=110, check=False)
    assert done.stderr == ""
    assert done.returncode == 0, done.stdout
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_every_promise_is_kept(result: dict[str, Any]) -> None:
    assert result["kept"] is True
    assert {promise["step"] for promise in result["promises"]} == set(STEPS)
    assert all(promise["kept"] for promise in result["promises"])


def test_requests_are_counted_as_sent_and_as_answered_by_whom(result: dict[str, Any]) -> None:
    steps = {step["step"]: step for step in result["steps"]}
    assert list(steps) == list(STEPS)
    for name, step in steps.items():
        assert step["answered"] == sum(step["answers"].values())
        lost = step["sent"] - step["answered"]
        assert (lost > 0) == (name in (DEATH, RETURN)) or name == ALL_UP
    topology = Topology()
    assert set(steps[ALL_UP]["answers"]) == {host.name for host in topology.backend_hosts()}
    assert MORTAL not in steps[f"{MORTAL} is out"]["answers"]
    assert steps[GONE]["answers"][MORTAL] > 0


def test_broken_connections_are_listed_apart(result: dict[str, Any]) -> None:
    broken = {step["step"]: step["broken"] for step in result["steps"] if step["broken"]}
    assert set(broken) == {DEATH, RETURN}
    assert set(broken[DEATH]) == set(broken[RETURN]) == {MORTAL}


def test_instances_tell_what_they_carried(result: dict[str, Any]) -> None:
    topology = Topology()
    assert [(row["instance"], row["backend"]) for row in result["carried"]] == [
        (instance.name, backend.name)
        for instance in topology.instance_hosts()
        for backend in topology.backend_hosts()
    ]
    assert all(row["new_flows"] > 0 for row in result["carried"])


def test_rerouting_is_bfds_doing(result: dict[str, Any]) -> None:
    """Far below the hold time of BGP, which is three seconds at the least."""
    assert 0 < result["rerouted_ms"] < 2500


def test_nothing_is_left_after_sigterm() -> None:
    before = set(HOME.glob("*/record.json"))
    with subprocess.Popen(DEMO, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as demo:
        until = time.monotonic() + 30
        while not any("server" in path.read_text() for path in new_records(before)):
            assert time.monotonic() < until
            assert demo.poll() is None
            time.sleep(0.05)
        (path,) = new_records(before)
        record = find(path.parent.name)
        assert record
        demo.send_signal(signal.SIGTERM)
        assert demo.wait(20) == 128 + signal.SIGTERM
    assert not any(netns.exists(record.namespace(node)) for node in record.nodes)
    assert not any(process.alive() for process in record.processes.values())
    assert not path.exists()


def new_records(before: set[Any]) -> set[Any]:
    return set(HOME.glob("*/record.json")) - before


class Nothing:
    """A laboratory in which nothing is."""

    topology = Topology()

    def __init__(self, topology: Topology) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def start_all(self) -> None: ...


def told(monkeypatch: pytest.MonkeyPatch, kept: bool) -> Any:
    """What the command makes of a story that ends so."""

    class Told:
        def __init__(self, network: Nothing, say: Any) -> None: ...

        async def tell(self) -> Outcome:
            return Outcome(
                steps=(Step(DEATH, 100, 97, 12, {"web1": 97}, {MORTAL: 2, "web1": 1}),),
                carried=(Carried(KILLED, "web1", 50, 500),),
                promises=(
                    Promise(DEATH, f"only connections of {MORTAL} break", kept, "1 of others"),
                    Promise(KILL, "nothing breaks", True, "0 broken"),
                ),
                rerouted_ms=150,
            )

    monkeypatch.setattr(lab, "Lab", Nothing)
    monkeypatch.setattr(lab, "Story", Told)
    return CliRunner().invoke(command)


def cells(output: str) -> list[list[str]]:
    """The rows of tables; columns stand two blanks apart."""
    rows = [line.split("  ") for line in output.splitlines()]
    return [[cell.strip() for cell in row if cell] for row in rows]


def test_a_broken_promise_is_named_and_gives_exit_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    done = told(monkeypatch, kept=False)
    assert done.exit_code == 1
    assert [DEATH, f"only connections of {MORTAL} break", "no", "1 of others"] in cells(done.output)
    assert "NOT as promised: 1 of 2 promises broken" in done.output


def test_the_report_shows_who_answered_and_who_carried(monkeypatch: pytest.MonkeyPatch) -> None:
    done = told(monkeypatch, kept=True)
    assert done.exit_code == 0
    shown = cells(done.output)
    assert [DEATH, "100", "97", "97", "12"] in shown
    assert [DEATH, MORTAL, "2"] in shown
    assert [KILLED, "web1", "50", "500"] in shown
    assert done.output.endswith("as promised; the router went round the dead instance in 150 ms\n")


def test_a_lab_that_does_not_come_up_is_an_error_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Nothing):
        def start_all(self) -> None:
            raise lab.LabError("agents: not within 20 s")

    monkeypatch.setattr(lab, "Lab", Broken)
    done = CliRunner().invoke(command)
    assert done.exit_code == 1
    assert done.output == "Error: agents: not within 20 s\n"
