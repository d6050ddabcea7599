"""From YAML text to nodes with positions, refusing what a person would trip over.

Built from the parser's events: a loader would resolve `on` to True and `22:30` to 1350, keep the
last of two equal keys, and expand aliases.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from turnout.config.errors import Mark, Problems, shown

MAX_BYTES = 4 << 20
MAX_DEPTH = 16
"""Levels of lists and maps; a fleet has six."""
MAX_NODES = 300_000
"""Values, lists, maps and keys; the largest fleet has fewer, and takes seconds to read."""

_Parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_resolver = yaml.resolver.Resolver()
_TAG = "tag:yaml.org,2002:"
_CONTROL = re.compile(
    r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
"""What YAML does not allow, and byte order marks within."""


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
        return f"'{shown(self.text)}'"


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


@dataclass(frozen=True, slots=True)
class Refused:
    """Stands where something is that a fleet file may not have, and that has been told."""

    mark: Mark


Node = Scalar | Sequence | Mapping | Refused


def parse(raw: bytes, problems: Problems) -> Node | None:
    """The document's root, or None where there is none to speak of; adds what is wrong."""
    if len(raw) > MAX_BYTES:
        problems.at(Mark(1, 1), "", f"more than {MAX_BYTES} bytes: a fleet file may have as many")
        return None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        mark = _mark(error.object[: error.start].decode(errors="replace"))
        found = f"byte 0x{error.object[error.start]:02x} is not UTF-8: save the file as UTF-8"
        problems.at(mark, "", found)
        return None
    control = _CONTROL.search(text)
    if control:
        mark = _mark(text[: control.start()])
        found = f"character U+{ord(control[0]):04X} may not stand in YAML: take it out"
        problems.at(mark, "", found)
        return None
    try:
        return _document(yaml.parse(text, Loader=_Parser), problems)
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark or error.context_mark
        mark = Mark(at.line + 1, at.column + 1) if at else Mark(1, 1)
        said = ", ".join(filter(None, (error.context, error.problem)))
        # At the end of the text the parser may be in a line that is not there.
        line = "".join(text.split("\n")[mark.line - 1 : mark.line])
        tab = "\t" in line and line[: mark.column].isspace()
        hint = "; YAML is indented with blanks, not tabs" if tab else ""
        problems.at(mark, "", f"not YAML: {said}{hint}")
    except yaml.YAMLError as error:
        problems.at(Mark(1, 1), "", f"not YAML: {' '.join(str(error).split())}")
    return None


def _mark(before: str) -> Mark:
    """The place after this text."""
    return Mark(before.count("\n") + 1, len(before) - before.rfind("\n"))


def _document(events: Iterator[yaml.Event], problems: Problems) -> Node | None:
    root: Node | None = None
    documents = nodes = 0
    stack: list[Node] = []
    keys: list[Node | None] = []
    for event in events:
        start = event.start_mark
        assert start is not None
        mark = Mark(start.line + 1, start.column + 1)
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                problems.at(mark, "", "a second document: a fleet is one, take out the ---")
                return None
        elif isinstance(event, yaml.CollectionEndEvent):
            stack.pop()
            keys.pop()
        elif isinstance(event, yaml.NodeEvent):
            nodes += 1
            if nodes > MAX_NODES:
                problems.at(mark, "", f"more than {MAX_NODES} values: no fleet has as many")
                return None
            node = _node(event, mark, problems)
            if stack:
                keys[-1] = _attach(stack[-1], keys[-1], node, problems)
            else:
                root = node
            if isinstance(event, yaml.CollectionStartEvent):
                stack.append(node)
                keys.append(None)
                if len(stack) > MAX_DEPTH:
                    problems.at(mark, "", f"nested deeper than {MAX_DEPTH} levels: no field is")
                    return None
    return root


def _node(event: yaml.NodeEvent, mark: Mark, problems: Problems) -> Node:
    if isinstance(event, yaml.AliasEvent):
        problems.at(
            mark, "", f"alias *{shown(event.anchor or '')}: not used here, write the value out"
        )
        return Refused(mark)
    if event.anchor is not None:
        problems.at(mark, "", f"anchor &{shown(event.anchor)}: not used here, take it out")
    tag = getattr(event, "tag", None)
    if tag is not None:
        problems.at(mark, "", f"tag {shown(tag)}: not used here, take it out")
    if isinstance(event, yaml.ScalarEvent):
        return Scalar(mark, event.value, plain=not event.style)
    return Mapping(mark) if isinstance(event, yaml.MappingStartEvent) else Sequence(mark)


def _attach(parent: Node, key: Node | None, node: Node, problems: Problems) -> Node | None:
    """Put a node into its list or map. Returns the key that waits for its value, if one does."""
    if isinstance(parent, Sequence):
        parent.items.append(node)
        return None
    assert isinstance(parent, Mapping)
    if key is not None:
        if isinstance(key, Scalar):
            parent.items.append((key, node))
        return None
    if isinstance(node, Scalar) and node.kind == "merge":
        problems.at(node.mark, "", "merge key <<: not used here, write the fields out")
        return Refused(node.mark)
    if isinstance(node, Sequence | Mapping):
        problems.at(node.mark, "", f"{node} as a key: a key is a name")
        return Refused(node.mark)
    return node


__all__ = ["MAX_BYTES", "MAX_DEPTH", "Mapping", "Node", "Refused", "Scalar", "Sequence", "parse"]
