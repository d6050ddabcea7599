"""The fewest prefix rules for a given map of addresses to targets (Draves et al. 1999; Suri et al.
2003): what splitting costs where it is settled which address goes where."""

from collections.abc import Sequence

from turnout.split.model import Rule


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
    # Bottom up: the targets that a node's match may have at no further cost.
    levels = [[frozenset((owner,)) for owner in owners]]
    while len(levels[-1]) > 1:
        below = levels[-1]
        levels.append([a & b or a | b for a, b in zip(below[::2], below[1::2], strict=True)])
    # Top down: a node whose inherited target is one of them needs no rule.
    found = []
    inherited = [-1]
    for length, free in enumerate(reversed(levels)):
        chosen = []
        for prefix, (target, targets) in enumerate(zip(inherited, free, strict=True)):
            if target not in targets:
                target = min(targets)
                found.append(Rule(prefix, length, target))
            chosen.append(target)
        inherited = [target for target in chosen for _ in (0, 1)]
    return found[::-1]
