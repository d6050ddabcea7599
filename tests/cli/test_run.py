"""What `turnout run` refuses before it touches the machine. A daemon at work: tests/lab."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.daemon.fakes import FLEET
from turnout.cli import main


def run(tmp_path: Path, text: str, *options: str) -> Result:
    (tmp_path / "fleet.yaml").write_text(text)
    arguments = ["run", str(tmp_path / "fleet.yaml"), "--socket", str(tmp_path / "turnout.sock")]
    result = CliRunner().invoke(main, [*arguments, *options])
    assert not (tmp_path / "turnout.sock").exists()
    return result


def test_every_error_of_the_file_is_printed_with_its_place(tmp_path: Path) -> None:
    text = FLEET.replace("port: 80, pool: web", "port: 99999, pool: wbe")
    result = run(tmp_path, text, "--instance", "lb1")
    assert result.exit_code == 2
    places = [line.split(":")[:2] for line in result.stderr.splitlines()]
    assert places == [[str(tmp_path / "fleet.yaml"), "12"]] * 2


def test_an_instance_that_the_file_does_not_know_is_refused(tmp_path: Path) -> None:
    result = run(tmp_path, FLEET, "--instance", "lb9")
    assert result.exit_code == 2
    assert result.stderr == (
        f"{tmp_path}/fleet.yaml: instances: found no 'lb9'; known: lb1; name one by --instance\n"
    )


@pytest.mark.parametrize("metrics", ["9100", ":9100", "127.0.0.1:", "127.0.0.1:0", "[::1]:65536"])
def test_metrics_need_an_address_and_a_port(tmp_path: Path, metrics: str) -> None:
    result = run(tmp_path, FLEET, "--instance", "lb1", "--metrics", metrics)
    assert result.exit_code == 2
    assert "expected ADDRESS:PORT" in result.stderr
