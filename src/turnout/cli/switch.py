"""turnout switch: splits in a real switch."""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from turnout import config
from turnout.cli.output import output_option, print_json, table
from turnout.cli.sample import warnings
from turnout.cli.splits import asked_for, split_options
from turnout.split import Norm, request
from turnout.switch import FIELDS, Bridge, Flow, SwitchError, openflow, wanted


@click.group()
def command() -> None:
    """Splits in Open vSwitch: put there, looked at, taken away.

    A BRIDGE is named as for ovs-ofctl: br0 on this machine, or unix:PATH, tcp:ADDRESS:PORT. Flows of
    others are never touched; ours have the cookie 0x7475726e.
    """


@command.command()
@click.argument("words", nargs=-1, metavar="BRIDGE WEIGHTS... | [SWITCH]...")
@click.option(
    "--fleet",
    "fleet_file",
    type=click.Path(path_type=Path),
    help="Instead of weights: the switches of a fleet file, all or those named.",
)
@split_options
@click.option(
    "--field",
    type=click.Choice([*FIELDS]),
    default="nw_src",
    show_default=True,
    help="The field whose lowest bits decide.",
)
@click.option(
    "--sample",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Packets that were seen (pcap, pcapng, or a value of the field a line): warn where the "
    "targets would get other shares of them.",
)
def apply(
    words: tuple[str, ...],
    fleet_file: Path | None,
    width: int | None,
    budget: int | None,
    norm: Norm,
    max_error: str | None,
    field: str,
    sample: Path | None,
) -> None:
    """Make a split all flows of ours that a bridge has; targets are its ports (eth1=3 eth2=5).

    The difference to what is there goes in one bundle: each packet meets the old flows or the new
    ones, and the switch takes all of it or nothing.
    """
    context = click.get_current_context()
    if fleet_file is not None:
        for name in ("width", "budget", "norm", "max_error", "field", "sample"):
            if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
                raise click.UsageError("with --fleet the file says all: expected no other option")
        _apply_fleet(fleet_file, words)
        return
    if len(words) < 2:
        raise click.UsageError("expected BRIDGE WEIGHTS..., or --fleet")
    name, *weighed = words
    bridge = _bridge(name)
    try:
        weights = request.parse(weighed)
        split = asked_for(weights, width, budget, norm, max_error)
        flows = openflow.flows(split, openflow.ports(list(weights)), FIELDS[field])
        said = warnings(split, list(weights), FIELDS[field], sample) if sample else []
    except (ValueError, OSError) as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    for line in said:
        click.echo(line, err=True)
    _apply(name, bridge, flows)


def _apply_fleet(file: Path, names: Sequence[str]) -> None:
    try:
        fleet = config.load(file)
        flows = {name: wanted(fleet, name) for name in names or fleet.switches}
        if not flows:
            raise ValueError(f"{file}: switches: found none: expected at least one")
        bridges: dict[str, str] = {}
        for name in flows:
            bridge = fleet.switches[name].bridge
            other = bridges.setdefault(bridge, name)
            if other != name:
                raise ValueError(
                    f"{file}: switches: {other} and {name} are {bridge} of two machines: expected "
                    "the name of the one that is here"
                )
    except (config.ConfigError, ValueError) as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    for name, those in flows.items():
        bridge = fleet.switches[name].bridge
        _apply(bridge, Bridge(bridge), those)


def _bridge(name: str) -> Bridge:
    if not name.strip() or not name.isprintable():
        raise click.UsageError(
            f"BRIDGE: {name!r}: expected the name of a bridge, or unix:PATH, tcp:ADDRESS:PORT or "
            "ssl:ADDRESS:PORT"
        )
    return Bridge(name)


def _apply(name: str, bridge: Bridge, flows: Sequence[Flow]) -> None:
    try:
        change = bridge.apply(flows)
    except SwitchError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{name}: {len(flows)} flows of ours: {change}")


@command.command()
@click.argument("bridge")
@output_option
def show(bridge: str, output: str) -> None:
    """Our flows in BRIDGE, and the packets that each port got by them."""
    found = _bridge(bridge)
    try:
        flows = [flow for flow in found.flows() if flow.ours]
        names = found.ports()
    except SwitchError as error:
        raise click.ClickException(str(error)) from None
    rows = [
        (
            flow.table,
            flow.priority,
            flow.match or "-",
            names.get(flow.port or 0, flow.actions),
            flow.packets,
        )
        for flow in flows
    ]
    packets: Counter[str] = Counter()
    for *_, port, count in rows:
        packets[port] += count
    if output == "json":
        keys = ("table", "priority", "match", "port", "packets")
        print_json({"flows": [dict(zip(keys, row, strict=True)) for row in rows], "ports": packets})
        return
    total = max(1, packets.total())
    click.echo(table(("TABLE", "PRIORITY", "MATCH", "PORT", "PACKETS"), rows))
    click.echo()
    click.echo(
        table(
            ("PORT", "PACKETS", "SHARE"),
            [(port, count, f"{count / total:.4%}") for port, count in packets.items()],
        )
    )


@command.command()
@click.argument("bridge")
def remove(bridge: str) -> None:
    """Take our flows out of BRIDGE; those of others stay."""
    _apply(bridge, _bridge(bridge), [])
