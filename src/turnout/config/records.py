"""Nodes to records: values by field, each with its position, everything wrong collected."""

from dataclasses import dataclass, field
from typing import Any

from turnout.config.errors import Mark, Problems, WrongError, meant, shown
from turnout.config.fields import REQUIRED, Field, Kind
from turnout.config.scalars import NAME, NAME_TEXT, text_of
from turnout.config.tree import Mapping, Node, Refused, Scalar, Sequence


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
            hint = meant(key.text, kind.fields)
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
    if isinstance(node, Refused):
        record.broken.add(name)
        return
    if isinstance(spec.type, Kind):
        read = read_map if spec.shape == "map" else read_record
        record.values[name] = read(spec.type, node, path, problems)
        if not isinstance(node, Mapping) and not _is_empty(node):
            record.broken.add(name)
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
    values: dict[Any, None] = {}
    for index, item in enumerate(nodes):
        place = f"{path}[{index}]" if spec.shape == "list" else path
        record.marks[f"{name}[{index}]"] = item.mark
        if isinstance(item, Refused):
            record.broken.add(name)
            continue
        try:
            value = spec.type.read(item)
        except WrongError as error:
            problems.at(item.mark, place, str(error))
            record.broken.add(name)
        else:
            if value in values:
                problems.at(item.mark, place, f"{item} stands twice: keep one")
            values[value] = None
    if name not in record.broken:
        record.values[name] = tuple(values) if spec.shape == "list" else next(iter(values))


def read_map(kind: Kind, node: Node, path: str, problems: Problems) -> dict[str, Record]:
    """Records by name, in the order of the file."""
    records = {}
    for key, value in _items(node, f"a map from names to {kind.name}s", path, problems) or ():
        where = _join(path, key.text)
        try:
            text_of(key, f"another name of {_article(kind.name)}")
            if not NAME.fullmatch(key.text):
                raise WrongError(f"found {key} as a name: expected {NAME_TEXT}")
        except WrongError as error:
            problems.at(key.mark, where, str(error))
        record = read_record(kind, value, where, problems)
        if _is_empty(value):
            record.mark = key.mark
        records[key.text] = record
    return records


def _items(
    node: Node, expected: str, path: str, problems: Problems
) -> list[tuple[Scalar, Node]] | None:
    """Items of a map without those whose key stood before; None where it is no map."""
    if _is_empty(node):
        return []
    if isinstance(node, Refused):
        return None
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


def _is_empty(node: Node) -> bool:
    return isinstance(node, Scalar) and node.kind == "null"


def _expected(spec: Field) -> str:
    if isinstance(spec.type, Kind):
        return f"a map from names to {spec.type.name}s" if spec.shape == "map" else spec.type.name
    return f"a list, each {spec.type.text}" if spec.shape == "list" else spec.type.text


def _article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _join(path: str, name: str) -> str:
    return f"{path}.{shown(name)}" if path else shown(name)
