"""Other consistent hashes over the same slots, as baselines."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

POINTS = 100
"""Virtual nodes a member on the ring."""


def _seed(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def ring(names: Sequence[str], size: int) -> NDArray[np.int64]:
    """Karger et al. 1997: a slot belongs to the next point of a member on the ring; shape (size,)."""
    points = np.array([_seed(f"{n}#{p}") for n in names for p in range(POINTS)], np.uint64)
    owners = np.repeat(np.arange(len(names)), POINTS)
    order = np.argsort(points)
    slots = np.array([_seed(f"slot {s}") for s in range(size)], np.uint64)
    return owners[order][np.searchsorted(points[order], slots) % len(points)]


def rendezvous(names: Sequence[str], size: int) -> NDArray[np.int64]:
    """Thaler and Ravishankar 1998: a slot belongs to the member of the highest score; shape (size,)."""
    slots = np.arange(size, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    best = np.zeros(size, np.uint64)
    owner = np.zeros(size, np.int64)
    for index, name in enumerate(names):
        score = slots ^ np.uint64(_seed(name))
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            score = (score ^ score >> np.uint64(shift)) * np.uint64(factor)
        higher = score >= best
        best[higher], owner[higher] = score[higher], index
    return owner
