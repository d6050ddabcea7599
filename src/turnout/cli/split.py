"""turnout split: the fewest prefix rules for a ratio, or the best ratio for a number of rules."""

import csv
import json
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

import click

from turnout.cli import fleet as fleet_file
from turnout.cli.output import print_json, table
from turnout.config import ConfigError
from turnout.split import (
    NORMS,
    RELATIVE,
    Norm,
    Rule,
    Split,
    approximate,
    count,
    error_of,
    evaluate,
    fewest,
    request,
    wcmp,
)
from turnout.switch import FIELDS, Field, nft, openflow

WIDEST = 32
NEAR_ENOUGH = Fraction(1, 100)


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
@click.option(
    "--width",
    type=int,
    help="Bits of an address.  [default: the fewest with an error below 1 %]",
)
@click.option(
    "--rules", "budget", type=int, help="Rules there may be, the match-all rule included."
)
@click.option(
    "--norm",
    type=click.Choice(NORMS),
    default="linf",
    show_default=True,
    help="What is to be small: the largest error, the largest excess, each of them also as a share "
    "of what was asked for (rel), or the sum of the errors.",
)
@click.option(
    "--max-error",
    help="Instead of --rules: as few rules as an error of so much allows (1%, 0.01), as a share of "
    "all addresses, for the relative norms of what was asked for.",
)
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
    help="For openflow and nft: the field whose lowest bits decide.",
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
        if plot is not None:
            raise click.UsageError("--plot: expected without --batch")
        sys.exit(2 if _batch(batch) else 0)
    try:
        if source is not None:
            name = getattr(source, "name", "<stdin>")
            wanted = request.read(_utf8(source.read(), name), name)
        elif fleet is not None:
            wanted = fleet_file.weights(fleet, pool, service)
        else:
            wanted = request.parse(weights)
        if max_error is not None and (budget is not None or curve):
            raise ValueError("--max-error: expected without --rules and --curve")
        limit = None if max_error is None else request.number(max_error, "--max-error")
        found = split_for(list(wanted.values()), width, budget, norm, limit)
        points = _curve(list(wanted.values()), found.width, norm) if curve else []
        flows = None
        if output in ("openflow", "nft"):
            if curve:
                raise ValueError(f"--curve: expected without -o {output}")
            flows = _for_switch(list(wanted), found, output, FIELDS[field])
        if plot is not None:
            _plot(plot, list(wanted), found)
    except (ConfigError, ValueError) as error:
        click.echo(str(error), err=True)
        sys.exit(2)
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
            for rule, name, share in _rules(list(wanted), found)
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
        for rule, name, share in _rules(names, found)
    ]
    try:
        plot.save(plot.split(found, rules), path)
    except OSError as error:
        raise ValueError(f"--plot: {path}: {error.strerror}") from None


def _batch(lines: BinaryIO) -> int:
    """Prints an answer for each line, as soon as it is read; returns how many are errors."""
    wrong = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        answer: dict[str, Any]
        try:
            answer = _answer(request.loads(_utf8(line.strip(), "request"), "request"))
        except ValueError as error:
            wrong += 1
            answer = {"refused": str(error)}
        click.echo(json.dumps({"line": number, **answer}))
    return wrong


def _utf8(text: bytes, source: str) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{source}: byte {error.start}: expected text in UTF-8") from None


def _answer(asked: Any) -> dict[str, Any]:
    if not isinstance(asked, dict):
        raise ValueError(f"request: {str(asked)[:40]!r}: expected an object")
    known = ("weights", "width", "rules", "norm", "max_error")
    for field in asked:
        if field not in known:
            raise ValueError(f"{field}: not known: expected one of {', '.join(known)}")
    if "weights" not in asked:
        raise ValueError("weights: missing: expected an object, a list, or text as 3:5:11")
    wanted = request.weights_of(asked["weights"], "")
    width, budget, most = (asked.get(field) for field in ("width", "rules", "max_error"))
    if width is not None and type(width) is not int:
        raise ValueError(f"width: {width!r}: expected an integer")
    if most is not None and budget is not None:
        raise ValueError("max_error: expected without rules")
    limit = None if most is None else request.number(str(most), "max_error")
    norm = asked.get("norm", "linf")
    return document(list(wanted), split_for(list(wanted.values()), width, budget, norm, limit))


