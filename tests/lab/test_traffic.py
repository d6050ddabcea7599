"""Real packets through real programs: every encapsulation, families mixed, every kind of instance.

One laboratory with links of 1500 bytes everywhere. Each client's packets are sent by another
instance, by a rule of the router: client1 to lb1 (native), client2 to lb2 (generic), client3 to
lb3 (native, sends by its second interface).
"""

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

import pytest

from tests.lab.client import Address, ask, echo, tell
from turnout.lab import PORT, ROUTER, Lab, Oracle, Topology

TOPOLOGY = Topology(clients=3, instances=3, backends=4, two_armed=1, mtu=1500)
INSTANCE_OF = {"client1": "lb1", "client2": "lb2", "client3": "lb3"}
MODES = {"lb1": "native", "lb2": "generic", "lb3": "native"}
POOLS = {4: ("web1", "web2"), 6: ("web3", "web4")}


@dataclass(frozen=True)
class Case:
    encapsulation: str
    inner: int
    outer: int
    vip: Address

    def __str__(self) -> str:
        return f"{self.encapsulation}-ipv{self.inner}-in-ipv{self.outer}"


def cases() -> Iterator[Case]:
    number = 10
    for encapsulation in ("gue", "ipip", "gre"):
        for outer in (4, 6):
            for inner in (4, 6):
                number += 1
                text = f"192.0.2.{number}" if inner == 4 else f"2001:db8::{number}"
                yield Case(encapsulation, inner, outer, ip_address(text))


CASES = list(cases())
each_case = pytest.mark.parametrize("case", CASES, ids=str)
each_client = pytest.mark.parametrize("client", INSTANCE_OF)


def fleet() -> dict[str, Any]:
    content = TOPOLOGY.fleet()
    for name, instance in content["instances"].items():
        instance["mode"] = MODES[name]
    addresses = {host.name: host.address6 for host in TOPOLOGY.backend_hosts()}
    for name in POOLS[6]:
        content["backends"][name]["address"] = str(addresses[name])
    check = content["pools"]["web"]["check"]
    content["pools"] = {
        f"v{outer}": {"members": {name: {} for name in names}, "check": check}
        for outer, names in POOLS.items()
    }
    content["services"] = {
        f"{case}-{protocol}": {
            "vip": str(case.vip),
            "protocol": protocol,
            "port": PORT,
            "pool": f"v{case.outer}",
            "encapsulation": case.encapsulation,
        }
        for case in CASES
        for protocol in ("tcp", "udp")
    }
    return content


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab(TOPOLOGY, fleet=fleet()) as lab:
        for number, host in enumerate(TOPOLOGY.instance_hosts()):
            lab.start_daemon(host.name)
            client = TOPOLOGY.client_hosts()[number]
            table = str(100 + number)
            for source, vips, via in (
                (client.address4, "192.0.2.0/24", host.address4),
                (client.address6, "2001:db8::/64", host.address6),
            ):
                version = f"-{via.version}"
                lab.run(
                    ROUTER, ["ip", version, "route", "add", vips, "via", str(via), "table", table]
                )
                lab.run(ROUTER, ["ip", version, "rule", "add", "from", str(source), "table", table])
        lab.start_backends(host.name for host in TOPOLOGY.backend_hosts())
        lab.wait(lambda: all(map(lab.answers, MODES)), "daemons")
        lab.wait(lambda: not any(map(lab.down, MODES)), "health of all backends")
        yield lab


@pytest.fixture(scope="module")
def oracle(lab: Lab) -> Oracle:
    return Oracle(lab.fleet)


@each_client
@each_case
def test_requests_reach_the_backend_that_the_table_names(
    lab: Lab, oracle: Oracle, case: Case, client: str
) -> None:
    seen: set[str] = set()
    # Half of the flows are each backend's; that a hundred are all one's is beyond belief.
    for _ in range(100):
        answer = ask(lab, client, case.vip)
        assert answer.backend == oracle.backend(answer.flow)
        seen.add(answer.backend)
        if seen == set(POOLS[case.outer]):
            break
    assert seen == set(POOLS[case.outer])


@each_client
@each_case
def test_an_upload_of_a_megabyte_arrives_over_links_of_1500_bytes(
    lab: Lab, case: Case, client: str
) -> None:
    assert ask(lab, client, case.vip, bytes(1 << 20)).received == 1 << 20


