"""turnout mtu, as a person runs it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from turnout.cli.mtu import command

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "dual-stack.yaml")


def test_each_service_has_a_line_for_each_family_of_its_backends() -> None:
    result = CliRunner().invoke(command, [EXAMPLE])
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()[1:]]
    assert ["www", "gue", "IPv4", "IPv4", "28", "1472", "1432", "1528", "1542", "1546"] in rows
    assert ["www6", "ipip", "IPv6", "IPv6", "40", "1460", "1400", "1540", "1554", "1558"] in rows
    assert len(rows) == 8


def test_json_has_the_same_numbers() -> None:
    result = CliRunner().invoke(command, [EXAMPLE, "--link-mtu", "9000", "-o", "json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)[0] == {
        "service": "www",
        "encapsulation": "gue",
        "inner": 4,
        "outer": 4,
        "overhead": 28,
        "largest_inner": 8972,
        "mss": 8932,
        "link_mtu": 1528,
        "frame": 1542,
        "tagged_frame": 1546,
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([EXAMPLE, "--link-mtu", "900"], "link MTU: 900: expected 1280 to 65535 bytes"),
        ([EXAMPLE, "--client-mtu", "70000"], "client MTU: 70000: expected 1280 to 65535 bytes"),
        ([EXAMPLE, "--link-mtu", "many"], "'many' is not a valid integer"),
        (["nosuch.yaml"], "nosuch.yaml:1:1: cannot read: No such file"),
    ],
)
def test_what_is_wrong_is_said_and_is_status_2(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""
