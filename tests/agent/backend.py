"""A backend that holds what the decapsulation vectors say, and frames put through its programs."""

import json
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from turnout.agent import Decapsulation, Wanted
from turnout.core import agent_reasons

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / "vectors" / "decap.json").read_text()
)
NEXT, DROP = 0xFFFFFFFF, 2
"""TCX_NEXT, TCX_DROP."""
VERDICT_OF = {r.name: DROP if r.verdict == "DROP" else NEXT for r in agent_reasons()}


def decapsulation(outside: int, **fields: Any) -> Decapsulation:
    """Loaded and filled; `fields` of Wanted where they are not the vectors'."""
    usual = {
        "backend": "web1",
        "address": ip_address(VECTORS["backend"][str(outside)]),
        "instances": tuple(map(ip_address, VECTORS["instances"][str(outside)])),
        "vips": tuple(map(ip_address, VECTORS["vips"])),
        "listeners": (),
    }
    made = Decapsulation()
    made.allow(Wanted(**(usual | fields)), 1500)
    return made


def put(on: Decapsulation, frame: bytes) -> tuple[str, int, bytes]:
    """Reason, verdict and what the frame has become."""
    before = on.counters()
    result = on.programs["decapsulate"].run(frame)
    grown = {name: count - before[name] for name, count in on.counters().items()}
    (reason,) = (name for name, count in grown.items() if count)
    assert grown[reason] == 1
    return reason, result.verdict, result.data