def split_for(
    weights: list[Fraction],
    width: int | None,
    budget: int | None = None,
    norm: Norm = "linf",
    limit: Fraction | None = None,
) -> Split:
    """The split that is asked for; without a width, of the fewest bits with a small error."""
    if width is not None:
        if limit is None:
            return approximate(weights, width, budget, norm)
        within = fewest(
            weights, width, norm, limit if norm in RELATIVE else limit * (1 << max(width, 0))
        )
        if within is None:
            least = approximate(weights, width, None, norm)
            raise ValueError(
                f"--max-error: {percent(limit)}: expected at least "
                f"{percent(request.share(least.error, norm, width))}, the least that {width} bits allow"
            )
        return within
    for bits in range((len(weights) - 1).bit_length(), WIDEST + 1):
        split = approximate(weights, bits, budget, norm)
        error = request.share(split.error, norm, bits)
        if error < NEAR_ENOUGH and (limit is None or error <= limit):
            return split if limit is None else split_for(weights, bits, None, norm, limit)
    asked = "--max-error" if limit is not None else "--rules"
    raise ValueError(
        f"{asked}: the error stays at {percent(error)} up to {WIDEST} bits: expected more, "
        "or a --width"
    )


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


def pattern(rule: Rule, width: int) -> str:
    """Its bits, a star for each that may be either: "01**"; "-" for a key without bits."""
    bits = f"{rule.prefix:0{rule.length}b}" if rule.length else ""
    return bits + "*" * (width - rule.length) or "-"


def document(names: list[str], split: Split) -> dict[str, Any]:
    """The whole answer, as JSON; numbers that are not whole are exact, as strings."""
    return {
        "width": split.width,
        "norm": split.norm,
        "error": str(split.error),
        "errors": {norm: str(error) for norm, error in _errors(split)},
        "targets": [
            {"target": name, "requested": str(wanted), "addresses": got}
            for name, wanted, got in zip(names, split.requested, split.partition, strict=True)
        ],
        "rules": [
            {"pattern": pattern(rule, split.width), **rule._asdict(), "target": name}
            for rule, name, _ in _rules(names, split)
        ],
        "exact_rules": _exact_rules(split),
        "wcmp_entries": wcmp.entries(split.partition),
    }


def text(names: list[str], split: Split, width_chosen: bool) -> str:
    """The whole answer, for people."""
    whole = 1 << split.width
    exact_rules = _exact_rules(split)
    facts = [
        ("rules", str(len(split.rules))),
        ("exact", "not at this width" if exact_rules is None else f"{exact_rules} rules"),
        ("WCMP entries", str(wcmp.entries(split.partition))),
        *(
            (f"error, {norm}", percent(request.share(error, norm, split.width)))
            for norm, error in _errors(split)
        ),
    ]
    left = max(len(name) for name, _ in facts) + 1
    return "\n".join(
        [
            f"width: {split.width} bits" + (", the fewest that will do" if width_chosen else ""),
            "",
            table(
                ("PATTERN", "TARGET", "SHARE"),
                [
                    (pattern(rule, split.width), name, f"{float(share):.4%}")
                    for rule, name, share in _rules(names, split)
                ],
            ),
            "",
            table(
                ("TARGET", "REQUESTED", "ACHIEVED", "ADDRESSES"),
                [
                    (
                        name,
                        f"{float(wanted / whole):.4%}",
                        f"{float(Fraction(got, whole)):.4%}",
                        got,
                    )
                    for name, wanted, got in zip(
                        names, split.requested, split.partition, strict=True
                    )
                ],
            ),
            "",
            *(f"{name + ':':{left}}  {value}" for name, value in facts),
        ]
    )


def _rules(names: list[str], split: Split) -> Iterator[tuple[Rule, str, Fraction]]:
    """Rules, the longest first, with their targets and the share of all addresses that each takes
    behind the longer ones."""
    # The share of a rule is that of a target of its own.
    own = [rule._replace(target=place) for place, rule in enumerate(split.rules)]
    taken = evaluate(own, split.width, len(own))
    for rule, addresses in zip(split.rules, taken, strict=True):
        yield rule, names[rule.target], Fraction(addresses, 1 << split.width)


def _errors(split: Split) -> Iterator[tuple[Norm, Fraction]]:
    for norm in NORMS:
        yield norm, error_of(split.partition, split.requested, norm)


def _exact_rules(split: Split) -> int | None:
    if split.requested.scale != 1:
        return None
    return count([int(wanted) for wanted in split.requested], split.width)


def percent(value: Fraction) -> str:
    """A share, for people."""
    return f"{float(value):.4%}"
