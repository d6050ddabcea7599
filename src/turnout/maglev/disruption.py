"""How many slots a change moves, and how many of them needlessly."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True)
class Disruption:
    """Slots, of `size` in all."""

    size: int
    moved: int
    """With another member than before."""
    due: int
    """Of these, moved because the member before is no longer there."""

    @property
    def excess(self) -> int:
        """Moved although the member before is still there."""
        return self.moved - self.due


def disruption(
    old: ArrayLike, old_names: Sequence[str], new: ArrayLike, new_names: Sequence[str]
) -> Disruption:
    """Compare two tables of the same size, whose indices refer to their own names.

    Raises ValueError for tables of different sizes.
    """
    before, after = np.asarray(old), np.asarray(new)
    if before.shape != after.shape:
        raise ValueError(f"tables of {before.size} and {after.size} slots")
    where = {name: index for index, name in enumerate(new_names)}
    translated = np.array([where.get(name, -1) for name in old_names], np.int64)[before]
    moved = translated != after
    return Disruption(before.size, int(moved.sum()), int((translated == -1).sum()))
