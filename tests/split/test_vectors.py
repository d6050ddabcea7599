"""Vectors of tables, and tables of vectors."""

from collections.abc import Iterator
from itertools import combinations_with_replacement, permutations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.split.brute import fewest_rules
from turnout.split import Rule, evaluate, exact, processed, realised, vector_set

Vector = tuple[int, ...]


def test_29_to_99() -> None:
    rules = [Rule(0b0011100, 7, 0), Rule(0b00111, 5, 1), Rule(0, 2, 0), Rule(0, 0, 1)]
    vectors = [(0, 128), (32, -32), (-4, 4), (1, -1)]
    assert vector_set(rules) == vectors
    assert vector_set(rules, 9, 3) == [tuple(4 * x for x in (*v, 0)) for v in vectors]
    assert processed(reversed(vectors)) == vectors
    assert vector_set(realised(vectors)) == vectors


@given(st.integers(0, 6), st.integers(1, 4), st.data())
def test_the_sum_is_the_partition_and_a_table_comes_back(
    width: int, targets: int, data: st.DataObject
) -> None:
    targets = min(targets, 1 << width)
    prefixes = st.integers(0, width).flatmap(
        lambda length: st.tuples(st.integers(0, (1 << length) - 1), st.just(length))
    )
    owners = st.integers(0, targets - 1)
    table = {**data.draw(st.dictionaries(prefixes, owners)), (0, 0): data.draw(owners)}
    rules = [Rule(*prefix, target) for prefix, target in table.items()]
    vectors = vector_set(rules, width, targets)
    assert sorted(vectors) == sorted(v for v in by_definition(rules, width, targets) if any(v))
    assert [*map(sum, zip(*vectors, strict=True))] == evaluate(rules, width, targets)
    shuffled = data.draw(st.permutations(vectors))
    ordered = processed(shuffled)
    assert sorted(ordered) == sorted(vectors)
    assert min(map(min, sums(ordered))) >= 0
    again = realised(shuffled)
    assert sorted(vector_set(again, width, targets)) == sorted(vectors)
    assert len(again) == len(vectors)
    assert evaluate(again, width, targets) == evaluate(rules, width, targets)


def test_realised_is_just_what_some_table_has() -> None:
    """Every set over three targets of two bits that could be one of a table, and more."""
    prefixes = [(0, 1), (1, 1), *((prefix, 2) for prefix in range(4))]
    tables = (
        [Rule(0, 0, 0), *(Rule(*p, t) for p, t in zip(prefixes, owners, strict=True) if t < 3)]
        for owners in product(range(4), repeat=6)
    )
    possible = {tuple(sorted(by_definition(table, 2, 3))) for table in tables}
    pairs = [*permutations(range(3), 2)]

    def some(size: int, most: int) -> Iterator[tuple[Vector, ...]]:
        signed = [tuple(size * ((t == a) - (t == b)) for t in range(3)) for a, b in pairs]
        for number in range(most + 1):
            yield from combinations_with_replacement(signed, number)

    ones = [*some(1, 4)]
    found = refused = 0
    for twos in some(2, 3):
        for more in ones:
            vectors = [(4, 0, 0), *twos, *more]
            if tuple(sorted(vectors)) in possible:
                assert sorted(vector_set(realised(vectors), 2, 3)) == sorted(vectors)
                found += 1
            else:
                with pytest.raises(ValueError, match=r"vectors: target \d gives"):
                    realised(vectors)
                refused += 1
    assert (found, refused) == (len({p for p in possible if (0, 0, 0) not in p}), 84 * 210 - found)


@pytest.mark.parametrize(("width", "targets"), [(4, 3), (3, 4)])
def test_as_few_vectors_as_rules(width: int, targets: int) -> None:
    for partition, least in fewest_rules(width, targets).items():
        vectors = vector_set(exact(partition, width), width, targets)
        assert len(vectors) == least
        assert [*map(sum, zip(*vectors, strict=True))] == list(partition)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([], "vectors: 0 with nothing below zero: expected one"),
        ([(8, 0), (4, 0)], "vectors: 2 with nothing below zero"),
        ([(-8, 8)], "vectors: 0 with nothing below zero"),
        ([(8, 0), (0, 0)], r"vectors\[1\]: \(0, 0\): expected a power of two"),
        ([(6, 0)], r"vectors\[0\]: \(6, 0\): expected a power of two"),
        ([(8.0, 0)], r"vectors\[0\]: \(8.0, 0\): expected a power of two"),
        ([(1 << 63,)], r"vectors\[0\]: .* up to 2\^62"),
        ([(8, 0), (-4, 2)], r"vectors\[1\]: \(-4, 2\): expected"),
        ([(8, 0, 0), (-4, 2, 2)], r"vectors\[1\]: \(-4, 2, 2\): expected"),
        ([(8, 0), (-4, 4, 0)], r"vectors\[1\]: 3 targets: expected 2"),
        ([(-8,)], r"vectors\[0\]: \(-8,\): expected"),
        ([(8, 0), (8, -8)], "target 1 gives 8 in those of size 8: expected at most 0"),
        ([(8, 0), (-8, 8)], "target 0 gives 8 in those of size 8: expected at most 0"),
        ([(4, 0), (-8, 8)], "target 0 gives 8 in those of size 8: expected at most 0"),
        ([(8, 0, 0), (0, -4, 4)], "target 1 gives 4 in those of size 4: expected at most 0"),
        # In this order no sum is negative, but both rules would have one prefix.
        ([(8, 0, 0), (-4, 4, 0), (0, -4, 4)], "target 1 gives 4 in those of size 4: expected at"),
        # The smallest first would do for sums, but not for prefixes.
        ([(4, 0, 0), *[(-1, 1, 0)] * 2, (0, -2, 2)], "target 1 gives 2 in those of size 2"),
        ([(4, 0), *[(-1, 1)] * 5], "target 0 gives 5 in those of size 1: expected at most 4"),
    ],
)
def test_what_no_table_has_is_refused(vectors: list[Any], message: str) -> None:
    for call in (processed, realised):
        with pytest.raises(ValueError, match=message):
            call(vectors)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([Rule(0, 1, 0)],), "no match-all rule"),
        (([Rule(0, 0, 0), Rule(0, 3, 1)], 2), "width: 2: expected 3 to 62"),
        (([Rule(0, 0, 0)], 63), "width: 63: expected 0 to 62"),
        (([Rule(0, 0, 2)], 1, 2), "targets: 2: expected 3 or more"),
    ],
)
def test_what_has_no_vectors_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        vector_set(*arguments)


def by_definition(rules: list[Rule], width: int, targets: int) -> Iterator[Vector]:
    """Also those of redundant rules, which are zero."""
    for prefix, length, target in rules:
        enclosing = [
            other
            for other in rules
            if other.length < length and prefix >> length - other.length == other.prefix
        ]
        vector = [0] * targets
        vector[target] += 1 << width - length
        if enclosing:
            vector[max(enclosing, key=lambda rule: rule.length).target] -= 1 << width - length
        yield tuple(vector)


def sums(vectors: list[Vector]) -> Iterator[Vector]:
    for upto in range(1, len(vectors) + 1):
        yield tuple(map(sum, zip(*vectors[:upto], strict=True)))
