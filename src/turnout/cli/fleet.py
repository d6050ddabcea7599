"""Weights from the file of the fleet: over a pool's members, or the instances of a service."""

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

from turnout import config


def weights(path: Path, pool: str | None, service: str | None) -> dict[str, Fraction]:
    """Target names to weights, in the order of the file: the members of `pool`, or the instances that
    announce `service`, which all do, each the same. Just one of the two is given.

    A draining member is left out: it is to take no new flows, and a rule cannot tell them from old
    ones. Raises ConfigError, and ValueError for a pool or service that the file has not, and a pool
    in which every member drains.
    """
    fleet = config.load(path)
    if service is not None:
        _known("service", service, fleet.services)
        return dict.fromkeys(fleet.instances, Fraction(1))
    assert pool is not None
    _known("pool", pool, fleet.pools)
    found = {
        member.backend: Fraction(member.weight)
        for member in fleet.pools[pool].members
        if not member.drain
    }
    if not found:
        raise ValueError(f"pool {pool}: every member drains: expected one that does not")
    return found


def _known(kind: str, name: str, names: Iterable[str]) -> None:
    if name not in names:
        raise ValueError(f"no {kind} is named {name!r}: expected one of {', '.join(names)}")
