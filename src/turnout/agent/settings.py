"""Kernel settings and addresses on a backend: set, checked, put back, undone.

What was there before is written to a state file before anything is changed, so that undoing
works whatever happened in between.
"""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from turnout.agent.errors import AgentError
from turnout.agent.wanted import Wanted
from turnout.config import Address
from turnout.kernel import addresses, sysctl

RUN = Path(os.environ.get("RUNTIME_DIRECTORY", "/run/turnout"))
"""Where the state is kept; systemd says so by RuntimeDirectory=."""
LOOPBACK = "lo"

Setting = tuple[str, ...]
"""Its path under /proc/sys."""


def amiss(interfaces: Iterable[str], ipv6: bool) -> dict[Setting, str]:
    """Settings that stand in the way of VIPs on lo, and what each must be. Raises OSError.

    arp_ignore 1, arp_announce 2: the host neither answers ARP for a VIP nor speaks in its name.
    What "all" has counts for every interface. (IPv6 never answers for another interface.)

    rp_filter 2 or 0, the greater of an interface's and that of "all": the inner packet's source is
    a client, who may be reached by another interface, which 1 forbids.

    disable_ipv6 0: else the inner packet of an IPv6 VIP is dropped, also where the outer is IPv4.
    """
    found: dict[Setting, str] = {}
    every = ("net", "ipv4", "conf", "all")
    for name, fine in (("arp_ignore", "12"), ("arp_announce", "2")):
        if sysctl.read((*every, name)) not in fine:
            found[*every, name] = fine[0]
    for interface in interfaces:
        own: Setting = ("net", "ipv4", "conf", interface, "rp_filter")
        if max(sysctl.read((*every, "rp_filter")), sysctl.read(own)) == "1":
            found[own] = "2"
    for interface in (LOOPBACK, *interfaces) if ipv6 else ():
        disabled: Setting = ("net", "ipv6", "conf", interface, "disable_ipv6")
        if sysctl.read(disabled) != "0":
            found[disabled] = "0"
    return found


@dataclass(slots=True)
class Former:
    """What was there before us."""

    settings: dict[Setting, str] = field(default_factory=dict)
    vips: set[Address] = field(default_factory=set)
    """Addresses that we have added."""

    def save(self, path: Path) -> None:
        """Write whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.touch(mode=0o600)
        document = {
            "settings": [[list(name), value] for name, value in self.settings.items()],
            "vips": sorted(map(str, self.vips)),
        }
        fresh.write_text(json.dumps(document))
        fresh.replace(path)

    @classmethod
    def load(cls, path: Path) -> "Former":
        """Empty where there is no file. Raises ValueError for one that is not ours."""
        if not path.exists():
            return cls()
        try:
            document = json.loads(path.read_text())
            return cls(
                {tuple(name): value for name, value in document["settings"]},
                {ip_address(vip) for vip in document["vips"]},
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path}: not a state file of the agent: {error!r}") from None


def state_file(backend: str, run: Path = RUN) -> Path:
    """Where the former state of a backend's host is kept."""
    return run / f"agent-{backend}.json"


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Nobody else touches what the state file at `path` is about. Raises AgentError where another
    agent runs, OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = path.with_suffix(".lock")
    with lock.open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AgentError(f"an agent of this backend runs: it holds {lock}") from None
        yield


def establish(wanted: Wanted, interfaces: Iterable[str], path: Path) -> Iterator[str]:
    """Make hold what must; yields a line for each thing that did not. Raises OSError, ValueError."""
    former = Former.load(path)
    known = Former(dict(former.settings), set(former.vips))
    settings = amiss(interfaces, any(vip.version == 6 for vip in wanted.vips))
    present = addresses.on_interface(LOOPBACK)
    missing = [vip for vip in wanted.vips if vip not in present]
    surplus = [vip for vip in former.vips if vip not in wanted.vips]
    for name in settings:
        known.settings.setdefault(name, sysctl.read(name))
    known.vips.update(missing)
    if known != former:
        known.save(path)
    for name, value in settings.items():
        before = sysctl.read(name)
        sysctl.write(name, value)
        yield f"set {'.'.join(name)} from {before} to {value}"
    for vip in missing:
        addresses.add(LOOPBACK, vip)
        yield f"added {vip} to {LOOPBACK}"
    for vip in sorted(surplus, key=str):
        addresses.remove(LOOPBACK, vip)
        known.vips.discard(vip)
        known.save(path)
        yield f"removed {vip} from {LOOPBACK}: no service has it any more"


def undo(path: Path) -> Iterator[str]:
    """Take back what `establish` did; yields a line for each thing. Raises OSError, ValueError."""
    former = Former.load(path)
    for vip in sorted(former.vips, key=str):
        addresses.remove(LOOPBACK, vip)
        yield f"removed {vip} from {LOOPBACK}"
    for name, value in former.settings.items():
        try:
            sysctl.write(name, value)
        except FileNotFoundError:
            yield f"{'.'.join(name)} is gone with its interface"
            continue
        yield f"set {'.'.join(name)} back to {value}"
    path.unlink(missing_ok=True)
