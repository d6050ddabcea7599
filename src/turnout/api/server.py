"""Where the application listens: a Unix socket that one daemon owns, or TCP."""

import asyncio
import fcntl
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

SOCKET_MODE = 0o660
STOP_S = 1
"""How long a stop waits for answers that are on their way."""


class SocketInUseError(Exception):
    """Another daemon has the socket."""


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the daemon's."""
        yield


async def serve(application: Starlette, listening: socket.socket) -> None:
    """Answer on `listening` until cancelled, then close it."""
    server = _Server(
        uvicorn.Config(
            application,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=STOP_S,
        )
    )
    # Shielded, since uvicorn must be asked, not cancelled, to finish its answers.
    serving = asyncio.ensure_future(server.serve(sockets=[listening]))
    try:
        await asyncio.shield(serving)
    finally:
        server.should_exit = True
        await serving


@contextmanager
def unix_socket(path: Path) -> Iterator[socket.socket]:
    """Listen at `path`, mode 0660, alone.

    A lock beside the socket says whether its daemon lives: the kernel drops it with the process,
    however that ends, so a socket found without a lock is left over and replaced. Raises
    SocketInUseError where the lock is held, OSError where the path is not ours to use.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = path.with_name(path.name + ".lock")
    with lock.open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SocketInUseError(
                f"another daemon serves {path}; stop it or name another --socket"
            ) from None
        _remove_left_over(path)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            mask = os.umask(0o777 & ~SOCKET_MODE)
            try:
                listening.bind(str(path))
            finally:
                os.umask(mask)
            listening.listen()
            try:
                yield listening
            finally:
                path.unlink(missing_ok=True)


def _remove_left_over(path: Path) -> None:
    """Raises OSError for what is no socket: a slip of the finger must not cost a file."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise FileExistsError(f"{path} is there and is no socket: name another --socket")
    path.unlink()


def tcp_socket(address: str, port: int) -> socket.socket:
    """Listen on TCP. Raises OSError."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.create_server((address, port), family=family)
