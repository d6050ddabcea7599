"""`turnout show`: what the daemon of this machine holds and has counted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from turnout.cli.client import get, socket_option
from turnout.cli.output import output_option, print_json, table

COUNTED = ("PACKETS", "BYTES", "NEW FLOWS")


@click.group("show")
def command() -> None:
    """What the running daemon holds and has counted.

    With -o json the document of the daemon's interface, as it is.
    """


def _shown(name: str, path: Path, output: str, text: Callable[[Any], str]) -> None:
    document = get(path, f"/v1/{name}")
    if output == "json":
        print_json(document)
    else:
        click.echo(text(document))


@command.command()
@socket_option
@output_option
def status(socket_path: Path, output: str) -> None:
    """Instance, generation, XDP mode in force, announced VIPs."""
    _shown("status", socket_path, output, _status)


@command.command()
@socket_option
@output_option
def services(socket_path: Path, output: str) -> None:
    """Each service with its pool, and what came for it."""
    _shown("services", socket_path, output, _services)


@command.command()
@socket_option
@output_option
def backends(socket_path: Path, output: str) -> None:
    """Each member of a pool: its state and why, its share, and what it was sent."""
    _shown("backends", socket_path, output, _backends)


@command.command()
@socket_option
@output_option
@click.option("--all", "zero", is_flag=True, help="Also reasons under which nothing was counted.")
def counters(socket_path: Path, output: str, zero: bool) -> None:
    """What became of the packets. Each is counted once."""
    _shown("counters", socket_path, output, lambda document: _counters(document, zero))


def _status(document: Any) -> str:
    generation = str(document["generation"])
    if document["applied_generation"] != document["generation"]:
        generation += f" (in force: {document['applied_generation']})"
    lines = [
        ("instance", document["instance"]),
        ("version", document["version"]),
        ("file", document["file"]),
        ("generation", generation),
        ("uptime", _duration(document["uptime_s"])),
        *(
            ("interface", f"{interface['name']} ({interface['mode']})")
            for interface in document["interfaces"]
        ),
        ("announced", ", ".join(document["announced"]) or "nothing"),
    ]
    if document["failure"]:
        lines.append(("failure", document["failure"]))
    width = max(len(name) for name, _ in lines) + 1
    return "\n".join(f"{name + ':':{width}}  {value}" for name, value in lines)


def _services(document: Any) -> str:
    head = ("SERVICE", "VIP", "PROTOCOL", "PORT", "POOL", "UP", "ANNOUNCED")
    return table(
        (*head, *COUNTED),
        [
            (
                *(row[name] for name in ("name", "vip", "protocol")),
                "all" if row["port"] is None else row["port"],
                row["pool"],
                f"{row['members_up']}/{row['members']}",
                row["announced"],
                *_counted(row),
            )
            for row in document["services"]
        ],
    )


def _backends(document: Any) -> str:
    head = ("POOL", "BACKEND", "ADDRESS", "STATE", "SINCE", "WEIGHT", "SHARE")
    return table(
        (*head, *COUNTED, "REASON"),
        [
            (
                *(row[name] for name in ("pool", "backend", "address", "state", "since", "weight")),
                _share(row["pool"], row["shares"]),
                *_counted(row),
                row["reason"] or None,
            )
            for row in document["backends"]
        ],
    )


def _counters(document: Any, zero: bool) -> str:
    return table(
        ("REASON", "VERDICT", "PACKETS", "MEANING"),
        [
            tuple(row[name] for name in ("reason", "verdict", "packets", "meaning"))
            for row in document["counters"]
            if zero or row["packets"]
        ],
    )


def _counted(row: Any) -> tuple[int, ...]:
    return tuple(row[name] for name in ("packets", "bytes", "new_flows"))


def _share(own: str, shares: dict[str, float]) -> str | None:
    """The share in the member's own pool stands alone; in others, with their names."""
    return (
        " ".join(
            f"{share:.1%}" if pool == own else f"{pool}:{share:.1%}"
            for pool, share in shares.items()
        )
        or None
    )


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return (f"{days}d " if days else "") + f"{hours:02}:{minutes:02}:{rest:02}"
