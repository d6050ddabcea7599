"""The agent under real traffic: links of 1500 bytes, offloads left on, every encapsulation and mix.

web1 has an IPv4 address, web2 an IPv6 address; one instance, to which the router sends every VIP.
"""

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from itertools import product
from typing import Any

import pytest
from scapy.layers.inet import TCP
from scapy.layers.l2 import ARP, Ether

from tests.lab.client import Address, ask
from turnout.lab import PORT, ROUTER, Lab, Topology

TOPOLOGY = Topology(clients=1, instances=1, backends=2, mtu=1500)
BACKEND = {4: "web1", 6: "web2"}
OVERHEAD = {"gue": 8, "gre": 4, "ipip": 0}
HEADER = {4: 20, 6: 40}
UPLOAD = 5 << 20
WAIT_TO_MERGE = """
set -e
mount -t sysfs none /sys
echo 2000000 > /sys/class/net/eth0/gro_flush_timeout
echo 20 > /sys/class/net/eth0/napi_defer_hard_irqs
"""


@dataclass(frozen=True)
class Case:
    encapsulation: str
    inner: int
    outer: int
    vip: Address

    def __str__(self) -> str:
        return f"{self.encapsulation}-ipv{self.inner}-in-ipv{self.outer}"

    @property
    def largest_mss(self) -> int:
        overhead = OVERHEAD[self.encapsulation] + HEADER[self.outer]
        return 1500 - overhead - HEADER[self.inner] - 20


CASES = [
    Case(
        encapsulation,
        inner,
        outer,
        ip_address(("192.0.2." if inner == 4 else "2001:db8::") + str(n)),
    )
    for n, (encapsulation, inner, outer) in enumerate(product(OVERHEAD, (4, 6), (4, 6)), 11)
]
each_case = pytest.mark.parametrize("case", CASES, ids=str)


def fleet() -> dict[str, Any]:
    content = TOPOLOGY.fleet()
    for version, host in zip((4, 6), TOPOLOGY.backend_hosts(), strict=True):
        content["backends"][host.name]["address"] = str(getattr(host, f"address{version}"))
    content["pools"] = {name: {"members": {name: {}}} for name in BACKEND.values()}
    content["services"] = {
        str(case): {
            "vip": str(case.vip),
            "protocol": "tcp",
            "port": PORT,
            "pool": BACKEND[case.outer],
            "encapsulation": case.encapsulation,
        }
        for case in CASES
    }
    return content


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab(TOPOLOGY, fleet=fleet()) as lab:
        (instance,) = TOPOLOGY.instance_hosts()
        for vips, via in (
            ("192.0.2.0/24", instance.address4),
            ("2001:db8::/64", instance.address6),
        ):
            lab.run(ROUTER, ["ip", f"-{via.version}", "route", "add", vips, "via", str(via)])
        for name in BACKEND.values():
            # As a host with its own mind: strict, checksums partial, and packets merged (a veth
            # merges what comes from a peer that does not send merged packets itself).
            for setting in ("all.rp_filter=1", "eth0.rp_filter=1"):
                lab.run(name, ["sysctl", "-w", f"net.ipv4.conf.{setting}"])
            lab.run(ROUTER, ["ethtool", "-K", name, "tx", "on", "gso", "on"])
            lab.run(name, ["ethtool", "-K", "eth0", "gro", "on", "tso", "on"])
            lab.run(name, ["unshare", "--mount", "sh", "-c", WAIT_TO_MERGE])
        lab.start_daemon(instance.name)
        lab.start_backends(BACKEND.values())
        lab.wait(lambda: lab.answers(instance.name), "daemon")
        lab.wait(lambda: not lab.down(instance.name), "both backends served")
        yield lab


def segments_received(lab: Lab, backend: str) -> int:
    names, values = (
        line.split()
        for line in lab.run(backend, ["cat", "/proc/net/snmp"]).stdout.splitlines()
        if line.startswith("Tcp:")
    )
    return int(values[names.index("InSegs")])


@each_case
def test_the_client_is_offered_what_fits_encapsulated(lab: Lab, case: Case) -> None:
    with lab.socket("client1", socket.AF_PACKET, socket.SOCK_RAW) as tap:
        tap.bind(("eth0", 3))  # ETH_P_ALL
        tap.settimeout(5)
        ask(lab, "client1", case.vip)
        while True:
            frame = Ether(tap.recv(2048))
            if TCP in frame and frame[TCP].sport == PORT and frame[TCP].flags == "SA":
                break
    assert dict(frame[TCP].options)["MSS"] == case.largest_mss


@each_case
def test_an_upload_arrives_with_offloads_on(lab: Lab, case: Case) -> None:
    before = segments_received(lab, BACKEND[case.outer])
    assert ask(lab, "client1", case.vip, bytes(UPLOAD)).received == UPLOAD
    merged = segments_received(lab, BACKEND[case.outer]) - before
    # The kernel looks into GRE and IP in IP; in UDP only for sockets that ask for it.
    assert case.encapsulation == "gue" or merged < UPLOAD / case.largest_mss / 2


def test_a_backend_does_not_answer_arp_for_a_vip(lab: Lab) -> None:
    (web1, _) = TOPOLOGY.backend_hosts()
    vip = next(case.vip for case in CASES if (case.inner, case.outer) == (4, 4))
    with lab.socket(ROUTER, socket.AF_PACKET, socket.SOCK_RAW) as raw:
        raw.bind(("backends", 0x0806))
        raw.settimeout(5)
        mac = ":".join(f"{byte:02x}" for byte in raw.getsockname()[4])
        for address in (vip, web1.address4):
            question = ARP(hwsrc=mac, psrc="10.0.2.254", pdst=str(address))
            raw.send(bytes(Ether(src=mac, dst="ff:ff:ff:ff:ff:ff") / question))
        while True:
            answer = Ether(raw.recv(2048))
            if ARP in answer and answer[ARP].op == 2:
                break
    # Questions are answered in their order: there was no answer to the first.
    assert answer[ARP].psrc == str(web1.address4)
