"""Asking the daemon over its Unix socket, with the standard library alone: `show` is called by
scripts, so that every import counts."""

import json
import socket
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import click

DEFAULT_SOCKET = Path("/run/turnout/turnout.sock")
TIMEOUT_S = 5.0

socket_option = click.option(
    "--socket",
    "socket_path",
    type=click.Path(path_type=Path),
    default=DEFAULT_SOCKET,
    show_default=True,
    help="The daemon's Unix socket.",
)
"""Gives a command the parameter `socket_path`."""


class UnixConnection(HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=TIMEOUT_S)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(TIMEOUT_S)
        self.sock.connect(str(self.path))


def get(path: Path, target: str) -> Any:
    """The JSON document at `target` of the daemon whose socket is `path`.

    Raises click.ClickException (exit status 1), naming the socket, where no daemon answers.
    """
    connection = UnixConnection(path)
    try:
        connection.request("GET", target)
        answer = connection.getresponse()
        body = answer.read()
    except (FileNotFoundError, ConnectionRefusedError):
        raise click.ClickException(f"no daemon at {path}: is `turnout run` running?") from None
    except (OSError, HTTPException) as error:
        raise click.ClickException(f"daemon at {path} does not answer: {error}") from None
    finally:
        connection.close()
    if answer.status != 200:
        raise click.ClickException(f"daemon at {path}: {target}: {answer.status} {answer.reason}")
    return json.loads(body)
