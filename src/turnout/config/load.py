"""From a file to a Fleet: read, check each record, check what records say of each other."""

import re
import stat
from pathlib import Path

from turnout.config.checks import build
from turnout.config.errors import ConfigError, Problem
from turnout.config.fields import FLEET
from turnout.config.model import Fleet
from turnout.config.records import Problems, read_record
from turnout.config.tree import MAX_BYTES, Mapping, parse


def load(path: Path) -> Fleet:
    """The fleet that a file describes.

    Raises ConfigError with all that is wrong; the file is taken whole or not at all.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(path, (Problem(1, 1, "", f"cannot read: {reason}"),)) from None
    problems = Problems()
    fleet = None
    root = parse(raw, problems)
    if isinstance(root, Mapping):
        record = read_record(FLEET, root, "", problems)
        fleet = build(path, record, problems)
        key_file = record.values.get("key_file")
        if key_file is not None:
            try:
                read_key(path.parent / key_file)
            except ValueError as error:
                problems.at(record.at("key_file"), "key_file", str(error))
    elif not problems:
        found = "nothing" if root is None else str(root)
        expected = "a map with instances, backends, pools and services"
        line, column = (root.mark.line, root.mark.column) if root else (1, 1)
        problems.append(Problem(line, column, "", f"found {found}: expected {expected}"))
    if problems or fleet is None:
        raise ConfigError(path, tuple(sorted(set(problems))))
    return fleet


def read_key(path: Path) -> bytes:
    """The 32 bytes of a key file. Raises ValueError where it cannot be read, is open to others
    than its owner, or holds anything but 64 hexadecimal digits."""
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(path.stat().st_mode)
            text = file.read(4096).strip()
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror or error}") from None
    if mode & 0o077:
        raise ValueError(f"{path} has mode {mode:04o}: expected 0600 (chmod 600 {path})")
    if not re.fullmatch(rb"[0-9a-fA-F]{64}", text):
        raise ValueError(
            f"{path} holds {len(text)} characters: expected 64 hexadecimal digits "
            "(openssl rand -hex 32)"
        )
    return bytes.fromhex(text.decode())
