"""Weights as a person writes them: 3:5:11, or a=3 b=5 c=11; as CSV or JSON."""

import csv
import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from turnout.split.model import RELATIVE, Norm


def parse(words: Sequence[str]) -> dict[str, Fraction]:
    """Target names to weights, in order; targets without names are called 0, 1, 2 ...

    Weights are decimal numbers or fractions (3, 0.3, 1/3), taken exactly. Raises ValueError with
    the place, what was found and what would be right.
    """
    named = any("=" in word for word in words)
    parts = list(words) if named else [part for word in words for part in word.split(":")]
    weights: dict[str, Fraction] = {}
    for place, part in enumerate(parts):
        name, equals, text = part.partition("=")
        if not named:
            name, text = str(place), part
        elif not (equals and name):
            raise ValueError(f"weight {place + 1}: {part!r}: expected NAME=WEIGHT as in the others")
        named_well(name, f"weight {place + 1}")
        if name in weights:
            raise ValueError(f"weight {place + 1}: {name!r} twice: expected each target once")
        weights[name] = number(text, f"weight {place + 1}")
    return weights


def read(text: str, source: str) -> dict[str, Fraction]:
    """Target names to weights from JSON (an object, or a list without names) or CSV (target,weight
    a line, or a weight a line; a first line that says so is skipped).

    Raises ValueError that names `source`, the line or field, what was found and what is right.
    """
    if text.lstrip()[:1] in ("{", "["):
        return weights_of(loads(text, source), f"{source}: ")
    try:
        rows = [
            (line, [cell.strip() for cell in row])
            for line, row in enumerate(csv.reader(text.splitlines(keepends=True)), 1)
            if any(cell.strip() for cell in row)
        ]
    except csv.Error as error:
        raise ValueError(f"{source}: {error}: expected CSV or JSON") from None
    if rows and rows[0][1][-1] == "weight":
        del rows[0]
    if not rows:
        raise ValueError(f"{source}: no weights: expected target,weight a line, or JSON")
    weights: dict[str, Fraction] = {}
    columns = len(rows[0][1])
    for place, (line, row) in enumerate(rows):
        if len(row) != columns or columns > 2:
            right = "target,weight" if columns > 1 else "one weight, as in the others"
            raise ValueError(f"{source}:{line}: {','.join(row)!r}: expected {right}")
        name = row[0] if columns == 2 else str(place)
        named_well(name, f"{source}:{line}: target")
        if name in weights:
            raise ValueError(f"{source}:{line}: target {name!r} twice: expected each once")
        weights[name] = number(row[-1], f"{source}:{line}: weight")
    return weights


def loads(text: str, source: str) -> Any:
    """JSON whose numbers with a point stay text, so that they are taken exactly. Raises ValueError
    for what is none, and for a name that stands twice in an object."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in pairs:
            if name in found:
                raise ValueError(f"{source}: {name!r} twice: expected each name once")
            found[name] = value
        return found

    try:
        return json.loads(
            text,
            object_pairs_hook=once,
            parse_float=str,
            parse_constant=str,
            # Longer ones Python refuses without a word of where; here no number is so long.
            parse_int=lambda digits: int(digits) if len(digits) <= 100 else digits,
        )
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{source}: line {error.lineno}, column {error.colno}: {error.msg}: expected JSON"
        ) from None
    except RecursionError:
        raise ValueError(f"{source}: too deep: expected an object or a list") from None


def weights_of(value: Any, where: str) -> dict[str, Fraction]:
    """Target names to weights from what JSON has: an object, a list, or text as in `parse`. Raises
    ValueError that begins with `where`."""
    match value:
        case str():
            return parse(value.split())
        case list():
            named = {str(place): weight for place, weight in enumerate(value)}
        case dict():
            named = value
        case _:
            raise ValueError(f"{where}weights: {value!r}: expected an object, a list or text")
    for name in named:
        named_well(name, f"{where}weights")
    return {name: number(str(weight), f"{where}weight {name}") for name, weight in named.items()}


def named_well(name: str, what: str) -> None:
    """Raises ValueError that begins with `what` for a name that would be nothing to see, break a line
    or fool a terminal, or that cannot be printed at all."""
    if not (name and name.isprintable()):
        raise ValueError(f"{what}: {_shown(name)}: expected a name of printable characters")


def number(text: str, what: str) -> Fraction:
    """A decimal number or fraction >= 0, also in percent. Raises ValueError that begins with
    `what`."""
    digits, percent = (text[:-1], 100) if text.endswith("%") else (text, 1)
    try:
        # Fraction would take 1e999999999 too, and build it.
        if len(digits) > 100 or not set(digits) <= set("0123456789./"):
            raise ValueError
        return Fraction(digits) / percent
    except (ValueError, ZeroDivisionError):
        raise ValueError(
            f"{what}: {_shown(text)}: expected a number of 0 or more, as 3, 0.3 or 1/3"
        ) from None


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def share(error: Fraction, norm: Norm, width: int) -> Fraction:
    """An error as a share: of all addresses, or of what was asked for where the norm is
    relative."""
    return error if norm in RELATIVE else error / (1 << width)
