"""The daemon's interface: HTTP and JSON on a Unix socket, /metrics for Prometheus."""

from turnout.api.application import application, public_application
from turnout.api.server import SocketInUseError, serve, tcp_socket, unix_socket

__all__ = [
    "SocketInUseError",
    "application",
    "public_application",
    "serve",
    "tcp_socket",
    "unix_socket",
]
