"""turnout announce: what a BGP speaker needs."""

import socket
import sys
from pathlib import Path

import click

from turnout import announce, config


@click.group()
def command() -> None:
    """Announcing VIPs to routers."""


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--instance", help="Whose.  [default: the host name]")
def snippet(file: Path, instance: str | None) -> None:
    """Print what BIRD 2 needs to export the VIPs of FILE, BFD included."""
    try:
        text = announce.snippet(config.load(file), instance or socket.gethostname())
    except (config.ConfigError, ValueError) as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    click.echo(text, nl=False)
