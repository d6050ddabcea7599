"""turnout split: the fewest prefix rules for a ratio, or the best ratio for a number of rules."""

import csv
import sys
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO

import click

from turnout.cli import fleet as fleet_file
from turnout.cli.output import print_json, table
from turnout.cli.sample import warnings
from turnout.cli.split_batch import answered
from turnout.cli.splits import asked_for, document, pattern, rules_of, split_options, text, utf8
from turnout.config import ConfigError
from turnout.split import (
    Norm,
    Split,
    approximate,
    request,
)
from turnout.switch import FIELDS, Field, nft, openflow


@click.command()
@click.argument("weights", nargs=-1)
@click.option(
    "--from",
    "source",
    type=click.File("rb"),
    metavar="FILE",
    help="Read the weights from a file, - for standard input: target,weight as CSV, or JSON.",
)
@click.option(
    "--batch",
    type=click.File("rb"),
    metavar="FILE",
    help="Answer many requests, each a line of JSON: weights, and width, rules, norm, max_error "
    "where wanted. An error in one is its answer.",
)
@click.option(
    "--fleet",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take the weights from a turnout.yaml, with --pool or --service.",
)
@click.option(
    "--pool",
    metavar="NAME",
    help="With --fleet: split over this pool's members as they are weighted, the draining ones left out.",
)
@click.option(
    "--service",
    metavar="NAME",
    help="With --fleet: split evenly over the instances that announce this service.",
)
@split_options
@click.option("--curve", is_flag=True, help="Print the error for 1, 2, ... rules.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json", "csv", "openflow", "nft"]),
    default="table",
    show_default=True,
    help="Aligned columns, JSON, the rules as CSV, flows for ovs-ofctl add-flows, a ruleset for "
    "nft -f.",
)
@click.option(
    "--field",
    type=click.Choice([*FIELDS]),
    default="nw_src",
    show_default=True,
    help="For openflow, nft and --sample: the field whose lowest bits decide.",
)
@click.option(
    "--sample",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Packets that were seen (pcap, pcapng, or a value of the field a line): warn where targets "
    "would get other shares of them.",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    metavar="FILE.svg",
    help="Also draw the trie of the rules, and the error against their number, as SVG.",
)
def command(
    weights: tuple[str, ...],
    source: BinaryIO | None,
    batch: BinaryIO | None,
    fleet: Path | None,
    pool: str | None,
    service: str | None,
    width: int | None,
    budget: int | None,
    norm: Norm,
    max_error: str | None,
    curve: bool,
    output: str,
    field: str,
    sample: Path | None,
    plot: Path | None,
) -> None:
    """Split addresses in the ratio WEIGHTS (3:5:11, or a=3 b=5 c=11) by prefix rules.

    The longest prefix that matches wins. Without --rules and --max-error the split is as exact as
    the width allows. `turnout split diff` compares two splits.
    """
    if [bool(weights), *(s is not None for s in (source, batch, fleet))].count(True) != 1:
        raise click.UsageError("expected one of WEIGHTS, --from, --batch and --fleet")
    if [pool, service].count(None) != (2 if fleet is None else 1):
        raise click.UsageError("expected --pool or --service with --fleet, and only with it")
    if batch is not None:
        for option, given in (("--plot", plot), ("--sample", sample)):
            if given is not None:
                raise click.UsageError(f"{option}: expected without --batch")
        sys.exit(2 if answered(batch) else 0)
    try:
        if source is not None:
            name = getattr(source, "name", "<stdin>")
            wanted = request.read(utf8(source.read(), name), name)
        elif fleet is not None:
            wanted = fleet_file.weights(fleet, pool, service)
        else:
            wanted = request.parse(weights)
        if curve and max_error is not None:
            raise ValueError("--max-error: expected without --curve")
        found = asked_for(wanted, width, budget, norm, max_error)
        points = _curve(list(wanted.values()), found.width, norm) if curve else []
        flows = None
        if output in ("openflow", "nft"):
            if curve:
                raise ValueError(f"--curve: expected without -o {output}")
            flows = _for_switch(list(wanted), found, output, FIELDS[field])
        said = warnings(found, list(wanted), FIELDS[field], sample) if sample else []
        if plot is not None:
            _plot(plot, list(wanted), found)
    except (ConfigError, ValueError, OSError) as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    for line in said:
        click.echo(line, err=True)
    if flows is not None:
        click.echo(flows)
    elif curve:
        _print_curve(points, output)
    elif output == "json":
        print_json(document(list(wanted), found))
    elif output == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(("pattern", "target", "share"))
        writer.writerows(
            (pattern(rule, found.width), name, f"{float(share):.9f}")
            for rule, name, share in rules_of(list(wanted), found)
        )
    else:
        click.echo(text(list(wanted), found, width is None))


def _plot(path: Path, names: list[str], found: Split) -> None:
    try:
        from turnout.cli import plot  # here, since only drawing needs matplotlib
    except ModuleNotFoundError as error:
        raise ValueError(
            f"--plot: the package {error.name} is missing: pip install 'turnout[plot]'"
        ) from None
    rules = [
        plot.Shown(rule, pattern(rule, found.width), name, float(share))
        for rule, name, share in rules_of(names, found)
    ]
    try:
        plot.save(plot.split(found, rules), path)
    except OSError as error:
        raise ValueError(f"--plot: {path}: {error.strerror}") from None


def _curve(weights: list[Fraction], width: int, norm: Norm) -> list[Split]:
    points: list[Split] = []
    least = approximate(weights, width, None, norm).error
    while not points or points[-1].error > least:
        points.append(approximate(weights, width, len(points) + 1, norm))
    return points


def _for_switch(names: list[str], split: Split, output: str, field: Field) -> str:
    if output == "nft":
        return nft.ruleset(split, names, field)
    return "\n".join(map(str, openflow.flows(split, openflow.ports(names), field)))


def _print_curve(points: list[Split], output: str) -> None:
    head = ("RULES", "ERROR", "SHARE")
    rows = [
        (n, float(p.error), f"{float(request.share(p.error, p.norm, p.width)):.9f}")
        for n, p in enumerate(points, 1)
    ]
    if output == "json":
        print_json([{"rules": n, "error": str(points[n - 1].error)} for n, *_ in rows])
    elif output == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows([tuple(name.lower() for name in head), *rows])
    else:
        click.echo(table(head, rows))
