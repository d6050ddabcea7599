"""Slots moved by a change, and moved needlessly."""

import numpy as np
import pytest

from turnout import maglev


def test_counts() -> None:
    moved = maglev.disruption([0, 0, 1, 1, 2], ["a", "b", "c"], [1, 1, 1, 0, 1], ["c", "a"])
    # a keeps two; b's two go to a and c, as they must; c's one goes to a although c is there.
    assert (moved.size, moved.moved, moved.due, moved.excess) == (5, 3, 2, 1)


def test_nothing_moves_where_only_names_are_reordered() -> None:
    names = [f"m{i}" for i in range(20)]
    old = maglev.build(names, [1] * 20, 2003)
    new = maglev.build(names[::-1], [1] * 20, 2003)
    assert maglev.disruption(old, names, new, names[::-1]).moved == 0


def test_a_rebuild_moves_more_than_it_must_and_a_second_try_does_not() -> None:
    """Why health is not membership: notes of the paper, section 5.3."""
    names = [f"m{i}" for i in range(1000)]
    old = maglev.build(names, [1] * 1000, 65_537)
    new = maglev.build(names[1:], [1] * 999, 65_537)
    rebuilt = maglev.disruption(old, names, new, names[1:])
    assert rebuilt.excess > 3 * rebuilt.due
    hashes = np.random.default_rng(1).integers(0, 2**64, 100_000, np.uint64)
    before = maglev.lookup(old, hashes, np.ones(1000))
    after = maglev.lookup(old, hashes, np.arange(1000) > 0)
    assert ((before != after) == (before == 0)).all()


def test_unequal_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="tables of 2 and 3 slots"):
        maglev.disruption([0, 0], ["a"], [0, 0, 0], ["a"])
