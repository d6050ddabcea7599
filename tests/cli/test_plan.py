"""turnout plan, as a person runs it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from turnout.cli.plan import command

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "minimal.yaml")


def test_every_step_of_a_first_start_is_printed() -> None:
    result = CliRunner().invoke(command, [EXAMPLE, "--instance", "lb1"])
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    kinds = [line.split()[1] for line in lines]
    assert kinds == sorted(kinds, key=["member", "table", "service", "VIP"].index)
    assert {line.split()[0] for line in lines} == {"add"}
    assert "up" in lines[0]


def test_json_is_the_whole_plan() -> None:
    result = CliRunner().invoke(command, [EXAMPLE, "--instance", "lb1", "-o", "json"])
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document["instance"] == "lb1"
    for table in document["tables"]:
        assert sum(member["slots"] for member in table["members"]) == table["size"]
    numbers = {member["number"] for member in document["members"]}
    assert {m["number"] for table in document["tables"] for m in table["members"]} == numbers


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([EXAMPLE, "--instance", "nobody"], "no instance is named 'nobody': expected one of lb1"),
        (["nosuch.yaml", "--instance", "lb1"], "nosuch.yaml:1:1: cannot read: No such file"),
    ],
)
def test_what_is_wrong_is_said_and_is_status_2(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""
