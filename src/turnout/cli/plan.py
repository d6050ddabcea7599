"""turnout plan: what would be installed."""

import socket
import sys
from pathlib import Path

import click

from turnout import config, plan
from turnout.cli.output import output_option, print_json


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--instance", help="Whose plan.  [default: the host name]")
@output_option
def command(file: Path, instance: str | None, output: str) -> None:
    """Print the plan of an instance as it is with every member up.

    Next hops are found at run time, so none is known here.
    """
    try:
        fleet = config.load(file)
        made = everything_up(fleet, instance or socket.gethostname())
    except (config.ConfigError, ValueError) as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    if output == "json":
        print_json(plan.to_json(made))
        return
    for step in plan.diff(None, made):
        click.echo(str(step))


def everything_up(fleet: config.Fleet, instance: str) -> plan.Plan:
    """The plan where nothing is wrong, with keys that are nobody's."""
    up = {(m.pool, m.backend): True for pool in fleet.pools.values() for m in pool.members}
    keys = {pool.hash_key: bytes(16) for pool in fleet.pools.values()}
    return plan.compile(fleet, instance, plan.Observed(up=up), None, keys)
