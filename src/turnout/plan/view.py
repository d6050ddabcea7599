"""A plan as JSON, for people and programs. Secrets are left out."""

from hashlib import blake2b
from typing import Any

import numpy as np

from turnout.plan.model import Plan, PlannedMember, PlannedTable


def to_json(plan: Plan) -> dict[str, Any]:
    """Numbers, strings, lists and maps only. Tables are given by their slots a member and a digest:
    BLAKE2b, 16 bytes, of the slots' indices as little-endian u16."""
    return {
        "instance": plan.instance,
        "announced": [str(vip) for vip in plan.announced],
        "services": [
            {
                "number": s.number,
                "name": s.name,
                "vip": str(s.vip),
                "protocol": s.protocol,
                "port": "all" if s.port is None else s.port,
                "pool": s.table[0],
                "table_size": s.table[1],
                "encapsulation": s.encapsulation,
                "hash": s.hash,
            }
            for s in plan.services
        ],
        "vips": [
            {"number": v.number, "vip": str(v.vip), "protocols": sorted(v.protocols)}
            for v in plan.vips
        ],
        "members": [_member(m) for m in plan.members],
        "tables": [_table(t) for t in plan.tables],
    }


def _member(member: PlannedMember) -> dict[str, Any]:
    hop = member.next_hop
    return {
        "number": member.number,
        "pool": member.key[0],
        "backend": member.key[1],
        "address": str(member.address),
        "source": str(member.source),
        "state": member.state,
        "next_hop": None
        if hop is None
        else {
            "ifindex": hop.ifindex,
            "vlan": hop.vlan,
            "mac": hop.mac.hex(":"),
            "own_mac": hop.own_mac.hex(":"),
            "mtu": hop.mtu,
        },
    }


def _table(table: PlannedTable) -> dict[str, Any]:
    slots = np.bincount(table.indices, minlength=len(table.members))
    return {
        "pool": table.pool,
        "size": table.size,
        "members": [
            {"number": number, "backend": name, "weight": weight, "slots": int(count)}
            for number, name, weight, count in zip(
                table.members, table.names, table.weights, slots, strict=True
            )
        ],
        "digest": blake2b(table.indices.astype("<u2").tobytes(), digest_size=16).hexdigest(),
    }
