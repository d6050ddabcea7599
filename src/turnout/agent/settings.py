"""Kernel settings and addresses on a backend: set, checked, put back, undone.

What was there before is written to a state file before anything is changed, so that undoing
works whatever happened in between.
"""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from turnout.agent.wanted import Wanted
from turnout.config import Address
from turnout.kernel import addresses, sysctl

RUN = Path(os.environ.get("RUNTIME_DIRECTORY", "/run/turnout"))
"""Where the state is kept; systemd says so by RuntimeDirectory=."""
LOOPBACK = "lo"


def required(interfaces: Iterable[str]) -> dict[tuple[str, ...], str]:
    """Settings by path.

    arp_ignore 1, arp_announce 2: the host neither answers ARP for a VIP on lo nor speaks in its
    name. rp_filter 2: the inner packet's source is a client, who may be reached by another
    interface. For each interface the greater of its own value and that of "all" counts.
    """
    values = {"arp_ignore": "1", "arp_announce": "2", "rp_filter": "2"}
    return {
        ("net", "ipv4", "conf", interface, name): value
        for interface in interfaces
        for name, value in values.items()
    }


@dataclass(slots=True)
class Former:
    """What was there before us."""

    settings: dict[tuple[str, ...], str] = field(default_factory=dict)
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


def establish(wanted: Wanted, interfaces: Iterable[str], path: Path) -> Iterator[str]:
    """Make hold what must; yields a line for each thing that did not. Raises OSError."""
    former = Former.load(path)
    known = Former(dict(former.settings), set(former.vips))
    settings = {n: v for n, v in required(interfaces).items() if sysctl.read(n) != v}
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
    for vip in surplus:
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
