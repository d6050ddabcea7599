import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from turnout.cli import main

ROOT = Path(__file__).parents[2]
BASE = (ROOT / "tests" / "config" / "base.yaml").read_text()


@pytest.mark.parametrize("name", ["minimal.yaml", "dual-stack.yaml", "switch.yaml"])
def test_examples_run_as_they_stand(name: str) -> None:
    result = CliRunner().invoke(main, ["check", str(ROOT / "examples" / name)])
    assert result.exit_code == 0, result.output


def test_who_serves_what(tmp_path: Path) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text(BASE.replace("web1: {}", "web1: {weight: 3}"))
    result = CliRunner().invoke(main, ["check", str(path)])
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "SERVICE  VIP         PROTOCOL  PORT  POOL  MEMBER  ADDRESS   SHARE",
        "www      192.0.2.10  tcp         80  web   web1    10.0.2.1  75.00%",
        "www      192.0.2.10  tcp         80  web   web2    10.0.2.2  25.00%",
        "announced by lb1",
    ]
    assert result.stderr.startswith(f"{path}:1:1: key_file: none")


def test_json(tmp_path: Path) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text(BASE.replace("web2: {}", "web2: {drain: true}"))
    result = CliRunner().invoke(main, ["check", str(path), "-o", "json"])
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["instances"] == ["lb1"]
    (service,) = found["services"]
    assert (service["vip"], service["port"], service["encapsulation"]) == ("192.0.2.10", 80, "gue")
    assert [(m["backend"], m["drain"]) for m in service["members"]] == [
        ("web1", False),
        ("web2", True),
    ]
    assert sum(m["share"] for m in service["members"]) == pytest.approx(1, abs=1e-5)


def test_what_a_switch_splits() -> None:
    words = ["check", str(ROOT / "examples" / "switch.yaml")]
    lines = CliRunner().invoke(main, words).stdout.splitlines()
    # Four rules allow 76 of 256 where 76.8 are asked for.
    assert lines[-3:] == [
        "SWITCH  BRIDGE               SPLIT  SERVICE  RULES  TARGET  PORT  SHARE",
        "edge    tcp:10.0.1.254:6653  www    www          4  lb1     eth1  29.69%",
        "edge    tcp:10.0.1.254:6653  www    www          4  lb2     eth2  70.31%",
    ]
    (split,) = json.loads(CliRunner().invoke(main, [*words, "-o", "json"]).stdout)["splits"]
    assert [target["share"] for target in split["targets"]] == [76 / 256, 180 / 256]


def test_errors_are_printed_all_and_the_status_is_2(tmp_path: Path) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text(BASE.replace("port: 80", "port: 0").replace("[eth0]", "[]"))
    result = CliRunner().invoke(main, ["check", str(path)])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert [line.split(": ")[0] for line in result.stderr.splitlines()] == [
        f"{path}:3:17",
        f"{path}:15:47",
        "2 errors, nothing would be served",
    ]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["check", str(tmp_path / "none.yaml")])
    assert result.exit_code == 2
    assert "none.yaml:1:1: cannot read" in result.stderr


def test_schema_is_json() -> None:
    result = CliRunner().invoke(main, ["schema"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["title"] == "Turnout fleet"
