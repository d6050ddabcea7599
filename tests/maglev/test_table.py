"""The lookup table against the paper's loop and a plain-Python twin."""

import json
import math
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.maglev import oracle
from turnout import maglev

PRIMES = [2, 3, 5, 7, 11, 13, 101, 251, 503, 1009, 2003]
VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "maglev.json").read_text())

names_of = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=40, unique=True)


@st.composite
def pools(draw: st.DrawFn) -> tuple[list[str], list[int], int]:
    names = draw(names_of)
    size = draw(st.sampled_from([p for p in PRIMES if p >= len(names)]))
    weights = draw(st.lists(st.integers(1, 50), min_size=len(names), max_size=len(names)))
    return names, weights, size


@given(pools())
@settings(max_examples=300, deadline=None)
def test_equal_to_the_twin(pool: tuple[list[str], list[int], int]) -> None:
    names, weights, size = pool
    assert maglev.build(names, weights, size).tolist() == oracle.build(names, weights, size)


@given(names_of, st.sampled_from(PRIMES[6:]), st.integers(1, 1000))
@settings(max_examples=200, deadline=None)
def test_equal_weights_give_the_papers_table(names: list[str], size: int, weight: int) -> None:
    order = sorted(range(len(names)), key=lambda i: names[i].encode())
    expected = oracle.paper([list(oracle.permutation(names[i], size)) for i in order], size)
    built = maglev.build(names, [weight] * len(names), size)
    assert built.tolist() == [order[i] for i in expected]


def test_the_papers_own_example() -> None:
    """Table 1: three backends, seven slots, permutations given there."""
    table = maglev.fill(offsets=[3, 0, 3], skips=[4, 2, 1], weights=[1, 1, 1], size=7)
    assert table.tolist() == [1, 0, 1, 0, 2, 2, 0]


@given(st.text(min_size=1), st.sampled_from(PRIMES))
def test_a_preference_is_a_permutation(name: str, size: int) -> None:
    assert sorted(oracle.permutation(name, size)) == list(range(size))


@given(pools(), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_order_free(pool: tuple[list[str], list[int], int], random: object) -> None:
    names, weights, size = pool
    shuffled = list(range(len(names)))
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    built = maglev.build(names, weights, size)
    again = maglev.build([names[i] for i in shuffled], [weights[i] for i in shuffled], size)
    assert [names[i] for i in built] == [names[shuffled[i]] for i in again]


@given(pools())
@settings(max_examples=200, deadline=None)
def test_shares_are_floor_or_ceiling_of_due(pool: tuple[list[str], list[int], int]) -> None:
    names, weights, size = pool
    slots = np.bincount(maglev.build(names, weights, size), minlength=len(names))
    for count, due in zip(slots, oracle.due(weights, size), strict=True):
        assert math.floor(due) <= count <= math.ceil(due)


@pytest.mark.parametrize("size", [262_147])
def test_large_tables_do_not_wrap(size: int) -> None:
    """32-bit products of slot and skip wrap from M = 65,537 on; ours do not."""
    names = [f"backend-{i}" for i in range(300)]
    weights = [1 + i % 7 for i in range(300)]
    expected = _by_sets(names, weights, size)
    assert np.array_equal(maglev.build(names, weights, size), expected)


def _by_sets(names: list[str], weights: list[int], size: int) -> np.ndarray:
    """The twin for large sizes: positions are kept, so that it ends in seconds."""
    order = sorted(range(len(names)), key=lambda i: names[i].encode())
    slots = oracle.quotas([weights[i] for i in order], size)
    turns = sorted(
        (-(-k * max(weights) // weights[i]), position)
        for position, i in enumerate(order)
        for k in range(1, slots[position] + 1)
    )
    at = [maglev.preference(names[i], size) for i in order]
    entry = np.full(size, -1)
    taken = bytearray(size)
    for _, position in turns:
        slot, skip = at[position]
        while taken[slot]:
            slot = (slot + skip) % size
        taken[slot] = 1
        entry[slot] = order[position]
        at[position] = ((slot + skip) % size, skip)
    return entry


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_golden_vectors(vector: dict[str, object]) -> None:
    names, weights, size = vector["names"], vector["weights"], vector["size"]
    table = maglev.build(names, weights, size)  # type: ignore[arg-type]
    assert blake2b(table.astype("<u2").tobytes(), digest_size=16).hexdigest() == vector["digest"]
    if "table" in vector:
        assert table.tolist() == vector["table"]


@pytest.mark.parametrize(
    ("names", "weights", "size", "message"),
    [
        ([], [], 7, "0 members, expected 1 to 65536"),
        (["a"], [1, 2], 7, "2 weights for 1 members"),
        (["a", "b"], [1, 1], 1, "table size 1, expected 2"),
        (["a"], [1], 8, "table size 8 is not a prime"),
        (["a"], [1], 16777259, "table size 16777259, expected 1"),
        (["a"], [0], 7, "weight 0, expected 1 to 4294967295"),
        (["a"], [-1], 7, "weight -1, expected 1"),
        (["a"], [1 << 32], 7, "weight 4294967296, expected 1"),
        (["a", "b", "a"], [1, 1, 1], 7, "member 'a' named twice"),
    ],
)
def test_refusals(names: list[str], weights: list[int], size: int, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        maglev.build(names, weights, size)
