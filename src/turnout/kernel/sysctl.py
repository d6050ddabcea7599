"""Kernel settings under /proc/sys, of the calling thread's network namespace."""

from pathlib import Path

_ROOT = Path("/proc/sys")


def _path(name: tuple[str, ...]) -> Path:
    return _ROOT.joinpath(*name)


def read(name: tuple[str, ...]) -> str:
    """Value of a setting, given by its path, such as ("net", "ipv4", "ip_forward").

    A tuple, since names of interfaces may hold dots. Raises OSError.
    """
    return _path(name).read_text().strip()


def write(name: tuple[str, ...], value: str) -> None:
    """Raises OSError."""
    _path(name).write_text(value)
