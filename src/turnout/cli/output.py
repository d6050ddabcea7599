"""How commands print: aligned columns for people, JSON for programs."""

import json
from collections.abc import Iterable, Sequence

import click

output_option = click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="Aligned columns, or JSON.",
)
"""Gives a command the parameter `output`."""


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns two blanks apart: numbers to the right, all else to the left.

    None is printed as "-", True and False as "yes" and "no". Nothing is wrapped or cut short.
    """
    content = [list(row) for row in rows]
    lines = [list(head), *([_cell(value) for value in row] for row in content)]
    right = [
        bool(content) and all(_is_number(row[column]) or row[column] is None for row in content)
        for column in range(len(head))
    ]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if to_the_right else cell.ljust(width)
            for cell, width, to_the_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    )


def print_json(document: object) -> None:
    """One JSON document, indented, to standard output."""
    click.echo(json.dumps(document, indent=2))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: object) -> str:
    match value:
        case None:
            return "-"
        case True:
            return "yes"
        case False:
            return "no"
        case _:
            return str(value)
