"""Nodes to records: values by field, each with its position, everything wrong collected."""

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from turnout.config.errors import Problem, WrongError
from turnout.config.fields import REQUIRED, Field, Kind
from turnout.config.scalars import NAME, text_of
from turnout.config.tree import Mapping, Mark, Node, Scalar, Sequence


@dataclass(slots=True)
class Record:
    """What stands in the file for one record. A field that could not be read is in `broken`."""

    path: str
    mark: Mark
    values: dict[str, Any] = field(default_factory=dict)
    marks: dict[str, Mark] = field(default_factory=dict)
    """Of values written in the file; list items under "field[i]"."""
    broken: set[str] = field(default_factory=set)

    def sound(self, *names: str) -> bool:
        """Whether these fields were read, or have their defaults."""
        return self.broken.isdisjoint(names)

    def at(self, name: str) -> Mark:
        return self.marks.get(name, self.mark)


class Problems(list[Problem]):
    """What was found wrong so far."""

    def at(self, mark: Mark, path: str, message: str) -> None:
        self.append(Problem(mark.line, mark.column, path, message))


def read_record(kind: Kind, node: Node, path: str, problems: Problems) -> Record:
    """The record at `node`; an empty value is a record without fields."""
    record = Record(path, node.mark)
    items = _items(node, f"{kind.name} with fields {', '.join(kind.fields)}", path, problems)
    if items is None:
        record.broken.update(kind.fields)
        return record
    for key, value in items:
        where = _join(path, key.text)
        if key.text not in kind.fields:
            close = get_close_matches(key.text, kind.fields, 1, 0.6)
            hint = f"did you mean {close[0]}?" if close else f"expected {', '.join(kind.fields)}"
            problems.at(key.mark, where, f"no such field in {_article(kind.name)}: {hint}")
            continue
        record.marks[key.text] = value.mark
        _read_field(kind.fields[key.text], key.text, value, record, problems)
    for name, spec in kind.fields.items():
        if name in record.values or name in record.broken:
            continue
        if spec.default is REQUIRED:
            record.broken.add(name)
            problems.at(record.mark, _join(path, name), f"missing: {_expected(spec)}")
        else:
            record.values[name] = spec.default
    return record


def _read_field(spec: Field, name: str, node: Node, record: Record, problems: Problems) -> None:
    path = _join(record.path, name)
    if isinstance(spec.type, Kind):
        record.values[name] = (
            read_map(spec.type, node, path, problems)
            if spec.shape == "map"
            else read_record(spec.type, node, path, problems)
        )
        return
    nodes: list[Node] = [node]
    if spec.shape == "list":
        if not isinstance(node, Sequence):
            problems.at(node.mark, path, f"found {node}: expected {_expected(spec)}")
            record.broken.add(name)
            return
        nodes = node.items
        if not nodes and spec.default is REQUIRED:
            problems.at(node.mark, path, f"found an empty list: expected {_expected(spec)}")
            record.broken.add(name)
    values = []
    for index, item in enumerate(nodes):
        place = f"{path}[{index}]" if spec.shape == "list" else path
        record.marks[f"{name}[{index}]"] = item.mark
        try:
            values.append(spec.type.read(item))
        except WrongError as error:
            problems.at(item.mark, place, str(error))
            record.broken.add(name)
    if name not in record.broken:
        record.values[name] = tuple(values) if spec.shape == "list" else values[0]


def read_map(kind: Kind, node: Node, path: str, problems: Problems) -> dict[str, Record]:
    """Records by name, in the order of the file."""
    records = {}
    for key, value in _items(node, f"a map from names to {kind.name}s", path, problems) or ():
        where = _join(path, key.text)
        try:
            text_of(key, f"another name of {_article(kind.name)}")
            if not NAME.fullmatch(key.text):
                raise WrongError(
                    f"found {key} as a name: expected 1 to 63 letters, digits, '_', '.', '-', "
                    "beginning and ending with a letter or digit"
                )
        except WrongError as error:
            problems.at(key.mark, where, str(error))
        record = read_record(kind, value, where, problems)
        if value.mark == key.mark or (isinstance(value, Scalar) and value.kind == "null"):
            record.mark = key.mark
        records[key.text] = record
    return records


def _items(
    node: Node, expected: str, path: str, problems: Problems
) -> list[tuple[Scalar, Node]] | None:
    """Items of a map without those whose key stood before; None where it is no map."""
    if isinstance(node, Scalar) and node.kind == "null":
        return []
    if not isinstance(node, Mapping):
        problems.at(node.mark, path, f"found {node}: expected {expected}")
        return None
    first: dict[str, Mark] = {}
    items = []
    for key, value in node.items:
        if key.text in first:
            line = first[key.text].line
            problems.at(key.mark, _join(path, key.text), f"stands in line {line} already: keep one")
            continue
        first[key.text] = key.mark
        items.append((key, value))
    return items


def _expected(spec: Field) -> str:
    if isinstance(spec.type, Kind):
        return f"a map from names to {spec.type.name}s" if spec.shape == "map" else spec.type.name
    return f"a list, each {spec.type.text}" if spec.shape == "list" else spec.type.text


def _article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
