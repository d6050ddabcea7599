"""The flow hash against SipHash-1-3 written from its paper, and golden vectors."""

import json
import subprocess
import sys
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.core import Flow, flow_hash, flow_hashes

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "flow_hash.json").read_text())

MASK = 2**64 - 1


def siphash13(key: bytes, message: bytes) -> int:
    """Aumasson and Bernstein 2012, section 2, with c = 1 and d = 3."""

    def rotate(x: int, b: int) -> int:
        return (x << b | x >> (64 - b)) & MASK

    k0, k1 = (int.from_bytes(half, "little") for half in (key[:8], key[8:]))
    v = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]

    def round_() -> None:
        v[0] = (v[0] + v[1]) & MASK
        v[1] = rotate(v[1], 13) ^ v[0]
        v[0] = rotate(v[0], 32)
        v[2] = (v[2] + v[3]) & MASK
        v[3] = rotate(v[3], 16) ^ v[2]
        v[0] = (v[0] + v[3]) & MASK
        v[3] = rotate(v[3], 21) ^ v[0]
        v[2] = (v[2] + v[1]) & MASK
        v[1] = rotate(v[1], 17) ^ v[2]
        v[2] = rotate(v[2], 32)

    padded = message + bytes(-(len(message) + 1) % 8) + bytes([len(message) & 0xFF])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        round_()
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(3):
        round_()
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def canonical(flow: Flow, client_only: bool) -> bytes:
    rest = (
        flow.vip.packed
        + flow.source_port.to_bytes(2, "big")
        + flow.vip_port.to_bytes(2, "big")
        + bytes([flow.protocol])
    )
    return flow.source.packed + (bytes(len(rest)) if client_only else rest)


ports = st.integers(0, 65_535)
flows = st.one_of(
    *(
        st.builds(
            Flow,
            st.integers(0, 2 ** (8 * kind(0).max_prefixlen // 8) - 1).map(kind),
            st.integers(0, 2 ** (8 * kind(0).max_prefixlen // 8) - 1).map(kind),
            ports,
            ports,
            st.sampled_from([6, 17]),
        )
        for kind in (IPv4Address, IPv6Address)
    )
)


@given(flows, st.binary(min_size=16, max_size=16), st.booleans())
def test_is_siphash_of_the_canonical_flow(flow: Flow, key: bytes, client_only: bool) -> None:
    assert flow_hash(flow, key, client_only) == siphash13(key, canonical(flow, client_only))


def test_the_oracle_agrees_with_cpython() -> None:
    """CPython hashes bytes by SipHash-1-3, by a key of zeros where hashing is not randomised."""
    messages = [bytes(range(n)) for n in (1, 7, 8, 13, 37)]
    code = f"import sys; print(sys.hash_info.algorithm, *(hash(m) for m in {messages!r}))"
    said = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert said[0] == "siphash13"
    assert [int(x) & MASK for x in said[1:]] == [siphash13(bytes(16), m) for m in messages]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_golden_vectors(vector: dict[str, str]) -> None:
    flow = Flow(
        ip_address(vector["source"]),
        ip_address(vector["vip"]),
        int(vector["source_port"]),
        int(vector["vip_port"]),
        int(vector["protocol"]),
    )
    found = flow_hash(flow, bytes.fromhex(vector["key"]), bool(vector["client_only"]))
    assert f"{found:016x}" == vector["hash"]


def test_clients_meet_one_member_in_all_services() -> None:
    client = ip_address("198.51.100.7")
    one = Flow(client, ip_address("192.0.2.1"), 1000, 80, 6)
    other = Flow(client, ip_address("192.0.2.2"), 2000, 443, 17)
    assert len(set(flow_hashes([one, other], bytes(16), client_only=True))) == 1
    assert len(set(flow_hashes([one, other], bytes(16)))) == 2


def test_refusals() -> None:
    flow = Flow(ip_address("192.0.2.1"), ip_address("2001:db8::1"), 1, 2, 6)
    with pytest.raises(ValueError, match="different families"):
        flow_hash(flow, bytes(16))
    with pytest.raises(ValueError, match="15 bytes, expected 16"):
        flow_hashes([], bytes(15))
