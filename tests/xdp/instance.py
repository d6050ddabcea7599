"""A forwarder that holds the services of the packet vectors, and frames put through it."""

import ctypes
import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import numpy as np

from turnout.core import reasons
from turnout.kernel import bpf, netns
from turnout.kernel.libbpf import TestRunOpts, libbpf
from turnout.plan import (
    NextHop,
    Plan,
    PlannedMember,
    PlannedService,
    PlannedTable,
    PlannedVip,
)
from turnout.xdp import Forwarder

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / "vectors" / "packets.json").read_text()
)
VERDICTS = {
    "PASS": bpf.XDP_PASS,
    "TX": bpf.XDP_TX,
    "REDIRECT": bpf.XDP_REDIRECT,
    "DROP": bpf.XDP_DROP,
}
VERDICT_OF = {reason.name: VERDICTS[reason.verdict] for reason in reasons()}

SAME = 1
"""The interface that test runs come in by: loopback."""


@contextmanager
def other_interface() -> Iterator[int]:
    """The calling thread is in a namespace with a second interface, of this index."""
    name = "turnout-test-xdp"
    netns.remove(name)
    netns.create(name)
    try:
        with netns.inside(name):
            add = ["ip", "link", "add", "other", "type", "veth", "peer", "name", "far"]
            subprocess.run(add, check=True)
            yield socket.if_nametoindex("other")
    finally:
        netns.remove(name)


def mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))


def vector_plan(other: int) -> Plan:
    """The services of the vectors, each with a pool of one member."""
    members, tables, services = [], [], []
    vips: dict[str, set[Any]] = {}
    interfaces = {"same": SAME, "other": other}
    for number, s in enumerate(VECTORS["services"], 1):
        hop = None
        if s["egress"]:
            hop = NextHop(
                interfaces[s["egress"]],
                s["vlan"],
                mac(VECTORS["own_mac"]),
                mac(VECTORS["next_hop"]),
                s["mtu"],
            )
        members.append(
            PlannedMember(
                number,
                (s["name"], "one"),
                ip_address(s["backend"]),
                ip_address(s["source"]),
                s["state"],
                hop,
            )
        )
        table = PlannedTable(s["name"], 101, ("one",), (1,), (number,), np.zeros(101, np.uint16))
        tables.append(table)
        services.append(
            PlannedService(
                number,
                s["name"],
                ip_address(s["vip"]),
                s["protocol"],
                s["port"],
                table.key,
                s["encapsulation"],
                s["hash"],
                bytes.fromhex(VECTORS["hash_key"]),
            )
        )
        vips.setdefault(s["vip"], set()).add(s["protocol"])
    planned = tuple(
        PlannedVip(number, ip_address(vip), frozenset(protocols))
        for number, (vip, protocols) in enumerate(vips.items(), len(services) + 1)
    )
    return Plan("lb1", tuple(members), tuple(tables), tuple(services), planned, ())


class Runner:
    """Puts frames through a program, without making anything anew for each."""

    def __init__(self, program: bpf.Program, longest: int = 16384) -> None:
        self._program = program
        self._in = ctypes.create_string_buffer(longest)
        self._out = ctypes.create_string_buffer(longest + 256)
        self._options = TestRunOpts(
            sz=ctypes.sizeof(TestRunOpts),
            data_in=ctypes.addressof(self._in),
            data_out=ctypes.addressof(self._out),
            repeat=1,
        )
        self._reference = ctypes.byref(self._options)
        self._run = libbpf().bpf_prog_test_run_opts

    def run(self, frame: bytes) -> tuple[int, bytes]:
        """Verdict and what the frame has become."""
        options = self._options
        ctypes.memmove(self._in, frame, len(frame))
        options.data_size_in = len(frame)
        options.data_size_out = len(self._out)
        result = self._run(self._program.fd, self._reference)
        assert result == 0, f"test run of {frame.hex()}: {result}"
        return options.retval, ctypes.string_at(self._out, options.data_size_out)


def counted(forwarder: Forwarder) -> dict[str, int]:
    """Reasons met since the forwarder was loaded."""
    return {name: count for name, count in forwarder.counters().reasons.items() if count}


def difference(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {k: v - before.get(k, 0) for k, v in after.items() if v != before.get(k, 0)}
