"""Readers of single values: each knows how to read, what to say, and its JSON Schema.

A reader raises WrongError with what was found and what would be right.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import PurePath
from typing import Any

from turnout.config.errors import WrongError
from turnout.config.tree import Node, Scalar

Address = IPv4Address | IPv6Address

NAME_TEXT = "1 to 63 letters, digits, '_', '.', '-', beginning and ending with a letter or digit"
NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_DURATION = re.compile(r"([0-9]{1,6}(?:[.][0-9]{1,3})?)(ms|s|m)")
LAST_SWITCH_PORT = 0xFFFFFF00
"""OpenFlow 1.3, section A.2.1; those after it have a meaning of their own."""
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}


@dataclass(frozen=True, slots=True)
class Reader:
    """How one value is read. `text` names the type for people."""

    text: str
    schema: dict[str, Any]
    parse: Callable[[Scalar], Any]

    def read(self, node: Node) -> Any:
        """The value. Raises WrongError."""
        if not isinstance(node, Scalar):
            raise WrongError(f"found {node}: expected {self.text}")
        if node.kind == "null":
            raise WrongError(f"found nothing: expected {self.text}")
        return self.parse(node)


def text_of(node: Scalar, expected: str, also: tuple[str, ...] = ()) -> str:
    """The scalar as text. What YAML 1.1 would take for something else must be quoted."""
    if node.kind not in ("str", *also):
        raise WrongError(
            f"found {node}, which YAML reads as {_reads(node)}: quote it, or use {expected}"
        )
    return node.text


def _reads(node: Scalar) -> str:
    return {
        "bool": "a boolean",
        "int": "a number",
        "float": "a number",
        "null": "nothing",
        "timestamp": "a date",
        "merge": "a merge key",
    }.get(node.kind, node.kind)


def integer(low: int, high: int) -> Reader:
    text = f"a whole number from {low} to {high}"

    def parse(node: Scalar) -> int:
        if not node.plain or not re.fullmatch(r"-?(0|[1-9][0-9]*)", node.text):
            hint = "" if node.plain else ", which is text"
            if node.kind == "int":
                hint = ", which YAML reads in its own way"
            raise WrongError(f"found {node}{hint}: expected {text}, in plain decimal digits")
        # Python refuses to convert some thousand digits.
        number = int(node.text) if len(node.text) < 20 else high + 1
        if not low <= number <= high:
            raise WrongError(f"found {node}: expected {text}")
        return number

    return Reader(text, {"type": "integer", "minimum": low, "maximum": high}, parse)


def _weight() -> Reader:
    whole = integer(1, 10_000)

    def parse(node: Scalar) -> int:
        if node.plain and node.text == "0":
            raise WrongError(
                "found 0: a weight is at least 1; to take a member out of use set `drain: true` "
                "beside its unchanged weight, which leaves the table as it is"
            )
        number: int = whole.parse(node)
        return number

    return Reader(whole.text, whole.schema, parse)


def _boolean() -> Reader:
    def parse(node: Scalar) -> bool:
        if not node.plain or node.text not in ("true", "false"):
            hint = "" if node.plain else ", which is text"
            raise WrongError(f"found {node}{hint}: expected true or false")
        return node.text == "true"

    return Reader("true or false", {"type": "boolean"}, parse)


def choice(*values: str) -> Reader:
    text = ", ".join(values[:-1]) + f" or {values[-1]}" if len(values) > 1 else values[0]

    def parse(node: Scalar) -> str:
        if node.text not in values:
            raise WrongError(f"found {node}: expected {text}")
        return node.text

    return Reader(text, {"enum": list(values)}, parse)


def _duration() -> Reader:
    text = "a time such as 500ms, 2s or 1m"

    def parse(node: Scalar) -> float:
        match = _DURATION.fullmatch(node.text)
        if not match:
            bare = re.fullmatch(r"[0-9.]+", node.text)
            hint = " without a unit" if bare else ""
            raise WrongError(f"found {node}{hint}: expected {text}")
        seconds = float(match[1]) * _UNITS[match[2]]
        if not 0.01 <= seconds <= 3600:
            raise WrongError(f"found {node}: expected {text}, from 10ms to 60m")
        return seconds

    pattern = "^[0-9]{1,6}([.][0-9]{1,3})?(ms|s|m)$"
    return Reader(text, {"type": "string", "pattern": pattern}, parse)


def _percent() -> Reader:
    text = "a share from 0% to 100%"

    def parse(node: Scalar) -> float:
        match = re.fullmatch(r"([0-9]{1,3}(?:[.][0-9]{1,3})?)%", node.text)
        if not match or float(match[1]) > 100:
            raise WrongError(f"found {node}: expected {text}")
        return float(match[1]) / 100

    return Reader(text, {"type": "string", "pattern": "^[0-9]{1,3}([.][0-9]{1,3})?%$"}, parse)


def _address() -> Reader:
    text = "an IPv4 or IPv6 address"

    def parse(node: Scalar) -> Address:
        value = text_of(node, text)
        if "/" in value:
            raise WrongError(f"found {node}, a network: expected {text} without a prefix length")
        if "%" in value:
            raise WrongError(f"found {node}, with a scope: expected {text} that is global")
        try:
            address = ip_address(value)
        except ValueError:
            zeros = re.fullmatch(r"[0-9.]+", value) and re.search(r"(^|[.])0[0-9]", value)
            hint = " without leading zeros" if zeros else ""
            raise WrongError(f"found {node}: expected {text}{hint}") from None
        if isinstance(address, IPv6Address) and address.ipv4_mapped:
            raise WrongError(f"found {node}, an IPv4 address in IPv6's clothes: write it as IPv4")
        for property_, what in (
            ("is_unspecified", "the unspecified address"),
            ("is_loopback", "a loopback address"),
            ("is_multicast", "a multicast address"),
            ("is_link_local", "a link-local address"),
        ):
            if getattr(address, property_):
                raise WrongError(
                    f"found {node}, {what}: expected {text} of one host, reachable by routing"
                )
        if address == IPv4Address("255.255.255.255"):
            raise WrongError(f"found {node}, the broadcast address: expected {text} of one host")
        return address

    schema = {"type": "string", "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]}
    return Reader(text, schema, parse)


def name(what: str) -> Reader:
    """A name of letters, digits, `_`, `.` and `-`."""
    text = f"the name of {what}"

    def parse(node: Scalar) -> str:
        value = text_of(node, text)
        if not NAME.fullmatch(value):
            raise WrongError(f"found {node}: expected {text}, {NAME_TEXT}")
        return value

    return Reader(text, {"type": "string", "pattern": f"^{NAME.pattern}$"}, parse)


def _interface() -> Reader:
    text = "the name of a network interface"

    def parse(node: Scalar) -> str:
        value = text_of(node, text)
        if not re.fullmatch(pattern, value) or value in (".", ".."):
            raise WrongError(
                f"found {node}: expected {text}, 1 to 15 ASCII characters, no '/', ':' or space"
            )
        return value

    pattern = "[!-.0-9;-~]{1,15}"
    return Reader(text, {"type": "string", "pattern": f"^{pattern}$"}, parse)


def _port(all_ports: bool) -> Reader:
    number = integer(1, 65_535)
    text = "a port from 1 to 65535" + (", or all" if all_ports else "")

    def parse(node: Scalar) -> int | None:
        if all_ports and node.text == "all":
            return None
        try:
            port: int = number.parse(node)
        except WrongError as error:
            raise WrongError(error.args[0].split(": expected")[0] + f": expected {text}") from None
        return port

    schema: dict[str, Any] = number.schema
    if all_ports:
        schema = {"anyOf": [number.schema, {"const": "all"}]}
    return Reader(text, schema, parse)


def _routing_table() -> Reader:
    whole = integer(1, (1 << 32) - 1)
    own = (253, 254, 255)
    text = f"{whole.text} that is not one of the kernel's own (253 to 255)"

    def parse(node: Scalar) -> int:
        number: int = whole.parse(node)
        if number in own:
            raise WrongError(f"found {number}: expected {text}")
        return number

    return Reader(text, {**whole.schema, "not": {"enum": list(own)}}, parse)


def _target() -> Reader:
    text = "a request target such as /healthz"

    def parse(node: Scalar) -> str:
        value = text_of(node, text)
        if not re.fullmatch(r"/[!\"$-~]{0,1023}", value):
            raise WrongError(
                f"found {node}: expected {text}, beginning with '/', "
                "of printable ASCII characters without spaces or '#'"
            )
        return value

    return Reader(text, {"type": "string", "pattern": '^/[!"$-~]{0,1023}$'}, parse)


def _status() -> Reader:
    text = "a status code such as 200, or a range such as 200-399"

    def parse(node: Scalar) -> tuple[int, int]:
        match = re.fullmatch(r"([1-5][0-9]{2})(?:-([1-5][0-9]{2}))?", node.text)
        if not match:
            raise WrongError(f"found {node}: expected {text}")
        low, high = int(match[1]), int(match[2] or match[1])
        if low > high:
            raise WrongError(f"found {node}, which is empty: expected {text}, the lower code first")
        return low, high

    schema = {
        "anyOf": [
            {"type": "integer", "minimum": 100, "maximum": 599},
            {"type": "string", "pattern": "^[1-5][0-9][0-9](-[1-5][0-9][0-9])?$"},
        ]
    }
    return Reader(text, schema, parse)


def _path() -> Reader:
    text = "the path of a file"

    def parse(node: Scalar) -> PurePath:
        value = text_of(node, text)
        if not value or "\0" in value:
            raise WrongError(f"found {node}: expected {text}")
        return PurePath(value)

    return Reader(text, {"type": "string", "minLength": 1}, parse)


def _bridge() -> Reader:
    text = "the name of a bridge, or unix:PATH, tcp:ADDRESS:PORT or ssl:ADDRESS:PORT"
    # ovs-ofctl would take a dash for an option.
    pattern = "[!-,.-~][!-~]{0,254}"

    def parse(node: Scalar) -> str:
        value = text_of(node, text)
        if not re.fullmatch(pattern, value):
            raise WrongError(f"found {node}: expected {text}")
        return value

    return Reader(text, {"type": "string", "pattern": f"^{pattern}$"}, parse)


def _switch_port() -> Reader:
    number = integer(1, LAST_SWITCH_PORT)
    text = f"the name of a switch's port, or its number from 1 to {LAST_SWITCH_PORT}"
    # ovs-ofctl takes what follows # for a comment.
    pattern = "(?![0-9]+$)[!$-+.\\-0-\\[\\]-~]{1,15}"

    def parse(node: Scalar) -> str:
        if node.kind == "int":
            return str(number.parse(node))
        value = text_of(node, text)
        if not re.fullmatch(pattern, value):
            raise WrongError(f"found {node}: expected {text}")
        return value

    schema = {"anyOf": [number.schema, {"type": "string", "pattern": f"^{pattern}$"}]}
    return Reader(text, schema, parse)


ADDRESS = _address()
BOOLEAN = _boolean()
BRIDGE = _bridge()
DURATION = _duration()
INTERFACE = _interface()
PATH = _path()
PERCENT = _percent()
PORT = _port(all_ports=False)
PORT_OR_ALL = _port(all_ports=True)
ROUTING_TABLE = _routing_table()
STATUS = _status()
SWITCH_PORT = _switch_port()
TARGET = _target()
WEIGHT = _weight()
