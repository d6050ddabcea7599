"""New weights for a table in use, with few addresses moved (Niagara, CoNEXT 2015).

Of the old rules the largest are kept, and Niagara goes on from there: with all of them the fewest
addresses move, with none the rules are fewest. In between lies a choice.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from turnout.split import function
from turnout.split.approximate import error_of
from turnout.split.evaluate import churn, evaluate
from turnout.split.function import Tree
from turnout.split.model import (
    Rule,
    Shares,
    Split,
    Weight,
    checked_budget,
    checked_share,
    checked_width,
    shares,
)
from turnout.split.niagara import Move, heaviest, moves


@dataclass(frozen=True, slots=True)
class Update:
    """A table for new weights, and what it costs to go there."""

    split: Split
    """Its norm is `l1`."""
    churn: int
    """Addresses that change their target."""
    kept: int
    """Rules of the old table it was made from, the largest; all others were made anew."""


def update(
    old: Iterable[Rule],
    weights: Sequence[Weight],
    width: int,
    max_churn: Weight,
    budget: int | None = None,
    max_error: Weight | None = None,
) -> Update:
    """A table for `weights` that moves at most `max_churn` of all addresses (0 to 1): of the `front`
    that of fewest rules; with a budget and no `max_error`, that of least error, then fewest rules.

    Raises ValueError as `front` does, and for a `max_churn` that none of the front keeps to, or
    outside 0..1.
    """
    limit = checked_share(max_churn, "max_churn") * (1 << checked_width(width))
    found = front(old, weights, width, budget, max_error)
    within = [one for one in found if one.churn <= limit]
    if not within:
        least = Fraction(min(one.churn for one in found), 1 << width)
        raise ValueError(f"max_churn: {max_churn}: expected at least {least}, the least found")
    return min(within, key=lambda one: _costs(one, max_error))


def front(
    old: Iterable[Rule],
    weights: Sequence[Weight],
    width: int,
    budget: int | None = None,
    max_error: Weight | None = None,
) -> list[Update]:
    """Tables for `weights`, fewer rules against fewer addresses moved: none is better than another in
    both. The fewest rules come first.

    A table is as near to the weights in `l1` as the width or the budget allows; with a `max_error`,
    a share of all addresses, as soon as it is within. With a budget and no `max_error` the error
    counts too: none is better in all three. The time grows as the square of the rules.

    Raises ValueError as `approximate` does, for an old table that is not legal or has a target
    without a weight (0 takes its addresses away), for a `max_error` outside 0..1, and where
    no table is found within budget and error.
    """
    wanted = shares(weights, checked_width(width))
    limit = checked_budget(budget)
    error = None if max_error is None else checked_share(max_error, "max_error")
    found = {_costs(one, error): one for one in _candidates([*old], wanted, width, limit, error)}
    if not found:
        asked = {"budget": limit, "max_error": error}
        given = " and ".join(
            f"{name} {value}" for name, value in asked.items() if value is not None
        )
        raise ValueError(f"{given}: no table of {width} bits is within: expected more")
    return [
        one
        for mine, one in sorted(found.items(), key=lambda item: item[0][-2:])
        if not any(other != mine and _no_worse(other, mine) for other in found)
    ]


def least_churn(old: Sequence[Weight], new: Sequence[Weight]) -> Fraction:
    """Addresses that must change their target from one partition to another: what is missing to
    each. No table does with less."""
    return sum(
        (Fraction(max(0, becomes - was)) for was, becomes in zip(old, new, strict=True)),
        Fraction(0),
    )


def _costs(one: Update, max_error: Weight | None) -> tuple[Fraction | int, ...]:
    """What is to be small: errors are equal where they may be."""
    both = (len(one.split.rules), one.churn)
    return both if max_error is not None else (one.split.error, *both)


def _no_worse(one: tuple[Fraction | int, ...], other: tuple[Fraction | int, ...]) -> bool:
    return all(mine <= its for mine, its in zip(one, other, strict=True))


def _candidates(
    old: list[Rule], wanted: Shares, width: int, budget: int | None, max_error: Fraction | None
) -> Iterator[Update]:
    """An update from each number of kept rules, with the largest moves and with none too large."""
    had = evaluate(old, width, len(wanted))
    whole = 1 << width
    before = function.of(old)

    def too_much(rule: Rule) -> int:
        return wanted.scale * had[rule.target] - wanted.parts[rule.target]

    # The largest first, of equals those of a target that is to have more.
    order = sorted(map(Rule._make, old), key=lambda rule: (rule.length, too_much(rule)))
    start: Tree | None = None
    for kept in range(len(order) + 1):
        # Where none of them matches, the heaviest target begins with all.
        tree = function.of(order[:kept], heaviest(wanted.parts))
        if tree == start:
            continue
        start = tree
        for careful in (False, True):
            made = _continued(start, before, wanted, width, budget, max_error, careful)
            if made is None:
                continue
            table = function.rules(made, set(old))
            partition = evaluate(table, width, len(wanted))
            error = error_of(partition, wanted, "l1")
            if max_error is None or error <= max_error * whole:
                split = Split(width, tuple(table), tuple(partition), wanted, error, "l1")
                yield Update(split, churn(old, table, width), kept)


def _continued(
    tree: Tree,
    before: Tree,
    wanted: Shares,
    width: int,
    budget: int | None,
    max_error: Fraction | None,
    careful: bool,
) -> Tree | None:
    """Niagara from `tree` on: the last tree within the budget, or the first within the error; None
    where the budget allows none. `careful` moves nothing that has to move again."""
    scale = wanted.scale
    held = [function.addresses(tree, 1 << width, place) for place in range(len(wanted))]
    errors = [scale * has - part for has, part in zip(held, wanted.parts, strict=True)]
    error = sum(map(abs, errors))

    def most(giver: int, over: int, under: int) -> int:
        size = 1 << width - min(length for _, length in function.blocks(tree, giver))
        fits = max(1, min(over, under) // scale)
        return min(size, 1 << fits.bit_length() - 1) if careful else size

    found = None
    steps = moves(wanted.parts, scale, held, most)
    while True:
        if budget is None or function.cost(tree) < budget:
            found = tree
            if max_error is not None and error <= max_error * (scale << width):
                return found
        move = next(steps, None)
        if move is None:
            return found
        tree = _moved(tree, before, move, width)
        for place, change in ((move.giver, -move.size), (move.taker, move.size)):
            error -= abs(errors[place])
            errors[place] += change * scale
            error += abs(errors[place])


def _moved(tree: Tree, before: Tree, move: Move, width: int) -> Tree:
    """The tree after a move: the block taken is the one of which the taker had most before, of equals
    one that makes the fewest rules, then one of the smallest that the giver has."""
    length = width - move.size.bit_length() + 1
    choices = []
    for prefix, shorter in function.blocks(tree, move.giver):
        if shorter <= length:
            had = function.at(before, prefix, shorter)
            depth = length - shorter
            back, inner = _most_of(had, move.taker, depth, move.size)
            choices.append((back, shorter, prefix << depth | inner))
    most = max(back for back, *_ in choices)
    made = [
        (function.cost(new), -shorter, place, new)
        for back, shorter, place in choices
        if back == most
        for new in [function.put(tree, place, length, move.taker)]
    ]
    return min(made, key=lambda choice: choice[:3])[-1]


def _most_of(tree: Tree, target: int, depth: int, size: int) -> tuple[int, int]:
    """(addresses of `target`, prefix) of the block of `size`, `depth` below, that has most of them."""
    if not depth or isinstance(tree, int):
        return function.addresses(tree, size, target), 0
    found = [
        (back, half << depth - 1 | inner)
        for half, part in enumerate(function.halves(tree))
        for back, inner in [_most_of(part, target, depth - 1, size)]
    ]
    return max(found, key=lambda item: item[0])
