"""The lookup table against the paper's loop and a plain-Python twin."""

import json
import math
from hashlib import blake2b
from pathlib import Path
from typing import Any

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
@settings(max_examples=300)
def test_equal_to_the_twin(pool: tuple[list[str], list[int], int]) -> None:
    names, weights, size = pool
    assert maglev.build(names, weights, size).tolist() == oracle.build(names, weights, size)


@given(names_of, st.sampled_from(PRIMES[6:]), st.integers(1, 1000))
@settings(max_examples=200)
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
@settings(max_examples=100)
def test_order_free(pool: tuple[list[str], list[int], int], random: object) -> None:
    names, weights, size = pool
    shuffled = list(range(len(names)))
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    built = maglev.build(names, weights, size)
    again = maglev.build([names[i] for i in shuffled], [weights[i] for i in shuffled], size)
    assert [names[i] for i in built] == [names[shuffled[i]] for i in again]


@given(pools())
@settings(max_examples=200)
def test_shares_are_floor_or_ceiling_of_due(pool: tuple[list[str], list[int], int]) -> None:
    names, weights, size = pool
    slots = np.bincount(maglev.build(names, weights, size), minlength=len(names))
    for count, due in zip(slots, oracle.due(weights, size), strict=True):
        assert math.floor(due) <= count <= math.ceil(due)


@given(st.lists(st.sampled_from([1, 2, 3, 10_000, 65_534, 65_535]), min_size=2, max_size=40))
@settings(max_examples=100)
def test_weights_far_apart(weights: list[int]) -> None:
    names = [f"b{i}" for i in range(len(weights))]
    assert maglev.build(names, weights, 1009).tolist() == oracle.build(names, weights, 1009)


@pytest.mark.parametrize("vector", VECTORS["small"], ids=lambda v: f"{v['size']} slots")
def test_golden_tables(vector: dict[str, Any]) -> None:
    built = maglev.build(vector["names"], vector["weights"], vector["size"])
    assert built.tolist() == vector["table"]


@pytest.mark.parametrize("vector", VECTORS["large"], ids=lambda v: f"{v['size']} slots")
def test_golden_digests(vector: dict[str, Any]) -> None:
    names = [f"backend-{i}" for i in range(vector["members"])]
    weights = [1 + i % vector["weights"] for i in range(vector["members"])]
    built = maglev.build(names, weights, vector["size"])
    assert blake2b(built.astype("<u2").tobytes(), digest_size=16).hexdigest() == vector["digest"]


def test_the_largest_table() -> None:
    names = [f"backend-{i}" for i in range(maglev.MAX_MEMBERS)]
    size = 16_777_213
    built = maglev.build(names, [1] * len(names), size)
    first = min(range(len(names)), key=lambda i: names[i].encode())
    assert built[maglev.preference(names[first], size)[0]] == first
    shares = np.bincount(built, minlength=len(names))
    assert set(shares.tolist()) == {255, 256}


@pytest.mark.parametrize(
    ("names", "weights", "size", "message"),
    [
        ([], [], 7, "0 members, expected 1 to 65536"),
        (["a"], [1, 2], 7, "2 weights for 1 members"),
        (["a", "b"], [1, 1], 1, "table size 1, expected 2"),
        (["a"], [1], 8, "table size 8 is not a prime"),
        (["a"], [1], 16777259, "table size 16777259, expected 1"),
        (["a"], [0], 7, "weight 0, expected 1 to 65535"),
        (["a"], [-1], 7, "weight -1, expected 1"),
        (["a"], [65_536], 7, "weight 65536, expected 1"),
        (["a", "b", "a"], [1, 1, 1], 7, "member 'a' named twice"),
    ],
)
def test_refusals(names: list[str], weights: list[int], size: int, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        maglev.build(names, weights, size)
