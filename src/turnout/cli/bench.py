"""turnout bench: speed of the programs on this machine."""

import sys
from dataclasses import asdict

import click

from turnout.bench import forwarder
from turnout.cli.output import output_option, print_json, table
from turnout.kernel.bpf import BpfError
from turnout.xdp import DataPlaneError


@click.group()
def command() -> None:
    """Measure speed on this machine. Needs root."""


@command.command("forwarder")
@output_option
def forwarder_command(output: str) -> None:
    """Time a packet takes in the forwarder alone.

    Nanoseconds by case and number of flows: minimum and median of 7 runs of 1,000,000 packets, and
    the median as a ratio to a minimal reference program in the same run. Network card, driver and
    interrupts are not in it.
    """
    waiting = sys.stderr.isatty()

    def step(name: str) -> None:
        if waiting:
            click.echo(f"\r\033[K{name} ...", err=True, nl=False)

    try:
        figures = list(forwarder(step=step))
    except (BpfError, DataPlaneError, FileNotFoundError, RuntimeError) as error:
        click.echo(f"bench: {error}", err=True)
        sys.exit(1)
    if waiting:
        click.echo("\r\033[K", err=True, nl=False)
    if output == "json":
        print_json({"cases": [asdict(figure) for figure in figures]})
        return
    rows = [
        (
            f.case,
            f.flows,
            *(round(ns, 1) for ns in (f.net_ns_min, f.net_ns_median)),
            round(f.ratio, 2),
        )
        for f in figures
    ]
    click.echo(table(("CASE", "FLOWS", "NET NS MIN", "NET NS MEDIAN", "RATIO"), rows))
