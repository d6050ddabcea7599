"""turnout lab: a network of namespaces to look around in."""

import os
import shlex
import sys
from pathlib import Path

import click

from turnout import lab
from turnout.cli.output import output_option, print_json, table
from turnout.config import Encapsulation, Mode
from turnout.kernel import netns

NAME = "lab"


@click.group()
def command() -> None:
    """A laboratory of network namespaces that stays until it is taken down."""


@command.command()
@click.option("--instances", type=click.IntRange(1, 32), default=2, show_default=True)
@click.option("--backends", type=click.IntRange(1, 64), default=4, show_default=True)
@click.option(
    "--mode", type=click.Choice(["native", "generic"]), default="native", show_default=True
)
@click.option(
    "--encapsulation",
    type=click.Choice(["gue", "ipip", "gre"]),
    default="gue",
    show_default=True,
)
def up(instances: int, backends: int, mode: Mode, encapsulation: Encapsulation) -> None:
    """Build it: a client, a router with BIRD, instances and backends, all at work."""
    topology = lab.Topology(
        instances=instances, backends=backends, mode=mode, encapsulation=encapsulation
    )
    try:
        with lab.Lab(topology, NAME) as network:
            network.start_all()
            network.keep()
    except FileExistsError:
        raise click.ClickException("it is up already: see `turnout lab status`") from None
    except (lab.LabError, OSError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(_overview(_found()))
    click.echo(
        "\ntry:  turnout lab shell client1\n"
        f"      curl http://{lab.VIP4}/  http://[{lab.VIP6}]/\n"
        f"      turnout show backends --socket {network.control('lb1')}\n"
        "end:  turnout lab down"
    )


@command.command()
@output_option
def status(output: str) -> None:
    """Its machines and their programs."""
    record = _found()
    if output == "json":
        print_json(
            {
                "directory": str(record.directory),
                "machines": [
                    {
                        "name": node,
                        "namespace": record.namespace(node),
                        "programs": [
                            {"name": name, "pid": pid, "running": running}
                            for name, pid, running in _programs(record, node)
                        ],
                    }
                    for node in record.nodes
                ],
            }
        )
        return
    click.echo(_overview(record))


@command.command()
@click.argument("node")
@click.argument("arguments", nargs=-1)
def shell(node: str, arguments: tuple[str, ...]) -> None:
    """A shell on machine NODE, or the command ARGUMENTS (after --) run there."""
    record = _found()
    if node not in record.nodes:
        raise click.BadParameter(f"no machine is named {node!r}: {', '.join(record.nodes)}")
    netns.enter(record.namespace(node))
    # Commands of this installation are found there as they are here.
    path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}"
    command = list(arguments) or [os.environ.get("SHELL", "/bin/sh")]
    environment = {**os.environ, "PATH": path}
    try:
        os.execvpe(command[0], command, environment)
    except OSError as error:
        raise click.ClickException(f"{shlex.join(command)}: {error.strerror}") from None


@command.command()
def down() -> None:
    """Take it down."""
    _found().remove()


def _found() -> lab.Record:
    record = lab.find(NAME)
    if record is None:
        raise click.ClickException("none is up: `turnout lab up` builds one")
    return record


def _programs(record: lab.Record, node: str) -> list[tuple[str, int, bool]]:
    return [
        (key.partition("/")[2], process.pid, process.alive())
        for key, process in record.processes.items()
        if key.startswith(f"{node}/")
    ]


def _overview(record: lab.Record) -> str:
    rows = [
        (
            node,
            record.namespace(node),
            ", ".join(
                f"{name} ({pid if running else 'ended'})"
                for name, pid, running in _programs(record, node)
            )
            or None,
        )
        for node in record.nodes
    ]
    machines = table(("MACHINE", "NAMESPACE", "PROGRAMS"), rows)
    return f"{machines}\n\nfleet file, logs and sockets: {record.directory}"
