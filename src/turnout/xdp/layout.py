"""bpf/layout.h for Python: what lies in the forwarder's maps.

The sizes are compared with those of the loaded maps, so that a forwarder of another build is
refused before anything is written.
"""

import ctypes
from ctypes import c_uint8, c_uint16, c_uint32, c_uint64

from turnout.plan import PlannedMember, PlannedService, PlannedVip

MAX_SERVICES = 4096
MAX_MEMBERS = 16384
MAX_TABLES = 8192
ROW_ENTRIES = 4096
ROW_BYTES = 2 * ROW_ENTRIES
COMMON_ROWS = 18
COMMON_SIZE = 69632
BUCKETS = 4096
BUCKET_WAYS = 4
BUCKET_PROBES = 8
FILTER_BITS = 65536

ENCAPSULATIONS = {"gue": 1, "ipip": 2, "gre": 3}
STATES = {"up": 1, "draining": 2, "down": 3}
PROTOCOLS = {"tcp": 6, "udp": 17}
HASH_CLIENT = 0x01
VIP_FLAGS = {"tcp": 0x10, "udp": 0x20}


class Entry(ctypes.LittleEndianStructure):
    """struct turnout_service_entry."""

    _fields_ = [("key", c_uint64), ("record", c_uint64)]


class Service(ctypes.LittleEndianStructure):
    """struct turnout_service."""

    _fields_ = [
        ("vip", c_uint8 * 16),
        ("hash_key", c_uint64 * 2),
        ("table", c_uint32),
        ("table_size", c_uint32),
        ("members", c_uint32),
        ("walk", c_uint32),
        ("port", c_uint16),
        ("protocol", c_uint8),
        ("encapsulation", c_uint8),
        ("flags", c_uint8),
        ("reserved", c_uint8 * 11),
    ]


class Member(ctypes.LittleEndianStructure):
    """struct turnout_member."""

    _fields_ = [
        ("next_hop", c_uint8 * 6),
        ("vlan", c_uint16),
        ("own_mac", c_uint8 * 6),
        ("mtu", c_uint16),
        ("ifindex", c_uint32),
        ("family", c_uint8),
        ("state", c_uint8),
        ("reserved0", c_uint8 * 2),
        ("address_sum", c_uint32),
        ("reserved1", c_uint8 * 4),
        ("source", c_uint8 * 16),
        ("destination", c_uint8 * 16),
    ]


class Counters(ctypes.LittleEndianStructure):
    """struct turnout_counters."""

    _fields_ = [("packets", c_uint64), ("bytes", c_uint64), ("new_flows", c_uint64)]


VALUE_SIZES = {
    ".data.filter": FILTER_BITS // 8,
    ".data.buckets": BUCKETS * BUCKET_WAYS * ctypes.sizeof(Entry),
    ".data.services": 2 * MAX_SERVICES * ctypes.sizeof(Service),
    ".data.members": MAX_MEMBERS * ctypes.sizeof(Member),
    "service_counters": ctypes.sizeof(Counters),
    "member_counters": ctypes.sizeof(Counters),
    "reason_counters": 8,
    "tables": 4,
    "large_tables": 4,
}


def member_record(member: PlannedMember) -> Member:
    """A member as the forwarder reads it."""
    source = member.source.packed.ljust(16, b"\0")
    destination = member.address.packed.ljust(16, b"\0")
    both = source + destination
    record = Member(
        family=member.address.version,
        state=STATES[member.state],
        address_sum=sum(int.from_bytes(both[i : i + 2], "little") for i in range(0, 32, 2)),
        source=tuple(source),
        destination=tuple(destination),
    )
    hop = member.next_hop
    if hop is not None:
        record.next_hop = (c_uint8 * 6)(*hop.mac)
        record.own_mac = (c_uint8 * 6)(*hop.own_mac)
        record.vlan = hop.vlan
        record.mtu = min(hop.mtu, 0xFFFF)
        record.ifindex = hop.ifindex
    return record


def service_record(service: PlannedService, table: int, members: int, walk: int) -> Service:
    """A service as the forwarder reads it; `table` is an outer slot, `walk` the least prime not
    below the number of members."""
    return Service(
        vip=tuple(service.vip.packed.ljust(16, b"\0")),
        hash_key=(
            int.from_bytes(service.hash_key[:8], "little"),
            int.from_bytes(service.hash_key[8:], "little"),
        ),
        table=table,
        table_size=service.table[1],
        members=members,
        walk=walk,
        port=service.port or 0,
        protocol=PROTOCOLS[service.protocol],
        encapsulation=ENCAPSULATIONS[service.encapsulation],
        flags=HASH_CLIENT if service.hash == "client-address" else 0,
    )


def vip_record(vip: PlannedVip) -> Service:
    """A VIP as the forwarder reads it: who answers echo requests and owns fragments."""
    return Service(
        vip=tuple(vip.vip.packed.ljust(16, b"\0")),
        flags=sum(VIP_FLAGS[protocol] for protocol in vip.protocols),
    )
