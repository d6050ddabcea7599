"""Many requests for splits, each a line of JSON."""

import json
from typing import Any, BinaryIO

import click

from turnout.cli.splits import document, split_for, utf8
from turnout.split import request


def answered(lines: BinaryIO) -> int:
    """Prints an answer for each line, as soon as it is read; returns how many are errors."""
    wrong = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        answer: dict[str, Any]
        try:
            answer = _answer(request.loads(utf8(line.strip(), "request"), "request"))
        except ValueError as error:
            wrong += 1
            answer = {"refused": str(error)}
        click.echo(json.dumps({"line": number, **answer}))
    return wrong


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
