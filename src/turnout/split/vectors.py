"""Tables as sets of vectors ("Accurate Traffic Splitting on Commodity Switches", SPAA 2018).

A rule for 2^l addresses adds 2^l to its target and takes 2^l from that of its closest enclosing rule;
the match-all rule adds 2^width and takes nothing. So a rule is a vector over the targets, the sum of a
table's vectors is its partition, and the fewest rules for a partition are the fewest vectors with
that sum that are those of a table.

Which are? Added up the largest first, no sum may have a negative number: what a rule takes, its
enclosing rule has. Nor may it in whatever order those of one size are added: a rule that took what
another of its size brings would have its prefix. That is enough, since before the vectors of a size
every target has whole blocks twice as large, of which each half can be given away.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TypeAlias

from turnout.split.model import MAX_WIDTH, Rule
from turnout.split.transactions import Transaction, from_transactions, to_transactions

Vector: TypeAlias = tuple[int, ...]
"""What a rule adds to the addresses of each target, and takes from them."""


def vector_set(
    rules: Iterable[Rule], width: int | None = None, targets: int | None = None
) -> list[Vector]:
    """The vectors of a table with a match-all rule, the largest first; a redundant rule, whose
    closest enclosing rule has the same target, has none. Equal vectors are each counted.

    Without `width` and `targets` there are as many bits and targets as the rules have. Raises
    ValueError for a table without a match-all rule, and for one of more bits or targets than that.
    """
    steps = to_transactions(rules)
    bits, most = max(s.length for s in steps), max(s.giver for s in steps)
    width = bits if width is None else width
    targets = most + 1 if targets is None else targets
    if not bits <= width <= MAX_WIDTH:
        raise ValueError(f"width: {width}: expected {bits} to {MAX_WIDTH}")
    if targets <= most:
        raise ValueError(f"targets: {targets}: expected {most + 1} or more")
    vectors = []
    for length, giver, taker in reversed(steps):
        vector = [0] * targets
        vector[giver] = 1 << width - length
        if taker is not None:
            vector[taker] = -vector[giver]
        vectors.append(tuple(vector))
    return vectors


def processed(vectors: Iterable[Vector]) -> list[Vector]:
    """The vectors in an order, the largest first, in which no partial sum has a negative number,
    whatever the order of those of one size.

    Raises ValueError with the place of what is no vector of a rule, and where there is no such
    order: these are the vectors of no table.
    """
    ordered = sorted(_checked([*vectors]), key=max, reverse=True)
    left = [0] * len(ordered[0])
    for size, same in groupby(ordered, max):
        group = [*same]
        for vector in group:
            left = [has + min(x, 0) for has, x in zip(left, vector, strict=True)]
        if min(left) < 0:
            target = left.index(min(left))
            need = size * sum(vector[target] < 0 for vector in group)
            raise ValueError(
                f"vectors: target {target} gives {need} in those of size {size}: expected at most "
                f"{left[target] + need}, which it has of the larger ones"
            )
        for vector in group:
            left = [has + max(x, 0) for has, x in zip(left, vector, strict=True)]
    return ordered


def realised(vectors: Iterable[Vector]) -> list[Rule]:
    """A table with these vectors, as many rules as vectors, the longest prefix first: their sum,
    2^width, says of how many bits. Raises ValueError as `processed` does."""
    ordered = processed(vectors)
    width = max(ordered[0]).bit_length() - 1
    return from_transactions(
        Transaction(
            width + 1 - max(vector).bit_length(),
            vector.index(max(vector)),
            vector.index(min(vector)) if min(vector) < 0 else None,
        )
        for vector in ordered
    )


def _checked(vectors: Sequence[Vector]) -> Sequence[Vector]:
    roots = 0
    for place, vector in enumerate(vectors):
        if len(vector) != len(vectors[0]):
            raise ValueError(
                f"vectors[{place}]: {len(vector)} targets: expected {len(vectors[0])}, as in the first"
            )
        signed = sorted(x for x in vector if x)
        size = signed[-1] if signed else 0
        if (
            signed not in ([size], [-size, size])
            or not isinstance(size, int)
            or size.bit_count() != 1
            or size >> MAX_WIDTH + 1
        ):
            raise ValueError(
                f"vectors[{place}]: {vector}: expected a power of two up to 2^{MAX_WIDTH} for a "
                "target, the same below zero for another or for none, and else 0"
            )
        roots += len(signed) == 1
    if roots != 1:
        raise ValueError(
            f"vectors: {roots} with nothing below zero: expected one, of the match-all rule"
        )
    return vectors
