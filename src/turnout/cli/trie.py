"""Where the rules of a table stand in a drawing of their trie, in which a node without a rule is
only where two ways part."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from turnout.split import Rule


@dataclass(frozen=True, slots=True)
class Node:
    """A prefix; what it has below begins with a 0 (in rows above it) or a 1 (in rows below)."""

    length: int
    row: float
    """Whole where it has a rule, and then its own."""
    rule: int | None
    """Place in the table."""
    children: tuple["Node", ...]

    def walk(self) -> Iterator["Node"]:
        """It and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def trie(rules: Sequence[Rule]) -> Node:
    """The trie of a table with a rule or more, of which no two have the same prefix: rows 0, 1, ...
    in the order of the addresses, and a rule's between those of its two halves."""
    return _node(rules, range(len(rules)), count())


def _node(rules: Sequence[Rule], below: Sequence[int], rows: Iterator[int]) -> Node:
    length = _common(rules, below)
    own = next((place for place in below if rules[place].length == length), None)
    halves: tuple[list[int], list[int]] = ([], [])
    for place in below:
        if place != own:
            prefix, long, _ = rules[place]
            halves[prefix >> long - length - 1 & 1].append(place)
    children = []
    row = 0.0
    for half in (0, 1):
        if halves[half]:
            children.append(_node(rules, halves[half], rows))
        if half == 0 and own is not None:
            row = next(rows)
    if own is None:
        row = sum(child.row for child in children) / len(children)
    return Node(length, row, own, tuple(children))


def _common(rules: Sequence[Rule], places: Sequence[int]) -> int:
    """Bits with which all of them begin."""
    length = min(rules[place].length for place in places)
    heads = {rules[place].prefix >> rules[place].length - length for place in places}
    while len(heads) > 1:
        length -= 1
        heads = {head >> 1 for head in heads}
    return length
