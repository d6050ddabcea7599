"""What a laboratory has put into the world, written down before it is done, so that whoever
comes later can take it away: `turnout lab down`, or the next lab after one that was killed."""

import fcntl
import json
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path

from turnout.kernel import netns
from turnout.lab.processes import ProcessId, kill

HOME = Path("/run/turnout-lab")


@dataclass(slots=True)
class Record:
    """One laboratory. Its directory is HOME/name; namespaces are named turnout-NAME-NODE."""

    name: str
    nodes: tuple[str, ...]
    owner: ProcessId | None
    """Who takes it away; None: it stays until it is told to go."""
    processes: dict[str, ProcessId] = field(default_factory=dict)
    """By "NODE/NAME"."""

    @property
    def directory(self) -> Path:
        return HOME / self.name

    def namespace(self, node: str) -> str:
        return f"turnout-{self.name}-{node}"

    def save(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        place = self.directory / "record.json"
        fresh = place.with_suffix(".new")
        fresh.write_text(json.dumps(asdict(self)))
        fresh.replace(place)

    def stale(self) -> bool:
        return self.owner is not None and not self.owner.alive()

    def remove(self) -> None:
        """Kill its processes, remove its namespaces, forget it.

        A laboratory that was killed may have started a process that it had no time to write down:
        whatever runs in a namespace of ours is ours.
        """
        found = [pid for node in self.nodes for pid in netns.inhabitants(self.namespace(node))]
        unrecorded = [process for pid in found if (process := ProcessId.of(pid))]
        kill([*self.processes.values(), *unrecorded])
        for node in self.nodes:
            netns.remove(self.namespace(node))
        shutil.rmtree(self.directory, ignore_errors=True)


def find(name: str) -> Record | None:
    """The laboratory of that name."""
    try:
        content = json.loads((HOME / name / "record.json").read_text())
    except FileNotFoundError:
        return None
    owner = content["owner"]
    return Record(
        name=content["name"],
        nodes=tuple(content["nodes"]),
        owner=ProcessId(**owner) if owner else None,
        processes={key: ProcessId(**value) for key, value in content["processes"].items()},
    )


def register(record: Record) -> None:
    """Remove what killed laboratories left, then write `record` down.

    Raises FileExistsError where a laboratory has its name.
    """
    HOME.mkdir(parents=True, exist_ok=True)
    with (HOME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for place in HOME.glob("*/record.json"):
            other = find(place.parent.name)
            if other and other.stale():
                other.remove()
        if find(record.name):
            raise FileExistsError(f"a lab named {record.name} is up")
        record.save()
