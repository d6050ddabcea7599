"""The flow hash: SipHash-1-3 of the canonical flow, by the header that the kernel runs."""

import ctypes
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING

from turnout.core.library import library

if TYPE_CHECKING:
    from collections.abc import Sequence

Address = IPv4Address | IPv6Address

TCP = 6
UDP = 17


@dataclass(frozen=True, slots=True)
class Flow:
    """A 5-tuple as the instance sees it: from client to VIP."""

    source: Address
    vip: Address
    source_port: int
    vip_port: int
    protocol: int
    """TCP or UDP as the IP header has it."""


class _Flow(ctypes.Structure):
    """struct turnout_flow."""

    _fields_ = [
        ("source", ctypes.c_uint8 * 16),
        ("vip", ctypes.c_uint8 * 16),
        ("source_port", ctypes.c_uint8 * 2),
        ("vip_port", ctypes.c_uint8 * 2),
        ("protocol", ctypes.c_uint8),
        ("family", ctypes.c_uint8),
        ("padding", ctypes.c_uint8 * 2),
    ]


def _packed(flow: Flow) -> _Flow:
    if flow.source.version != flow.vip.version:
        raise ValueError(f"{flow.source} and {flow.vip} are of different families")
    return _Flow(
        source=tuple(flow.source.packed.ljust(16, b"\0")),
        vip=tuple(flow.vip.packed.ljust(16, b"\0")),
        source_port=tuple(flow.source_port.to_bytes(2, "big")),
        vip_port=tuple(flow.vip_port.to_bytes(2, "big")),
        protocol=flow.protocol,
        family=flow.source.version,
    )


def flow_hashes(flows: "Sequence[Flow]", key: bytes, client_only: bool = False) -> list[int]:
    """64-bit hash of each flow under a key of 16 bytes (two little-endian words).

    The high half chooses the slot, the low half spreads packets. `client_only` hashes the
    client's address alone. Raises ValueError for a key of another length or mixed families.
    """
    if len(key) != 16:
        raise ValueError(f"hash key: {len(key)} bytes, expected 16")
    array = (_Flow * len(flows))(*map(_packed, flows))
    hashes = (ctypes.c_uint64 * len(flows))()
    k0, k1 = (int.from_bytes(half, "little") for half in (key[:8], key[8:]))
    library().turnout_flow_hashes(array, len(flows), k0, k1, client_only, hashes)
    return list(hashes)


def flow_hash(flow: Flow, key: bytes, client_only: bool = False) -> int:
    """As flow_hashes, for one flow."""
    return flow_hashes([flow], key, client_only)[0]


__all__ = ["TCP", "UDP", "Flow", "flow_hash", "flow_hashes"]
