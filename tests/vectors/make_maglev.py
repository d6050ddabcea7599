"""Writes maglev.json, choice.json and flow_hash.json from the independent twins in the tests.

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


def digest(table: list[int]) -> str:
    return blake2b(np.array(table, "<u2").tobytes(), digest_size=16).hexdigest()


def tables() -> dict[str, list[dict[str, Any]]]:
    """Small tables whole; of large ones the BLAKE2b of their entries as little-endian words."""
    small: list[dict[str, Any]] = [
        {"names": names, "weights": weights, "size": size}
        for names, weights, size in (
            (["a", "b", "c"], [1, 1, 1], 13),
            (["a", "b", "c"], [3, 5, 11], 101),
            # More remainders than slots.
            (list("zyxwvuts"), [1, 1, 1, 1, 2, 2, 2, 9], 11),
            (["web-é", "web-e", "wëb"], [2, 1, 1], 31),
        )
    ]
    for vector in small:
        vector["table"] = oracle.build(**vector)
    # Member i is backend-i and weighs 1 + i mod `weights`.
    large: list[dict[str, Any]] = [
        {"members": members, "weights": weights, "size": size}
        for members, weights, size in (
            (10, 1, 65_537),
            (20, 10, 10_007),
            # Products of a slot's rank and a skip need more than 32 bits.
            (1000, 1, 655_373),
            (1000, 10, 655_373),
        )
    ]
    for vector in large:
        names = [f"backend-{i}" for i in range(vector["members"])]
        weights = [1 + i % vector["weights"] for i in range(vector["members"])]
        vector["digest"] = digest(oracle.build(names, weights, vector["size"]))
    return {"small": small, "large": large}


def choices() -> dict[str, Any]:
    """Mixes of h for each try, and members of one table with some, most and all of them down."""
    names = [f"web{i}" for i in range(7)]
    weights, size = [1, 1, 2, 3, 1, 1, 5], 101
    table = oracle.build(names, weights, size)
    spread = [i * 0x9E3779B97F4A7C15 % 2**64 for i in range(1, 25)]
    edges = [0, 2**32 - 1, 2**32, 2**63, 2**64 - 1]
    downs: list[list[int]] = [[], [6], [0, 3], [0, 2, 3, 4, 5, 6], list(range(7))]
    return {
        "tries": [
            {"h": h, "tries": [oracle.second_try(h, i) for i in range(1, 11)]}
            for h in (0, 1, 0x80000000, 0xFFFFFFFF, 0x12345678)
        ],
        "names": names,
        "weights": weights,
        "size": size,
        "choices": [
            {
                "down": down,
                "members": [
                    [
                        f"{hash_:016x}",
                        oracle.lookup(table, hash_, [i not in down for i in range(7)]),
                    ]
                    for hash_ in edges + spread
                ],
            }
            for down in downs
        ],
    }


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


def write(name: str, vectors: Any) -> None:
    (HERE / name).write_text(json.dumps(vectors, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    write("maglev.json", tables())
    write("choice.json", choices())
    write("flow_hash.json", hashes())