@each_client
@each_case
def test_datagrams_of_every_size_arrive(lab: Lab, case: Case, client: str) -> None:
    for size in (0, 1, 17, 1200):
        datagram = bytes(number % 251 for number in range(size))
        _, backend, got = tell(lab, client, case.vip, datagram)
        assert backend in POOLS[case.outer]
        assert got == datagram


@each_client
@pytest.mark.parametrize("inner", [4, 6])
def test_the_instance_answers_echo_requests_to_a_vip(lab: Lab, inner: int, client: str) -> None:
    vip = next(case.vip for case in CASES if case.inner == inner)
    before = counted(lab, INSTANCE_OF[client], "echo_answered")
    payloads = [bytes(size) + b"\xff" * (size % 7) for size in (0, 1, 8, 57, 1000, 1001)]
    for payload in payloads:
        assert echo(lab, client, vip, payload) == payload
    assert counted(lab, INSTANCE_OF[client], "echo_answered") - before == len(payloads)


@each_client
@pytest.mark.parametrize("version", [4, 6])
def test_traffic_to_the_instance_itself_is_left_alone(lab: Lab, client: str, version: int) -> None:
    host = next(h for h in TOPOLOGY.instance_hosts() if h.name == INSTANCE_OF[client])
    address: Address = host.address4 if version == 4 else host.address6
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    content = bytes(number % 253 for number in range(60_000))
    with lab.socket(host.name, family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # A port that a service has, too: it is the address that tells.
        listening.bind((str(address), PORT))
        listening.listen()
        listening.settimeout(5)
        with lab.socket(client, family, socket.SOCK_STREAM) as connection:
            connection.settimeout(5)
            connection.connect((str(address), PORT))
            accepted, _ = listening.accept()
            with accepted:
                accepted.settimeout(5)
                assert through(connection, accepted, content) == content
                assert through(accepted, connection, content) == content
    assert echo(lab, client, address, b"and pings") == b"and pings"


def test_a_port_of_no_service_is_not_forwarded(lab: Lab) -> None:
    vip = CASES[0].vip
    before = lab.document("lb1", "counters")["counters"]
    with lab.socket("client1", socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.settimeout(0.3)
        with pytest.raises(OSError, match=r"timed out|unreachable|refused"):
            connection.connect((str(vip), PORT + 1))
    after = lab.document("lb1", "counters")["counters"]
    grown = {
        row["reason"]
        for row, old in zip(after, before, strict=True)
        if row["packets"] > old["packets"]
    }
    assert "not_service" in grown
    assert not grown & {"forwarded", "redirected"}


def test_modes_in_force_are_those_asked_for(lab: Lab) -> None:
    for name, mode in MODES.items():
        interfaces = lab.document(name, "status")["interfaces"]
        assert {row["mode"] for row in interfaces} == {mode}
    assert len(lab.document("lb3", "status")["interfaces"]) == 2


def test_packets_leave_by_the_interface_that_leads_to_the_backend(lab: Lab) -> None:
    for case in CASES:
        for client in INSTANCE_OF:
            ask(lab, client, case.vip)
    for name in ("lb1", "lb2"):
        assert counted(lab, name, "forwarded") > 0
        assert counted(lab, name, "redirected") == 0
    assert counted(lab, "lb3", "redirected") > 0
    assert counted(lab, "lb3", "forwarded") == 0


def test_no_packet_was_dropped(lab: Lab) -> None:
    ask(lab, "client1", CASES[0].vip, bytes(1 << 20))
    for name in MODES:
        rows = lab.document(name, "counters")["counters"]
        dropped = {
            r["reason"]: r["packets"] for r in rows if r["verdict"] == "DROP" and r["packets"]
        }
        assert dropped == {}


def through(source: socket.socket, sink: socket.socket, content: bytes) -> bytes:
    """What arrives of `content`."""
    source.sendall(content)
    got = b""
    while len(got) < len(content) and (more := sink.recv(1 << 16)):
        got += more
    return got


def counted(lab: Lab, instance: str, reason: str) -> int:
    rows = lab.document(instance, "counters")["counters"]
    return int(next(row["packets"] for row in rows if row["reason"] == reason))
