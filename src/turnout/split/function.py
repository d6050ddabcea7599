"""A given map of addresses to targets, as a tree of blocks, and the fewest prefix rules for it (Draves
et al. 1999; Suri et al. 2003): what splitting costs where it is settled which address goes where.

A tree is a target, to which the whole block goes, or a node with a tree for each half. Trees are
values: what changes one makes another that shares all the rest.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import reduce
from typing import NamedTuple, TypeAlias

from turnout.split.model import Rule


class Node(NamedTuple):
    """Two halves that are not one target's. Sets of targets are bits of an integer."""

    low: "Tree"
    high: "Tree"
    targets: int
    """All that have an address here."""
    free: int
    """Those that a rule for the whole block may name at no further cost."""
    cost: int
    """Rules needed below one that names one of `free`."""


Tree: TypeAlias = int | Node


def fewest(owners: Sequence[int]) -> list[Rule]:
    """Rules by which address a goes to owners[a], the longest prefix first.

    Raises ValueError where the number of addresses is no power of two, or an owner is below 0.
    """
    count = len(owners)
    if not count or count & (count - 1):
        raise ValueError(f"owners: {count}: expected a power of two of them")
    for address, owner in enumerate(owners):
        if owner < 0:
            raise ValueError(f"owners[{address}]: {owner}: expected 0 or more")
    return rules(of_owners(owners))


def of_owners(owners: Iterable[int]) -> Tree:
    """The tree in which address a is of owners[a]; their number is a power of two."""
    trees: list[Tree] = [*map(int, owners)]
    while len(trees) > 1:
        trees = [join(low, high) for low, high in zip(trees[::2], trees[1::2], strict=True)]
    return trees[0]


def join(low: Tree, high: Tree) -> Tree:
    """The tree with these halves."""
    if isinstance(low, int) and low == high:
        return low
    low_targets, low_free, low_cost = _told(low)
    high_targets, high_free, high_cost = _told(high)
    common = low_free & high_free
    return Node(
        low,
        high,
        low_targets | high_targets,
        common or low_free | high_free,
        low_cost + high_cost + (not common),
    )


def _told(tree: Tree) -> tuple[int, int, int]:
    """Its targets, those that are free, and its cost."""
    return (1 << tree, 1 << tree, 0) if isinstance(tree, int) else tree[2:]


def halves(tree: Tree) -> tuple[Tree, Tree]:
    """Its lower and its upper half."""
    return (tree, tree) if isinstance(tree, int) else (tree.low, tree.high)


def free(tree: Tree) -> int:
    """The targets that a rule for all of it may name at no further cost, as bits."""
    return 1 << tree if isinstance(tree, int) else tree.free


def cost(tree: Tree) -> int:
    """Rules that the tree needs, but for the match-all rule."""
    return 0 if isinstance(tree, int) else tree.cost


def put(tree: Tree, prefix: int, length: int, block: Tree) -> Tree:
    """The tree with `block` at a prefix."""
    if not length:
        return block
    low, high = halves(tree)
    length -= 1
    rest = prefix & (1 << length) - 1
    if prefix >> length:
        return join(low, put(high, rest, length, block))
    return join(put(low, rest, length, block), high)


def at(tree: Tree, prefix: int, length: int) -> Tree:
    """What the tree has at a prefix."""
    for bit in range(length - 1, -1, -1):
        tree = halves(tree)[prefix >> bit & 1]
    return tree


def of(table: Iterable[Rule], below: Tree = 0) -> Tree:
    """The tree of a table; where no rule matches, that of `below`."""
    by_length = sorted(table, key=lambda rule: rule[1])
    return reduce(lambda tree, rule: put(tree, *rule), by_length, below)


def cut(low: Tree, high: Tree, at: int, width: int) -> Tree:
    """`low` for the addresses below `at`, `high` from there on; 0 <= at <= 2^width."""
    if at == 0:
        return high
    if at == 1 << width:
        return low
    half = 1 << width - 1
    if at <= half:
        return join(cut(halves(low)[0], halves(high)[0], at, width - 1), halves(high)[1])
    return join(halves(low)[0], cut(halves(low)[1], halves(high)[1], at - half, width - 1))


def rules(tree: Tree, liked: Collection[Rule] = ()) -> list[Rule]:
    """The fewest rules by which addresses go as in the tree, the longest prefix first. Where one
    of several targets may be named, that of a `liked` rule is, if there is one."""
    return sorted(_rules(tree, 0, 0, -1, liked), key=lambda rule: rule[1::-1], reverse=True)


def rules_over(tree: Tree, defaults: Tree) -> list[Rule]:
    """The fewest rules by which addresses go as in the tree, the longest prefix first, where those
    without a rule go as in `defaults`."""
    found = _over(tree, defaults, 0, 0)
    return sorted(found, key=lambda rule: rule[1::-1], reverse=True)


def _over(tree: Tree, defaults: Tree, prefix: int, length: int) -> list[Rule]:
    if tree == defaults:
        return []
    whole = [*_rules(tree, prefix, length, -1, ())]
    if isinstance(tree, int) and isinstance(defaults, int):
        return whole
    # Either a rule for all of it, below which the defaults say no more, or none.
    apart = [
        rule
        for half, (inner, default) in enumerate(zip(halves(tree), halves(defaults), strict=True))
        for rule in _over(inner, default, 2 * prefix + half, length + 1)
    ]
    return whole if len(whole) <= len(apart) else apart


def _rules(
    tree: Tree, prefix: int, length: int, inherited: int, liked: Collection[Rule]
) -> Iterator[Rule]:
    # Top down: a block whose inherited target is one of the free ones needs no rule.
    if inherited < 0 or not free(tree) >> inherited & 1:
        rules = [Rule(prefix, length, target) for target in _members(free(tree))]
        rule = next((rule for rule in rules if rule in liked), rules[0])
        inherited = rule.target
        yield rule
    if not isinstance(tree, int):
        yield from _rules(tree.low, 2 * prefix, length + 1, inherited, liked)
        yield from _rules(tree.high, 2 * prefix + 1, length + 1, inherited, liked)


def _members(targets: int) -> Iterator[int]:
    while targets:
        yield (targets & -targets).bit_length() - 1
        targets &= targets - 1


def addresses(tree: Tree, size: int, target: int) -> int:
    """How many of its `size` addresses are of `target`."""
    if isinstance(tree, int):
        return size if tree == target else 0
    if not tree.targets >> target & 1:
        return 0
    return sum(addresses(half, size // 2, target) for half in halves(tree))


def blocks(tree: Tree, target: int, prefix: int = 0, length: int = 0) -> Iterator[tuple[int, int]]:
    """The largest blocks that are all of `target`'s, (prefix, length), in the order of addresses."""
    if isinstance(tree, int):
        if tree == target:
            yield prefix, length
    elif tree.targets >> target & 1:
        yield from blocks(tree.low, target, 2 * prefix, length + 1)
        yield from blocks(tree.high, target, 2 * prefix + 1, length + 1)
