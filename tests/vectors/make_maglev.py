"""Writes maglev.json and flow_hash.json from the independent twins in the tests.

python -m tests.vectors.make_maglev
"""

import json
from hashlib import blake2b
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import numpy as np

from tests.core.test_flow import canonical, siphash13
from tests.maglev import oracle
from turnout.core import Flow

HERE = Path(__file__).parent


def tables() -> list[dict[str, Any]]:
    found = []
    for name, names, weights, size, whole in (
        ("three equal", ["a", "b", "c"], [1, 1, 1], 13, True),
        ("three weighted", ["a", "b", "c"], [3, 5, 11], 101, True),
        ("more remainders than slots", list("zyxwvuts"), [1, 1, 1, 1, 2, 2, 2, 9], 11, True),
        ("names beyond ASCII", ["web-é", "web-e", "wëb"], [2, 1, 1], 31, True),
        ("ten of 65537", [f"web{i}" for i in range(10)], [1] * 10, 65_537, False),
        (
            "weights 1..10",
            [f"web{i}" for i in range(20)],
            [1 + i % 10 for i in range(20)],
            10_007,
            False,
        ),
    ):
        table = oracle.build(names, weights, size)
        raw = np.array(table, "<u2").tobytes()
        vector = {"name": name, "names": names, "weights": weights, "size": size}
        vector["digest"] = blake2b(raw, digest_size=16).hexdigest()
        if whole:
            vector["table"] = table
        found.append(vector)
    return found


def hashes() -> list[dict[str, Any]]:
    found = []
    for name, source, vip, source_port, vip_port, protocol, key, client_only in (
        ("IPv4 TCP, zero key", "198.51.100.1", "192.0.2.10", 49152, 80, 6, bytes(16), False),
        ("IPv4 TCP", "198.51.100.1", "192.0.2.10", 49152, 80, 6, bytes(range(16)), False),
        ("IPv4 UDP", "198.51.100.255", "192.0.2.53", 65535, 53, 17, bytes(range(16)), False),
        ("IPv4 client", "198.51.100.1", "192.0.2.10", 49152, 80, 6, bytes(range(16)), True),
        ("IPv6 TCP, zero key", "2001:db8:1::7", "2001:db8::10", 1, 443, 6, bytes(16), False),
        ("IPv6 TCP", "2001:db8:1::7", "2001:db8::10", 1, 443, 6, bytes(range(16)), False),
        ("IPv6 UDP", "2001:db8:1::7", "2001:db8::10", 1, 443, 17, bytes(range(16)), False),
        ("IPv6 client", "2001:db8:1::7", "2001:db8::10", 1, 443, 6, bytes(range(16)), True),
    ):
        flow = Flow(ip_address(source), ip_address(vip), source_port, vip_port, protocol)
        found.append(
            {
                "name": name,
                "source": source,
                "vip": vip,
                "source_port": source_port,
                "vip_port": vip_port,
                "protocol": protocol,
                "key": key.hex(),
                "client_only": client_only,
                "hash": f"{siphash13(key, canonical(flow, client_only)):016x}",
            }
        )
    return found


def write(name: str, vectors: list[dict[str, Any]]) -> None:
    (HERE / name).write_text(json.dumps(vectors, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    write("maglev.json", tables())
    write("flow_hash.json", hashes())
