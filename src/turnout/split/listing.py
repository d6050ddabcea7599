"""Rules as `turnout split` prints them, read again: CSV, or the JSON with everything."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from turnout.split.evaluate import segments
from turnout.split.model import MAX_WIDTH, Rule
from turnout.split.request import loads, named_well

PRINTED = "rules as `turnout split -o csv` or `-o json` prints them"


@dataclass(frozen=True, slots=True)
class Listing:
    """A table whose targets have names."""

    width: int
    names: tuple[str, ...]
    """Of the targets of the rules, 0, 1, ..."""
    rules: tuple[Rule, ...]


def read(text: str, source: str) -> Listing:
    """The table that `turnout split -o csv` or `-o json` printed.

    Raises ValueError that names `source`, the line or field, what was found and what is right, also for
    a table that is not legal.
    """
    if text.lstrip()[:1] in ("{", "["):
        found = [*_of_json(loads(text, source), source)]
    else:
        found = [*_of_csv(text, source)]
    if not found:
        raise ValueError(f"{source}: no rules: expected {PRINTED}")
    width = len(_bits(found[0][0]))
    places: dict[str, int] = {}
    rules = []
    for pattern, name, where in found:
        bits = _bits(pattern)
        prefix = bits.rstrip("*")
        if set(prefix) - {"0", "1"} or len(bits) != width or width > MAX_WIDTH:
            raise ValueError(
                f"{where}: pattern {pattern[:70]!r}: expected 0 and 1, then *, "
                f"{min(width, MAX_WIDTH)} in all"
            )
        named_well(name, f"{where}: target")
        target = places.setdefault(name, len(places))
        rules.append(Rule(int(prefix or "0", 2), len(prefix), target))
    try:
        for _ in segments(rules, width):
            pass
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None
    return Listing(width, tuple(places), tuple(rules))


def _bits(pattern: str) -> str:
    return "" if pattern == "-" else pattern


def _of_csv(text: str, source: str) -> Iterator[tuple[str, str, str]]:
    """(pattern, target, where it stands)."""
    try:
        rows = [*enumerate(csv.reader(text.splitlines(keepends=True)), 1)]
    except csv.Error as error:
        raise ValueError(f"{source}: {error}: expected {PRINTED}") from None
    for line, row in rows:
        if not row or row[:2] == ["pattern", "target"]:
            continue
        if len(row) != 3:
            raise ValueError(f"{source}:{line}: {','.join(row)[:70]!r}: expected {PRINTED}")
        yield row[0], row[1], f"{source}:{line}"


def _of_json(document: Any, source: str) -> Iterator[tuple[str, str, str]]:
    """(pattern, target, where it stands)."""
    rules = document.get("rules") if isinstance(document, dict) else None
    if not isinstance(rules, list):
        raise ValueError(f"{source}: no list `rules` in an object: expected {PRINTED}")
    for place, rule in enumerate(rules):
        where = f"{source}: rules[{place}]"
        match rule:
            case {"pattern": str(pattern), "target": str(target)}:
                yield pattern, target, where
            case _:
                raise ValueError(f"{where}: {repr(rule)[:70]}: expected a pattern and a target")
