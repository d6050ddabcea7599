"""Network namespaces with names, where `ip netns` keeps them too."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NAMES = Path("/run/netns")

CLONE_NEWNET = 0x40000000
MS_BIND = 0x1000
MNT_DETACH = 0x2

_libc = ctypes.CDLL(None, use_errno=True)
_OWN = "/proc/thread-self/ns/net"


def create(name: str) -> None:
    """Make a namespace with its loopback interface down. Raises OSError, also where it exists."""
    NAMES.mkdir(mode=0o755, exist_ok=True)
    place = NAMES / name
    place.touch(mode=0o444, exist_ok=False)
    with _returning():
        _check(_libc.unshare(CLONE_NEWNET), "make a network namespace")
        _check(
            _libc.mount(_OWN.encode(), bytes(place), None, MS_BIND, None),
            f"name network namespace {name}",
        )


def remove(name: str) -> None:
    """Take the name away; the namespace goes when the last process and socket in it do.

    One that does not exist is no error.
    """
    place = NAMES / name
    _libc.umount2(bytes(place), MNT_DETACH)
    place.unlink(missing_ok=True)


def exists(name: str) -> bool:
    return (NAMES / name).exists()


def inhabitants(name: str) -> list[int]:
    """Pids of the processes in a namespace; none where it does not exist."""
    try:
        wanted = (NAMES / name).stat()
    except FileNotFoundError:
        return []
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        # One that has gone meanwhile, or that we may not look into, is none that we started.
        with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
            own = (process / "ns" / "net").stat()
            if (own.st_dev, own.st_ino) == (wanted.st_dev, wanted.st_ino):
                found.append(int(process.name))
    return found


def enter(name: str) -> None:
    """Move the calling thread into a namespace; sockets that it opens and processes that it
    starts belong there. What it sees of /sys stays. Raises OSError."""
    descriptor = os.open(NAMES / name, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _check(_libc.setns(descriptor, CLONE_NEWNET), f"enter network namespace {name}")
    finally:
        os.close(descriptor)


@contextmanager
def inside(name: str) -> Iterator[None]:
    """The calling thread is in a namespace for the length of the block. Nothing in the block
    may wait on an event loop, whose other tasks would find themselves there. Raises OSError."""
    with _returning():
        enter(name)
        yield


@contextmanager
def _returning() -> Iterator[None]:
    own = os.open(_OWN, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield
    finally:
        _check(_libc.setns(own, CLONE_NEWNET), "return to the network namespace")
        os.close(own)


def _check(result: int, step: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{step}: {os.strerror(number)}")


__all__ = ["NAMES", "create", "enter", "exists", "inside", "remove"]
