"""A split as a ruleset of nftables: one lookup of the field's lowest bits, a chain for each target
that counts its packets and marks them."""

import re
from collections.abc import Sequence

from turnout.split import Split
from turnout.split.evaluate import segments
from turnout.switch.field import FIELDS, Field

TABLE = "turnout_split"


def ruleset(split: Split, names: Sequence[str], field: Field) -> str:
    """For `nft -f`: replaces the table of an earlier one in the same transaction. Marks are the
    targets' places, from 1.

    Raises ValueError for a field that nftables has not, a split of more bits than the field has,
    and a target whose name cannot be that of a chain.
    """
    field.check(split)
    if field.nft is None:
        known = ", ".join(name for name, other in FIELDS.items() if other.nft)
        raise ValueError(f"field: {field.name}: expected one that nftables has: {known}")
    chains = [_chain(name) for name in names]
    # Neighbours of one target are one interval.
    bounds: list[tuple[int, int, int]] = []
    for start, end, target in segments(split.rules, split.width):
        if bounds and bounds[-1][2] == target:
            bounds[-1] = (bounds[-1][0], end, target)
        else:
            bounds.append((start, end, target))
    used = sorted({target for *_, target in bounds})
    lines = [
        f"table inet {TABLE}",
        f"delete table inet {TABLE}",
        f"table inet {TABLE} {{",
    ]
    for target in used:
        lines.append(f"\tchain {chains[target]} {{ counter meta mark set {target + 1}; }}")
    lines += ["\tchain split {", "\t\ttype filter hook prerouting priority mangle;"]
    elements = ", ".join(
        f"{_interval(field, start, end - 1)} : goto {chains[target]}"
        for start, end, target in bounds
    )
    mask = field.written((1 << split.width) - 1)
    lines.append(f"\t\t{field.nft} & {mask} vmap {{ {elements} }}")
    return "\n".join([*lines, "\t}", "}"])


def _interval(field: Field, first: int, last: int) -> str:
    if first == last:
        return field.written(first)
    return f"{field.written(first)}-{field.written(last)}"


def _chain(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", name):
        raise ValueError(f"target: {name!r}: expected letters, digits, '_', '.' or '-'")
    # A prefix, so that no name is a word of the language or "split".
    return f"to_{name}"
