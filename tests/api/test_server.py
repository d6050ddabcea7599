import json
import socket
import stat
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.api.example import Example, before_the_first_pass, example, served
from turnout.api import SocketInUseError, public_application, tcp_socket, unix_socket
from turnout.cli.client import UnixConnection

POOL_MEMBERS = "turnout_pool_members"


def ask(path: Path, target: str, method: str = "GET") -> tuple[int, str]:
    connection = UnixConnection(path)
    connection.request(method, target)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


@pytest.fixture
def known(tmp_path: Path) -> Example:
    return example(tmp_path)


def test_each_document_is_under_its_name(known: Example, tmp_path: Path) -> None:
    with served(known, tmp_path / "turnout.sock") as path:
        documents = {
            name: json.loads(ask(path, f"/v1/{name}")[1])
            for name in ("status", "services", "backends", "counters", "plan")
        }
    assert documents["status"]["instance"] == "lb1"
    assert [row["name"] for row in documents["services"]["services"]] == ["www", "other"]
    assert [row["backend"] for row in documents["backends"]["backends"]] == ["web1", "web2", "web3"]
    assert {"reason", "verdict", "packets", "meaning"} == set(documents["counters"]["counters"][0])
    assert documents["plan"]["instance"] == "lb1"


def test_no_secret_and_no_way_to_change(known: Example, tmp_path: Path) -> None:
    plan = known.snapshot.plan
    assert plan is not None
    with served(known, tmp_path / "turnout.sock") as path:
        everything = "".join(
            ask(path, target)[1]
            for target in ("/v1/status", "/v1/services", "/v1/backends", "/v1/plan", "/metrics")
        )
        assert ask(path, "/v1/status", "POST")[0] == 405
        assert ask(path, "/v2/status")[0] == 404
    for service in plan.services:
        assert service.hash_key.hex() not in everything
        assert str(int.from_bytes(service.hash_key[:8], "little")) not in everything


def test_ready_only_when_a_generation_is_applied(known: Example, tmp_path: Path) -> None:
    applied = known.snapshot
    known.snapshot = before_the_first_pass(known)
    with served(known, tmp_path / "turnout.sock") as path:
        assert ask(path, "/healthz") == (200, "ok\n")
        assert ask(path, "/readyz")[0] == 503
        assert json.loads(ask(path, "/v1/plan")[1]) is None
        known.snapshot = applied
        assert ask(path, "/readyz") == (200, "ready\n")


def test_metrics_are_read_at_the_scrape(known: Example, tmp_path: Path) -> None:
    with served(known, tmp_path / "turnout.sock") as path:
        text = ask(path, "/metrics")[1]
    samples = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert samples["turnout_service_packets_total", "192.0.2.10", "80", "tcp", "www"] == 10
    assert samples["turnout_service_bytes_total", "192.0.2.20", "all", "other", "udp"] == 700
    assert samples["turnout_member_up", "web", "web1"] == 1
    assert samples["turnout_member_up", "web", "web2"] == 0
    assert samples["turnout_member_draining", "all", "web3"] == 1
    assert samples["turnout_member_new_flows_total", "web", "web1"] == 3
    assert samples["turnout_member_served", "web", "web1"] == 1
    assert samples["turnout_member_served", "web", "web2"] == 0
    assert samples["turnout_member_since_seconds", "web", "web1"] == 1010
    assert samples["turnout_member_weight", "web", "web1"] == 3
    assert samples["turnout_service_members", "192.0.2.10", "80", "tcp", "www"] == 2
    states = {key[1]: value for key, value in samples.items() if key[::2] == (POOL_MEMBERS, "web")}
    assert states == {"up": 1, "draining": 0, "down": 1, "unknown": 0}
    assert samples["turnout_packets_total", "TX", "forwarded"] == 17
    assert samples["turnout_packets_total", "DROP", "no_member"] == 0
    assert samples[("turnout_generation",)] == 3
    assert samples["turnout_announced", "192.0.2.10"] == 1
    assert samples["turnout_info", "0.1.0", "lb1"] == 1
    assert samples["turnout_interface_info", "eth0", "native"] == 1


def test_over_tcp_there_are_metrics_alone(known: Example) -> None:
    public = public_application(lambda: known.snapshot, lambda: known.counters)
    assert {getattr(route, "path", "") for route in public.routes} == {
        "/metrics",
        "/healthz",
        "/readyz",
    }
    with tcp_socket("127.0.0.1", 0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"


def test_the_socket_is_for_owner_and_group(tmp_path: Path) -> None:
    path = tmp_path / "run" / "turnout.sock"
    with unix_socket(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
    assert not path.exists()


def test_a_second_daemon_is_refused_and_leaves_the_first_alone(
    known: Example, tmp_path: Path
) -> None:
    path = tmp_path / "turnout.sock"
    with served(known, path):
        with pytest.raises(SocketInUseError, match=r"turnout\.sock"), unix_socket(path):
            pass
        assert ask(path, "/healthz")[0] == 200


def test_a_socket_left_over_is_replaced(known: Example, tmp_path: Path) -> None:
    path = tmp_path / "turnout.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    with served(known, path):
        assert ask(path, "/healthz")[0] == 200


def test_a_file_that_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "turnout.yaml"
    path.write_text("instances:")
    with pytest.raises(FileExistsError, match="is no socket"), unix_socket(path):
        pass
    assert path.read_text() == "instances:"


def test_a_stop_does_not_wait_for_idle_clients(known: Example, tmp_path: Path) -> None:
    path = tmp_path / "turnout.sock"
    idle = UnixConnection(path)
    with served(known, path):
        idle.request("GET", "/healthz")
        idle.getresponse().read()
    assert idle.sock.recv(1) == b"", "the connection is still open"
    idle.close()
