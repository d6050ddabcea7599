"""turnout mtu: how long packets become."""

import sys
from dataclasses import asdict
from pathlib import Path

import click

from turnout import config, plan
from turnout.cli.output import output_option, print_json, table

HEAD = (
    "SERVICE",
    "ENCAPSULATION",
    "INNER",
    "OUTER",
    "ADDS",
    "LARGEST INNER",
    "MSS",
    "LINK MTU NEEDED",
    "FRAME",
    "TAGGED FRAME",
)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--link-mtu",
    type=int,
    default=1500,
    show_default=True,
    help="MTU between instances and backends, bytes.",
)
@click.option(
    "--client-mtu", type=int, default=1500, show_default=True, help="MTU of the clients, bytes."
)
@output_option
def command(file: Path, link_mtu: int, client_mtu: int, output: str) -> None:
    """Print for each service of FILE how long packets may be, and how long they become.

    ADDS is what encapsulation adds. LARGEST INNER and MSS are what fits the link MTU as it is;
    LINK MTU NEEDED is what would take full packets of the clients, in Ethernet frames of the
    lengths at the end (check sequence not counted).
    """
    try:
        rooms = plan.rooms(config.load(file), link_mtu, client_mtu)
    except (config.ConfigError, ValueError) as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    if output == "json":
        print_json([asdict(room) for room in rooms])
        return
    click.echo(
        table(
            HEAD,
            [
                (
                    room.service,
                    room.encapsulation,
                    f"IPv{room.inner}",
                    f"IPv{room.outer}",
                    room.overhead,
                    room.largest_inner,
                    room.mss,
                    room.link_mtu,
                    room.frame,
                    room.tagged_frame,
                )
                for room in rooms
            ],
        )
    )
