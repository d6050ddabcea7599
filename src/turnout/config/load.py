"""From a file to a Fleet: read, check each record, check what records say of each other."""

import os
import re
import stat
from pathlib import Path

from turnout.config.checks import build
from turnout.config.errors import (
    MAX_PROBLEMS,
    ConfigError,
    Mark,
    Problem,
    Problems,
    TooManyError,
)
from turnout.config.fields import FLEET
from turnout.config.model import Fleet
from turnout.config.records import read_record
from turnout.config.tree import MAX_BYTES, Mapping, parse


def load(path: Path) -> Fleet:
    """The fleet that a file describes.

    Raises ConfigError with all that is wrong; the file is taken whole or not at all.
    """
    try:
        # Not blocking: a pipe without a writer would hold us for ever.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
                raise OSError("a pipe: expected a regular file")
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(path, (Problem(1, 1, "", f"cannot read: {reason}"),)) from None
    problems = Problems()
    fleet = None
    more: tuple[Problem, ...] = ()
    try:
        fleet = _fleet(path, raw, problems)
    except TooManyError:
        last = max(problems)
        message = f"{MAX_PROBLEMS} errors: there may be more, here or elsewhere in the file"
        more = (Problem(last.line, last.column, "", message),)
    if fleet is None or problems:
        raise ConfigError(path, (*sorted(set(problems)), *more))
    return fleet


def _fleet(path: Path, raw: bytes, problems: Problems) -> Fleet | None:
    root = parse(raw, problems)
    if not isinstance(root, Mapping):
        if not problems:
            found = "nothing" if root is None else str(root)
            mark = root.mark if root else Mark(1, 1)
            expected = "a map with instances, backends, pools and services"
            problems.at(mark, "", f"found {found}: expected {expected}")
        return None
    record = read_record(FLEET, root, "", problems)
    fleet = build(path, record, problems)
    key_file = record.values.get("key_file")
    if key_file is not None:
        try:
            read_key(path.parent / key_file)
        except ValueError as error:
            problems.at(record.at("key_file"), "key_file", str(error))
    return fleet


def read_key(path: Path) -> bytes:
    """The 32 bytes of a key file. Raises ValueError where it cannot be read, is open to others
    than its owner, or holds anything but 64 hexadecimal digits."""
    try:
        # Not blocking: a pipe without a writer would hold us for ever.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(4096).strip() if stat.S_ISREG(mode) else b""
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror or error}") from None
    if not stat.S_ISREG(mode):
        raise ValueError(f"{path} is no regular file: expected one with 64 hexadecimal digits")
    if stat.S_IMODE(mode) & 0o077:
        found = f"{stat.S_IMODE(mode):04o}"
        raise ValueError(f"{path} has mode {found}: expected 0600 (chmod 600 {path})")
    if not re.fullmatch(rb"[0-9a-fA-F]{64}", text):
        raise ValueError(
            f"{path} does not hold a key: expected 64 hexadecimal digits (openssl rand -hex 32)"
        )
    return bytes.fromhex(text.decode())
