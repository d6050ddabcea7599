"""The data path's rule: who is asked after a member that may not take the flow."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.maglev import oracle
from turnout import maglev

SIZE = 1009
VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "choice.json").read_text())


def table_of(members: int, size: int = SIZE) -> np.ndarray:
    return maglev.build([f"m{i}" for i in range(members)], [1] * members, size)


def test_golden_mixes() -> None:
    for vector in VECTORS["tries"]:
        assert [oracle.second_try(vector["h"], i) for i in range(1, 11)] == vector["tries"]


@pytest.mark.parametrize("vector", VECTORS["choices"], ids=lambda v: f"down {v['down']}")
def test_golden_choices(vector: dict[str, list[Any]]) -> None:
    names = VECTORS["names"]
    table = maglev.build(names, VECTORS["weights"], VECTORS["size"])
    hashes = [int(hash_, 16) for hash_, _ in vector["members"]]
    usable = [i not in vector["down"] for i in range(len(names))]
    found = maglev.lookup(table, hashes, usable).tolist()
    assert found == [member for _, member in vector["members"]]


@st.composite
def cases(draw: st.DrawFn) -> tuple[int, list[bool], list[int]]:
    members = draw(st.integers(1, 60))
    usable = draw(st.lists(st.booleans(), min_size=members, max_size=members))
    hashes = draw(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=50))
    return members, usable, hashes


@given(cases())
@settings(max_examples=300)
def test_equal_to_the_twin(case: tuple[int, list[bool], list[int]]) -> None:
    members, usable, hashes = case
    table = table_of(members)
    expected = [oracle.lookup(table.tolist(), h, usable) for h in hashes]
    assert maglev.lookup(table, hashes, usable).tolist() == expected


@given(cases())
@settings(max_examples=300)
def test_no_flow_of_a_living_member_moves_and_none_goes_to_a_dead_one(
    case: tuple[int, list[bool], list[int]],
) -> None:
    members, usable, hashes = case
    table = table_of(members)
    all_up = maglev.lookup(table, hashes, [True] * members)
    found = maglev.lookup(table, hashes, usable)
    for before, after in zip(all_up, found, strict=True):
        if usable[before]:
            assert after == before
        elif any(usable):
            assert usable[after]
        else:
            assert after == -1


@given(st.integers(1, 200), st.data())
@settings(max_examples=50)
def test_one_living_member_gets_everything(members: int, data: st.DataObject) -> None:
    """However many are down, nobody is turned away while one is up."""
    living = data.draw(st.integers(0, members - 1))
    usable = np.arange(members) == living
    hashes = np.random.default_rng(members).integers(0, 2**64, 200, np.uint64)
    assert (maglev.lookup(table_of(members), hashes, usable) == living).all()


@pytest.mark.parametrize("down", [1, 10, 50])
def test_what_the_dead_leave_is_split_by_share(down: int) -> None:
    """Chi-square of the flows of dead members over the living, against their slots."""
    members, size, count = 100, 65_537, 1_000_000
    table = table_of(members, size)
    usable = np.arange(members) >= down
    hashes = np.random.default_rng(7).integers(0, 2**64, count, np.uint64)
    before = maglev.lookup(table, hashes, np.ones(members))
    after = maglev.lookup(table, hashes, usable)
    moved = np.bincount(after[before < down], minlength=members)[down:]
    slots = np.bincount(table, minlength=members)[down:]
    expected = moved.sum() * slots / slots.sum()
    statistic = float((((moved - expected) ** 2) / expected).sum())
    freedom = members - down - 1
    # Five standard deviations of chi-square: a fixed seed, so this holds always or never.
    assert statistic < freedom + 5 * (2 * freedom) ** 0.5


@pytest.mark.parametrize("attempt", range(1, 11))
def test_second_tries_spread_neighbouring_hashes(attempt: int) -> None:
    """Flows of one slot have hashes close together: their next slots must not be."""
    h = np.arange(65_536, dtype=np.uint64) + 0x12340000
    mixed = np.array([oracle.second_try(int(x), attempt) for x in h])
    counts = np.bincount(mixed >> 24, minlength=256)
    assert abs(float((((counts - 256) ** 2) / 256).sum()) - 255) < 5 * (2 * 255) ** 0.5
    assert len(set(mixed.tolist())) == len(h)


def test_a_table_of_other_members_is_refused() -> None:
    with pytest.raises(ValueError, match="table of 1009 slots for 2 members"):
        maglev.lookup(table_of(3), [1], [True, True])
