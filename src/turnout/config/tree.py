"""From YAML text to nodes with positions, refusing what a person would trip over.

Built from the parser's events: a loader would resolve `on` to True and `22:30` to 1350, keep the
last of two equal keys, and expand aliases.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from turnout.config.errors import Problem, WrongError

MAX_BYTES = 4 << 20
MAX_DEPTH = 16

_Parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_resolver = yaml.resolver.Resolver()
_TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class Mark:
    """Counts from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Scalar:
    mark: Mark
    text: str
    plain: bool
    """Written without quotes."""

    @property
    def kind(self) -> str:
        """What YAML 1.1 takes it for: str, int, float, bool, null, timestamp, merge or value."""
        if not self.plain:
            return "str"
        resolved = _resolver.resolve(yaml.ScalarNode, self.text, (True, False))  # type: ignore[no-untyped-call]
        return str(resolved).removeprefix(_TAG)

    def __str__(self) -> str:
        text = self.text if len(self.text) <= 40 else self.text[:40] + "…"
        return repr(text)


@dataclass(slots=True)
class Sequence:
    mark: Mark
    items: list["Node"] = field(default_factory=list)

    def __str__(self) -> str:
        return "a list"


@dataclass(slots=True)
class Mapping:
    mark: Mark
    items: list[tuple[Scalar, "Node"]] = field(default_factory=list)

    def __str__(self) -> str:
        return "a map"


Node = Scalar | Sequence | Mapping


def parse(raw: bytes, problems: list[Problem]) -> Node | None:
    """The document's root, or None where there is none to speak of; adds what is wrong."""
    if len(raw) > MAX_BYTES:
        message = f"{len(raw)} bytes: a fleet file may have {MAX_BYTES}"
        problems.append(Problem(1, 1, "", message))
        return None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        line = before.count(b"\n") + 1
        column = error.start - (before.rfind(b"\n") + 1) + 1
        found = f"byte 0x{raw[error.start]:02x} is not UTF-8: save the file as UTF-8"
        problems.append(Problem(line, column, "", found))
        return None
    try:
        return _document(yaml.parse(text, Loader=_Parser), problems)
    except yaml.reader.ReaderError as error:
        position = int(error.position)
        line = text.count("\n", 0, position) + 1
        column = position - (text.rfind("\n", 0, position) + 1) + 1
        message = f"character {error.character!r} may not stand in YAML: take it out"
        problems.append(Problem(line, column, "", message))
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark or error.context_mark
        mark = Mark(at.line + 1, at.column + 1) if at else Mark(1, 1)
        said = " ".join(filter(None, (error.context, error.problem)))
        problems.append(Problem(mark.line, mark.column, "", f"not YAML: {said}"))
    except yaml.YAMLError as error:
        problems.append(Problem(1, 1, "", f"not YAML: {' '.join(str(error).split())}"))
    except WrongError as error:
        problems.append(error.args[0])
    return None


def _document(events: Iterator[yaml.Event], problems: list[Problem]) -> Node | None:
    root: Node | None = None
    documents = 0
    stack: list[Sequence | Mapping] = []
    keys: list[Scalar | None] = []
    for event in events:
        start = event.start_mark
        assert start is not None
        mark = Mark(start.line + 1, start.column + 1)
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                message = "a second document: a fleet is one document, take out the ---"
                problems.append(Problem(mark.line, mark.column, "", message))
                return root
        elif isinstance(event, yaml.CollectionEndEvent):
            stack.pop()
            keys.pop()
        elif isinstance(event, yaml.NodeEvent):
            node = _node(event, mark, problems)
            if stack:
                _attach(stack[-1], keys, node, problems)
            else:
                root = node
            if isinstance(node, (Sequence, Mapping)):
                stack.append(node)
                keys.append(None)
                if len(stack) > MAX_DEPTH:
                    message = f"nested deeper than {MAX_DEPTH} levels: nothing here is"
                    raise WrongError(Problem(mark.line, mark.column, "", message))
    return root


def _node(event: yaml.NodeEvent, mark: Mark, problems: list[Problem]) -> Node:
    def refuse(message: str) -> None:
        problems.append(Problem(mark.line, mark.column, "", message))

    if isinstance(event, yaml.AliasEvent):
        refuse(f"alias *{event.anchor}: write the value out, anchors and aliases are not used here")
        return Scalar(mark, "", plain=False)
    if event.anchor is not None:
        refuse(
            f"anchor &{event.anchor}: write the value out, anchors and aliases are not used here"
        )
    tag = getattr(event, "tag", None)
    if tag is not None:
        refuse(f"tag {tag}: take it out, tags are not used here")
    if isinstance(event, yaml.ScalarEvent):
        return Scalar(mark, event.value, plain=not event.style)
    return Mapping(mark) if isinstance(event, yaml.MappingStartEvent) else Sequence(mark)


def _attach(
    parent: Sequence | Mapping, keys: list[Scalar | None], node: Node, problems: list[Problem]
) -> None:
    if isinstance(parent, Sequence):
        parent.items.append(node)
        return
    key = keys[-1]
    if key is not None:
        parent.items.append((key, node))
        keys[-1] = None
        return
    if not isinstance(node, Scalar):
        message = f"{node} as a key: a key is a name"
        problems.append(Problem(node.mark.line, node.mark.column, "", message))
        node = Scalar(node.mark, "", plain=False)
        # The contents of the odd key go with it: they are read as children of nobody.
    keys[-1] = node


__all__ = ["MAX_BYTES", "MAX_DEPTH", "Mapping", "Mark", "Node", "Scalar", "Sequence", "parse"]
