"""The forwarder's reasons: what becomes of a packet."""

import ctypes
from functools import cache
from typing import NamedTuple

from turnout.core.library import library


class Reason(NamedTuple):
    name: str
    verdict: str
    """XDP's: PASS, TX, REDIRECT or DROP."""
    text: str


@cache
def reasons() -> tuple[Reason, ...]:
    """All of bpf/reasons.h, in the order of their counters."""
    found: list[Reason] = []
    texts = [ctypes.c_char_p() for _ in range(3)]
    while library().turnout_reason(len(found), *map(ctypes.byref, texts)):
        found.append(Reason(*((text.value or b"").decode() for text in texts)))
    return tuple(found)
