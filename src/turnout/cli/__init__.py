"""The command line: what a person touches."""

import click

from turnout import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="turnout")
def main() -> None:
    """Turnout: a layer-4 load balancer for Linux."""
