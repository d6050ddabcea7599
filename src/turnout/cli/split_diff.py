"""turnout split diff: what changes from one split to another, and how to get there in steps."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from turnout.cli.output import output_option, print_json, table
from turnout.cli.splits import pattern, percent, split_for
from turnout.split import (
    Rule,
    Update,
    churn,
    evaluate,
    front,
    least_churn,
    listing,
    plan,
    request,
)


@dataclass(frozen=True, slots=True)
class Side:
    """OLD or NEW: rules, or weights of which there are to be rules."""

    rules: listing.Listing | None
    weights: dict[str, Fraction]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.weights) if self.rules is None else self.rules.names


@dataclass(frozen=True, slots=True)
class Change:
    """From a table to another, over the targets of both."""

    width: int
    names: tuple[str, ...]
    old: list[Rule]
    new: list[Rule]
    points: list[Update]
    """Where NEW are weights, what there is to choose from."""


@click.command()
@click.argument("old")
@click.argument("new")
@click.option(
    "--width",
    type=int,
    help="Bits of an address, where OLD and NEW are weights.  [default: the fewest with errors "
    "below 1 %]",
)
@click.option("--rules", "budget", type=int, help="Where NEW are weights: rules there may be.")
@click.option(
    "--max-error",
    help="Where NEW are weights: as few rules as a sum of errors of so much allows (1%, 0.01), as a "
    "share of all addresses.",
)
@click.option(
    "--max-churn",
    help="Plan steps that each move at most so much (10%, 0.1) of all addresses.",
)
@output_option
def command(
    old: str,
    new: str,
    width: int | None,
    budget: int | None,
    max_error: str | None,
    max_churn: str | None,
    output: str,
) -> None:
    """Compare two splits, OLD and NEW: weights (3:5:11, or "a=3 b=5") or files of rules as turnout
    split prints them with -o csv or -o json, - for standard input.

    Where NEW are weights there is a choice: fewer rules, or fewer addresses that move. Taken is that
    of fewest rules; with --max-churn, of fewest rules that can be installed in one step, if any can.
    Targets are the same where their names are.
    """
    try:
        most = None if max_error is None else request.number(max_error, "--max-error")
        limit = None if max_churn is None else request.number(max_churn, "--max-churn")
        found = _change(_side(old), _side(new), width, budget, most, limit)
        steps = [] if limit is None else plan(found.old, found.new, found.width, limit)
    except ValueError as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    if output == "json":
        print_json(document(found, steps))
    else:
        click.echo(text(found, steps))


def _side(argument: str) -> Side:
    if argument == "-" or _is_file(argument):
        with click.open_file(argument, "rb") as file:
            content = file.read()
        name = "<stdin>" if argument == "-" else argument
        try:
            return Side(listing.read(content.decode(), name), {})
        except UnicodeDecodeError as error:
            raise ValueError(f"{name}: byte {error.start}: expected text in UTF-8") from None
    try:
        return Side(None, request.parse(argument.split()))
    except ValueError as error:
        raise ValueError(f"{argument!r}: neither a file nor weights: {error}") from None


def _is_file(argument: str) -> bool:
    try:
        return Path(argument).is_file()
    except OSError:  # weights may be longer than the name of a file can be
        return False


def _change(
    old: Side,
    new: Side,
    width: int | None,
    budget: int | None,
    max_error: Fraction | None,
    max_churn: Fraction | None,
) -> Change:
    names = tuple(dict.fromkeys((*old.names, *new.names)))
    if not set(old.names) & set(new.names):
        raise ValueError(
            f"targets: {', '.join(old.names)} and {', '.join(new.names)}: expected names in common"
        )
    if new.rules is not None and (budget is not None or max_error is not None):
        raise ValueError("--rules, --max-error: expected where NEW are weights")
    bits = _width(old, new, width)
    before = _rules(old, names, bits)
    if new.rules is not None:
        return Change(bits, names, before, _rules(new, names, bits), [])
    points = front(before, _weights(new, names), bits, budget, max_error)
    limit = 0 if max_churn is None else max_churn * (1 << bits)
    at_once = [point for point in points if point.churn <= limit]
    chosen = (at_once or points)[0]
    return Change(bits, names, before, list(chosen.split.rules), points)


def _width(old: Side, new: Side, width: int | None) -> int:
    """That of the rules, or what is asked for, or what the weights need."""
    given = {side.rules.width for side in (old, new) if side.rules is not None}
    if width is not None:
        given.add(width)
    if len(given) > 1:
        raise ValueError(f"width: {' and '.join(map(str, sorted(given)))} bits: expected one")
    if given:
        return given.pop()
    return max(split_for(list(side.weights.values()), None).width for side in (old, new))


def _weights(side: Side, names: Sequence[str]) -> list[Fraction]:
    return [side.weights.get(name, Fraction(0)) for name in names]


def _rules(side: Side, names: Sequence[str], width: int) -> list[Rule]:
    if side.rules is None:
        return list(split_for(_weights(side, names), width).rules)
    places = [names.index(name) for name in side.rules.names]
    return [rule._replace(target=places[rule.target]) for rule in side.rules.rules]


def document(found: Change, steps: list[list[Rule]]) -> dict[str, Any]:
    """The whole answer, as JSON; numbers that are not whole are exact, as strings."""
    moved, least, before, after = _moves(found)
    return {
        "width": found.width,
        "churn": moved,
        "least_churn": str(least),
        "targets": [
            {"target": name, "old": was, "new": becomes}
            for name, was, becomes in zip(found.names, before, after, strict=True)
        ],
        "rules": _differences(found, found.old, found.new),
        "front": [
            {
                "rules": len(point.split.rules),
                "churn": point.churn,
                "error": str(point.split.error),
                "taken": list(point.split.rules) == found.new,
            }
            for point in found.points
        ],
        "plan": [
            {
                "churn": churn(one, other, found.width),
                **_differences(found, one, other),
            }
            for one, other in zip([found.old, *steps], steps, strict=False)
        ],
    }


def text(found: Change, steps: list[list[Rule]]) -> str:
    """The whole answer, for people."""
    moved, least, before, after = _moves(found)
    whole = 1 << found.width
    rules = _differences(found, found.old, found.new)
    counts = ", ".join(f"{len(changed)} {how}" for how, changed in rules.items())
    parts = [
        f"width:        {found.width} bits\n"
        f"churn:        {percent(Fraction(moved, whole))}, {moved} addresses\n"
        f"least churn:  {percent(least / whole)}, {least} addresses\n"
        f"rules:        {len(found.old)}, then {len(found.new)}: {counts}",
        table(
            ("TARGET", "OLD", "NEW"),
            [
                (name, percent(Fraction(was, whole)), percent(Fraction(becomes, whole)))
                for name, was, becomes in zip(found.names, before, after, strict=True)
            ],
        ),
        table(
            ("RULE", "PATTERN", "TARGET"),
            [(how, *rule.values()) for how, changed in rules.items() for rule in changed],
        ),
    ]
    if found.points:
        parts.append(
            table(
                ("RULES", "CHURN", "ERROR", "TAKEN"),
                [
                    (
                        len(point.split.rules),
                        percent(Fraction(point.churn, whole)),
                        percent(point.split.error / whole),
                        list(point.split.rules) == found.new,
                    )
                    for point in found.points
                ],
            )
        )
    if steps:
        parts.append(
            table(
                ("STEP", "CHURN", "RULES", "CHANGE", "PATTERN", "TARGET"),
                [
                    (
                        number,
                        percent(Fraction(churn(one, other, found.width), whole)),
                        len(other),
                        how,
                        *rule.values(),
                    )
                    for number, (one, other) in enumerate(
                        zip([found.old, *steps], steps, strict=False), 1
                    )
                    for how, changed in _differences(found, one, other).items()
                    for rule in changed
                    if how != "kept"
                ],
            )
        )
    return "\n\n".join(parts)


def _moves(found: Change) -> tuple[int, Fraction, list[int], list[int]]:
    """(churn, the least there can be, addresses before, and after)."""
    before, after = (evaluate(t, found.width, len(found.names)) for t in (found.old, found.new))
    moved = churn(found.old, found.new, found.width)
    return moved, least_churn(before, after), before, after


def _differences(
    found: Change, old: list[Rule], new: list[Rule]
) -> dict[str, list[dict[str, str]]]:
    """Rules added, removed and kept, the longest prefix first."""
    before, after = set(old), set(new)
    return {
        how: [
            {"pattern": pattern(rule, found.width), "target": found.names[rule.target]}
            for rule in sorted(changed, key=lambda rule: rule[1::-1], reverse=True)
        ]
        for how, changed in (
            ("added", after - before),
            ("removed", before - after),
            ("kept", before & after),
        )
    }
