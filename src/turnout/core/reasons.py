"""What becomes of packets at the forwarder and at the agent."""

import ctypes
from functools import cache
from typing import Any, NamedTuple

from turnout.core.library import library


class Reason(NamedTuple):
    name: str
    verdict: str
    """PASS, TX, REDIRECT or DROP."""
    text: str


@cache
def reasons() -> tuple[Reason, ...]:
    """The forwarder's (bpf/reasons.h), in the order of its counters."""
    return _all(library().turnout_reason)


@cache
def agent_reasons() -> tuple[Reason, ...]:
    """The agent's (bpf/agent_reasons.h), in the order of its counters."""
    return _all(library().turnout_agent_reason)


def _all(get: Any) -> tuple[Reason, ...]:
    found: list[Reason] = []
    texts = [ctypes.c_char_p() for _ in range(3)]
    while get(len(found), *map(ctypes.byref, texts)):
        found.append(Reason(*((text.value or b"").decode() for text in texts)))
    return tuple(found)
