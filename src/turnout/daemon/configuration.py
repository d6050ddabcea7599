"""The fleet file as one instance uses it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from turnout.config import Address, Check, Fleet, Instance, Member, load, read_key
from turnout.plan import MemberKey, hash_key


class RefusalError(Exception):
    """A configuration that this daemon cannot take, with the reason."""


@dataclass(frozen=True, slots=True)
class Configuration:
    fleet: Fleet
    instance: Instance
    hash_keys: Mapping[str, bytes]
    """By the name that pools give; secrets."""

    def members(self) -> dict[MemberKey, Member]:
        """Of the pools that services use: each once, whichever pools include it."""
        used = dict.fromkeys(service.pool for service in self.fleet.services.values())
        return {
            (member.pool, member.backend): member
            for pool in used
            for member in self.fleet.pools[pool].members
        }

    def addresses(self) -> dict[MemberKey, Address]:
        return {
            key: self.fleet.backends[member.backend].address
            for key, member in self.members().items()
        }

    def checked(self) -> dict[MemberKey, tuple[Check, Address]]:
        """The members that have a check."""
        addresses = self.addresses()
        return {
            key: (member.check, addresses[key])
            for key, member in self.members().items()
            if member.check is not None
        }

    def first_round_s(self) -> float:
        """Within which every healthy member has come up: the first question is put within one
        interval, and it takes `rise` answers."""
        checks = {check for check, _ in self.checked().values()}
        return max((c.interval_s * (c.rise + 1) + c.timeout_s for c in checks), default=0.0)


def read(path: Path, instance: str) -> Configuration:
    """Read the fleet file for one instance.

    Raises turnout.config.ConfigError where the file is wrong, and RefusalError where it does not
    know the instance or its key file has just become unreadable.
    """
    fleet = load(path)
    if instance not in fleet.instances:
        known = ", ".join(fleet.instances) or "none"
        raise RefusalError(
            f"{path}: instances: found no {instance!r}; known: {known}; name one by --instance"
        )
    try:
        master = read_key(fleet.key_file) if fleet.key_file else b""
    except ValueError as error:
        raise RefusalError(f"{path}: key_file: {error}") from None
    names = {pool.hash_key for pool in fleet.pools.values()}
    return Configuration(
        fleet, fleet.instances[instance], {name: hash_key(master, name) for name in names}
    )


def check_reload(before: Configuration, after: Configuration) -> None:
    """What is set up once, at the start, cannot change with a reload.

    Raises RefusalError, naming all of it.
    """
    fixed = {
        "interfaces": (before.instance.interfaces, after.instance.interfaces),
        "mode": (before.instance.mode, after.instance.mode),
        "announcement.table": (before.fleet.announcement.table, after.fleet.announcement.table),
        "announcement.protocol": (
            before.fleet.announcement.protocol,
            after.fleet.announcement.protocol,
        ),
    }
    changed = [
        f"{field} from {_plain(old)} to {_plain(new)}"
        for field, (old, new) in fixed.items()
        if old != new
    ]
    if changed:
        raise RefusalError(f"restart needed to change {' and '.join(changed)}")


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
