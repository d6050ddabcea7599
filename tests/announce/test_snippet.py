"""What BIRD makes of the snippet; with routes and a router: tests/lab/test_announce.py."""

import subprocess
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import pytest
from click.testing import CliRunner

from turnout.announce import snippet
from turnout.cli.announce import command
from turnout.config import Fleet, load

FLEET = """
announcement: {local_as: 65001, peer_as: 65000}
instances:
  both: {interfaces: [eth0], addresses: [10.0.1.1, "fd00:1::1"], routers: [10.0.1.254, "fd00:1::fe"]}
  one-session: {interfaces: [eth0], addresses: [10.0.1.2, "fd00:1::2"], routers: [10.0.1.254]}
  only6: {interfaces: [eth0], addresses: ["fd00:1::3"], routers: ["fd00:1::fe", "fd00:1::fd"]}
  alone: {interfaces: [eth0], addresses: ["fd00:1::4"]}
backends: {web1: {address: "fd00:2::1"}}
pools: {web: {members: {web1: {}}}}
services: {www: {vip: "2001:db8::10", protocol: tcp, port: 80, pool: web}}
"""
NAMES = ["both", "one-session", "only6"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "fleet.yaml"
    file.write_text(FLEET)
    return file


@pytest.fixture
def fleet(file: Path) -> Fleet:
    return load(file)


def bird_says(directory: Path, text: str) -> str:
    """BIRD's complaint about a configuration, empty for none."""
    file = directory / "bird.conf"
    file.write_text(text)
    done = subprocess.run(
        ["bird", "-p", "-c", str(file)], capture_output=True, text=True, timeout=10, check=False
    )
    assert (done.returncode == 0) == (not done.stderr)
    return done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_bird_takes_it(tmp_path: Path, fleet: Fleet, name: str) -> None:
    text = snippet(fleet, name)
    head = "".join(
        line.removeprefix("# What includes this needs: ") + "\n"
        for line in text.splitlines()
        if line.startswith("# What includes this needs: ")
    )
    router_id = "" if fleet.instances[name].source(4) else "router id 10.0.0.1;\n"
    assert bird_says(tmp_path, head + router_id + text) == ""
    assert "syntax error" in bird_says(tmp_path, head + router_id + text[:-3])


def test_bird_takes_it_beside_its_users_own_protocols(tmp_path: Path, fleet: Fleet) -> None:
    users = """
router id 10.9.9.9;
protocol device {}
protocol kernel { scan time 60; ipv4 { export all; }; }
protocol kernel { scan time 60; ipv6 { export all; }; }
"""
    (tmp_path / "turnout.conf").write_text(snippet(fleet, "both"))
    include = f'include "{tmp_path}/turnout.conf";\n'
    assert bird_says(tmp_path, users + include) == ""
    assert bird_says(tmp_path, include + users) == ""


def test_without_an_ipv4_address_it_says_that_a_router_id_is_needed(fleet: Fleet) -> None:
    assert "router id A.B.C.D;" in snippet(fleet, "only6")
    assert "router id 10.0.1.1;" in snippet(fleet, "both")
    assert "A.B.C.D" not in snippet(fleet, "both")


def test_a_family_without_a_router_is_told_to_the_other_familys(fleet: Fleet) -> None:
    sessions = {name: snippet(fleet, name).split("protocol bgp ")[1:] for name in NAMES}
    channels = {
        name: [("ipv4 {" in text, "ipv6 {" in text) for text in texts]
        for name, texts in sessions.items()
    }
    assert channels == {
        "both": [(True, False), (False, True)],
        "one-session": [(True, True)],
        "only6": [(False, True), (False, True)],
    }


def test_table_and_protocol_are_the_fleets(fleet: Fleet) -> None:
    announcement = replace(fleet.announcement, table=7480, protocol=99, local_as=4200000001)
    text = snippet(replace(fleet, announcement=announcement), "both")
    assert text.count("kernel table 7480;") == 2
    assert text.count("import where krt_source = 99;") == 2
    assert text.count(" as 4200000001;") == 2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("lb9", "no instance is named 'lb9': expected one of both, one-session, only6, alone"),
        ("alone", "instances.alone.routers: none, expected the BGP neighbours to tell"),
    ],
)
def test_who_cannot_announce_is_told_why(file: Path, fleet: Fleet, name: str, message: str) -> None:
    with pytest.raises(ValueError, match="^" + message):
        snippet(fleet, name)
    done = CliRunner().invoke(command, ["snippet", str(file), "--instance", name])
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr


def test_the_command_prints_it(file: Path, fleet: Fleet) -> None:
    done = CliRunner().invoke(command, ["snippet", str(file), "--instance", "both"])
    assert (done.exit_code, done.stdout) == (0, snippet(fleet, "both"))


def test_the_command_refuses_a_wrong_file_whole(tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(FLEET.replace("addresses", "adresses", 1))
    done = CliRunner().invoke(command, ["snippet", str(file), "--instance", "both"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{file}:4:" in done.stderr


def test_the_routers_are_the_ones_configured(fleet: Fleet) -> None:
    own = fleet.instances["both"]
    routers = tuple(map(ip_address, ("10.0.1.9", "10.0.1.8")))
    text = snippet(replace(fleet, instances={"both": replace(own, routers=routers)}), "both")
    assert [line.split()[1] for line in text.splitlines() if "neighbor" in line] == [
        "10.0.1.9",
        "10.0.1.8",
    ]
