"""Where a trie's nodes are drawn, held to the bits of the rules."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from turnout.cli.trie import Node, trie
from turnout.split import Rule

MOST = 9

blocks = st.integers(0, MOST).flatmap(
    lambda long: st.tuples(st.integers(0, 2**long - 1), st.just(long))
)
tables = st.sets(blocks, min_size=1, max_size=40).map(
    lambda found: [Rule(*block, 0) for block in found]
)


def bits(rule: Rule) -> str:
    return f"{rule.prefix:0{rule.length}b}" if rule.length else ""


@given(tables)
def test_rows_go_through_the_zeros_of_a_rule_then_itself_then_its_ones(rules: list[Rule]) -> None:
    rows = {node.rule: node.row for node in trie(rules).walk() if node.rule is not None}
    assert sorted(rows.values()) == [*range(len(rules))]
    # "b" for the end of a rule: after what goes on with 0, before what goes on with 1.
    order = {
        place: bits(rule).replace("0", "a").replace("1", "c") + "b"
        for place, rule in enumerate(rules)
    }
    assert sorted(rows, key=rows.__getitem__) == sorted(order, key=order.__getitem__)


@given(tables)
def test_the_rule_above_is_the_longest_that_encloses(rules: list[Rule]) -> None:
    above: dict[int, int | None] = {}

    def visit(node: Node, rule: int | None) -> None:
        if node.rule is None:
            assert len(node.children) == 2
        else:
            above[node.rule] = rule
            assert node.length == rules[node.rule].length
        for child in node.children:
            assert child.length > node.length
            visit(child, rule if node.rule is None else node.rule)

    visit(trie(rules), None)
    for place, rule in enumerate(rules):
        around = [
            other
            for other, wider in enumerate(rules)
            if wider.length < rule.length and bits(rule).startswith(bits(wider))
        ]
        assert above[place] == max(around, key=lambda n: rules[n].length, default=None)


@given(tables)
def test_no_line_runs_through_what_stands_to_the_right_of_a_rule(rules: list[Rule]) -> None:
    nodes = [*trie(rules).walk()]
    lines = [
        piece
        for node in nodes
        for child in node.children
        for piece in pairwise(
            [(node.length, node.row), (node.length, child.row), (child.length, child.row)]
        )
    ]
    for node in nodes:
        if node.rule is not None:
            for (x, y), (to_x, to_y) in lines:
                crosses = min(y, to_y) <= node.row <= max(y, to_y)
                assert not (crosses and max(x, to_x) > node.length)
