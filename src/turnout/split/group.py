"""VIPs with similar weights in groups, each with one set of rules (Niagara, CoNEXT 2015, section on
grouping): a table before the rules gives each VIP the tag of its group."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from turnout.split.approximate import error_of
from turnout.split.model import Weight, checked_partition, checked_width, shares
from turnout.split.pack import Demand, checked_traffic

MOST_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class Grouping:
    """VIPs in groups."""

    tags: tuple[int, ...]
    """The group of each VIP."""
    demands: tuple[Demand, ...]
    """Of each group: the mean of its VIPs' weights by their traffic, and all their traffic."""


def group(demands: Sequence[Demand], groups: int) -> Grouping:
    """At most `groups` groups of demands, by k-means on the weights as shares, each demand as heavy as
    its traffic. It begins with the demands of most traffic whose weights are distinct, and always
    ends the same; groups without a demand are left out.

    Raises ValueError for no demand, a number of groups below 1, traffic that is no rational above 0,
    weights that are no rationals >= 0 or all 0, and demands with different numbers of targets.
    """
    traffic = checked_traffic(demands)
    if isinstance(groups, bool) or not isinstance(groups, Integral) or groups < 1:
        raise ValueError(f"groups: {groups!r}: expected an integer >= 1")
    targets = len(demands[0].weights)
    for place, demand in enumerate(demands):
        if len(demand.weights) != targets:
            raise ValueError(
                f"demands[{place}]: {len(demand.weights)} targets: expected {targets}, as the first"
            )
    parts = [_parts(demand.weights) for demand in demands]
    found = _nearest(np.array(parts, float), np.array(traffic, float), int(groups))
    used = {tag: place for place, tag in enumerate(np.unique(found).tolist())}
    tags = tuple(used[tag] for tag in found.tolist())
    members: list[list[int]] = [[] for _ in used]
    for place, tag in enumerate(tags):
        members[tag].append(place)
    return Grouping(
        tags,
        tuple(
            Demand(
                tuple(
                    sum((traffic[m] * parts[m][target] for m in inside), Fraction(0))
                    for target in range(targets)
                ),
                sum((Fraction(demands[m].traffic) for m in inside), Fraction(0)),
            )
            for inside in members
        ),
    )


def imbalance(weights: Sequence[Weight], partition: Sequence[int], width: int) -> Fraction:
    """The share of addresses at another target than the weights ask for: in a group, of one VIP.

    Raises ValueError for weights as `approximate`, and for what is no partition of 2^width among
    as many targets.
    """
    wanted = shares(weights, checked_width(width))
    got = checked_partition(partition, width).tolist()
    if len(got) != len(wanted):
        raise ValueError(f"partition: {len(got)} targets: expected {len(wanted)}, as the weights")
    return error_of(got, wanted, "l1") / (2 << width)


def _parts(weights: Sequence[Weight]) -> list[Fraction]:
    """Shares of 1. The widest key has room for any number of targets."""
    wanted = shares(weights, 62)
    return [Fraction(part, wanted.scale << 62) for part in wanted.parts]


def _nearest(
    points: NDArray[np.float64], heavy: NDArray[np.float64], groups: int
) -> NDArray[np.intp]:
    """The group of each point, by Lloyd's algorithm."""
    order = np.argsort(-heavy, kind="stable")
    _, first = np.unique(points[order], axis=0, return_index=True)
    centres = points[order[np.sort(first)[:groups]]]
    tags: NDArray[np.intp] | None = None
    for _ in range(MOST_ROUNDS):
        far = np.stack([((points - centre) ** 2).sum(1) for centre in centres])
        nearest: NDArray[np.intp] = far.argmin(0)
        if tags is not None and np.array_equal(nearest, tags):
            break
        tags = nearest
        for tag in np.unique(tags):
            inside = tags == tag
            centres[tag] = np.average(points[inside], axis=0, weights=heavy[inside])
    return nearest
