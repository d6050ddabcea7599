import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.api.example import Example, example, served
from turnout.cli import main

HEAVY = ("numpy", "pydantic", "pyroute2", "starlette", "structlog", "uvicorn", "yaml", "asyncio")


@pytest.fixture
def known(tmp_path: Path) -> Example:
    return example(tmp_path)


def show(known: Example, tmp_path: Path, *arguments: str) -> str:
    with served(known, tmp_path / "turnout.sock") as path:
        result = CliRunner().invoke(main, ["show", *arguments, "--socket", str(path)])
    assert result.exit_code == 0, result.output
    return result.output


def test_status(known: Example, tmp_path: Path) -> None:
    lines = show(known, tmp_path, "status").splitlines()
    assert [line.split(maxsplit=1) for line in lines] == [
        ["instance:", "lb1"],
        ["version:", "0.1.0"],
        ["file:", str(tmp_path / "fleet.yaml")],
        ["generation:", "3"],
        ["uptime:", "00:01:15"],
        ["interface:", "eth0 (native)"],
        ["announced:", "192.0.2.10, 192.0.2.20"],
    ]


def test_services(known: Example, tmp_path: Path) -> None:
    head, *rows = show(known, tmp_path, "services").splitlines()
    assert head.split() == (
        [
            "SERVICE",
            "VIP",
            "PROTOCOL",
            "PORT",
            "POOL",
            "UP",
            "ANNOUNCED",
            "PACKETS",
            "BYTES",
            "NEW",
            "FLOWS",
        ]
    )
    assert [row.split() for row in rows] == [
        ["www", "192.0.2.10", "tcp", "80", "web", "1/2", "yes", "10", "1000", "4"],
        ["other", "192.0.2.20", "udp", "all", "all", "1/3", "yes", "7", "700", "0"],
    ]


def test_backends(known: Example, tmp_path: Path) -> None:
    _, web1, web2, web3 = show(known, tmp_path, "backends").splitlines()
    assert web1.split()[:7] == [
        *("web", "web1", "10.0.2.11", "up", "1970-01-01T00:16:50Z", "3", "75.0%"),
    ]
    assert "all:60.0%" in web1
    assert web2.endswith("connection refused")
    assert web3.split()[:4] == ["all", "web3", "10.0.2.13", "draining"]


def test_counters_hide_what_never_happened(known: Example, tmp_path: Path) -> None:
    _, *rows = show(known, tmp_path, "counters").splitlines()
    assert [row.split()[:3] for row in rows] == [
        ["not_service", "PASS", "1234"],
        ["forwarded", "TX", "17"],
    ]
    assert "no_member" in show(known, tmp_path, "counters", "--all")


@pytest.mark.parametrize("name", ["status", "services", "backends", "counters"])
def test_json_is_the_document_of_the_interface(known: Example, tmp_path: Path, name: str) -> None:
    document = json.loads(show(known, tmp_path, name, "-o", "json"))
    assert document["instance"] == "lb1" if name == "status" else len(document[name]) >= 2


def test_without_a_daemon_the_socket_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nobody.sock"
    result = CliRunner().invoke(main, ["show", "status", "--socket", str(path)])
    assert result.exit_code == 1
    assert result.output == f"Error: no daemon at {path}: is `turnout run` running?\n"


@pytest.mark.parametrize("arguments", [["--version"], ["show", "status", "--socket", "/nobody"]])
def test_short_commands_import_nothing_heavy(arguments: list[str]) -> None:
    code = f"import sys\nfrom turnout.cli import main\nmain({arguments!r}, standalone_mode=False)\n"
    report = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print(sorted(set(sys.modules) & set({HEAVY!r}))))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", report + code], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr
