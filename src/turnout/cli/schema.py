"""turnout schema: for editors."""

import json

import click

from turnout import config


@click.command()
def command() -> None:
    """Print the JSON Schema of the fleet file, for editors."""
    click.echo(json.dumps(config.schema(), indent=2))
