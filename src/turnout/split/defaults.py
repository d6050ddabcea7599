"""Rules of one VIP over default rules that all VIPs share (Niagara, CoNEXT 2015).

Default rules name no VIP: block b of 2^(width - power) addresses goes to target b, for 2^power
blocks. A rule of a VIP wins over them whatever its length, so that one shorter than `power` covers
several blocks. The paper's program makes none of those; where a VIP does without some of the first
targets they save rules.
"""

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import NamedTuple

from turnout.split import function
from turnout.split.model import Rule, Shares, checked_partition, checked_width, shares
from turnout.split.niagara import Move, heaviest, moves

NEAREST = 4
"""States from which a further covering rule is tried. With two, 4 of the 6,435 partitions of 8
addresses over 8 default blocks get a rule too many; with three or more, none."""

Owners = tuple[int, ...]
"""The target of each block, all of one size; their number is a power of two."""


class Way(NamedTuple):
    """Moves of Niagara from a state that `covering` rules of a VIP make."""

    covering: int
    owners: Owners
    moves: list[Move]


def default_rules(power: int) -> list[Rule]:
    """The rules that VIPs share: block b of 2^power goes to target b."""
    return [Rule(block, power, block) for block in range(1 << power)]


def over_defaults(partition: Sequence[int], width: int, power: int) -> list[Rule]:
    """Rules of a VIP that induce `partition` over the `default_rules` of `power`, the longest prefix
    first; none where the default rules induce it.

    By trying everything found to be the fewest for all partitions of 32 addresses over 4 targets
    with 2 and 4 default rules, and of 8 over 8 with 8; beyond that it is not proved. Raises
    ValueError for what is no partition of 2^width, and for a power of more default rules than
    targets or addresses.
    """
    wanted = shares(checked_partition(partition, checked_width(width)).tolist(), width)
    checked_power(power, len(wanted), width)
    best = min(ways(wanted, width, power), key=lambda way: way.covering + len(way.moves))
    return laid_over(best, len(best.moves), width, power)


def checked_power(power: int, targets: int, width: int) -> int:
    """`power` as int. Raises ValueError below 0, for more blocks than targets, or than addresses."""
    most = min(width, targets.bit_length() - 1)
    if isinstance(power, bool) or not isinstance(power, Integral) or not 0 <= power <= most:
        raise ValueError(
            f"power: {power!r}: expected 0 to {most} for {targets} targets and width {width}"
        )
    return int(power)


def ways(wanted: Shares, width: int, power: int | None) -> list[Way]:
    """Ways to what is wanted over default rules; without (None), that from the match-all rule."""
    alone = [(1, (heaviest(wanted.parts),))]
    states = alone if power is None else [*_states(wanted, width, power)]
    return [Way(covering, owners, [*_moves(wanted, owners, width)]) for covering, owners in states]


def error_of_owners(wanted: Shares, owners: Owners, width: int) -> int:
    """The l1 error of blocks with these owners, in 1 / scale addresses."""
    held = _held(wanted, owners, width)
    return sum(abs(wanted.scale * has - part) for has, part in zip(held, wanted.parts, strict=True))


def laid_over(way: Way, steps: int, width: int, power: int | None) -> list[Rule]:
    """The fewest rules for what the first `steps` moves of a way make: at most `way.covering` and one
    for each."""
    tree = function.of_owners(way.owners)
    for size, giver, taker in way.moves[:steps]:
        length = width - size.bit_length() + 1
        # Sizes never rise: the giver has a block as large, and what is cut stays of such blocks.
        whole = max(
            (block for block in function.blocks(tree, giver) if block[1] <= length),
            key=lambda block: block[1],
        )
        tree = function.put(tree, whole[0] << length - whole[1], length, taker)
    if power is None:
        return function.rules(tree)
    return function.rules_over(tree, function.of_owners(range(1 << power)))


def _states(wanted: Shares, width: int, power: int) -> Iterator[tuple[int, Owners]]:
    """(rules, owners of the default blocks), for no covering rule and more while they help."""
    nearest = [tuple(range(1 << power))]
    error = error_of_owners(wanted, nearest[0], width)
    yield 0, nearest[0]
    for covering in range(1, 1 << power):
        covered = {
            owners[:start] + (target,) * size + owners[start + size :]
            for owners in nearest
            for size in (1 << level for level in range(1, power + 1))
            for start in range(0, 1 << power, size)
            for target, part in enumerate(wanted.parts)
            if part
        }
        errors = {owners: error_of_owners(wanted, owners, width) for owners in covered}
        nearest = sorted(covered, key=lambda owners: (errors[owners], owners))[:NEAREST]
        if not nearest or errors[nearest[0]] >= error:
            return
        error = errors[nearest[0]]
        for owners in nearest:
            yield covering, owners


def _moves(wanted: Shares, owners: Owners, width: int) -> Iterator[Move]:
    # Moves of more than a block are covering rules.
    block = (1 << width) // len(owners)
    held = _held(wanted, owners, width)
    return moves(wanted.parts, wanted.scale, held, lambda *_: block)


def _held(wanted: Shares, owners: Owners, width: int) -> list[int]:
    held = [0] * len(wanted)
    for owner in owners:
        held[owner] += (1 << width) // len(owners)
    return held
