"""`turnout run`: the daemon of one instance, in the foreground."""

import asyncio
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import click

from turnout.api import (
    SocketInUseError,
    application,
    public_application,
    serve,
    tcp_socket,
    unix_socket,
)
from turnout.cli.client import socket_option
from turnout.cli.logs import configure_logs
from turnout.config import ConfigError
from turnout.daemon import Configuration, Daemon, RefusalError, StartError, read
from turnout.daemon.machine import machine
from turnout.kernel.capabilities import missing_capabilities
from turnout.xdp import DataPlaneError


def _address_and_port(
    context: click.Context, option: click.Parameter, value: str | None
) -> tuple[str, int] | None:
    if value is None:
        return None
    address, _, port = value.rpartition(":")
    if not address or not port.isdecimal() or not 0 < int(port) < 65536:
        raise click.BadParameter(f"{value!r}: expected ADDRESS:PORT", context, option)
    return address.strip("[]"), int(port)


@click.command("run")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--instance", default=socket.gethostname, help="Who I am.  [default: host name]")
@socket_option
@click.option(
    "--metrics",
    "metrics_at",
    metavar="ADDRESS:PORT",
    callback=_address_and_port,
    help="Also serve /metrics, /healthz and /readyz here, over TCP.",
)
def command(
    file: Path, instance: str, socket_path: Path, metrics_at: tuple[str, int] | None
) -> None:
    """Be the load balancer that FILE describes: in the foreground, until SIGTERM or SIGINT.

    SIGHUP reads FILE again. One with an error is refused whole, and the running configuration
    stays. A stop withdraws the VIPs, forwards for a moment more, then detaches.
    """
    configure_logs()
    again = partial(read, file, instance)
    try:
        configuration = again()
    except (ConfigError, RefusalError) as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    if missing := missing_capabilities():
        raise click.ClickException(f"not permitted: lacks {' and '.join(missing)}; run it as root")
    with ExitStack() as listening:
        try:
            control = listening.enter_context(unix_socket(socket_path))
            public = listening.enter_context(tcp_socket(*metrics_at)) if metrics_at else None
        except (SocketInUseError, OSError) as error:
            raise click.ClickException(str(error)) from None
        try:
            asyncio.run(_run(configuration, again, control, public))
        except (StartError, DataPlaneError) as error:
            raise click.ClickException(f"not started: {error}") from None


async def _run(
    configuration: Configuration,
    again: Callable[[], Configuration],
    control: socket.socket,
    public: socket.socket | None,
) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    loop.add_signal_handler(signal.SIGINT, stopping.set)
    async with machine(configuration) as effects:
        daemon = Daemon(configuration, effects, again)
        loop.add_signal_handler(signal.SIGHUP, daemon.reload)
        servers = [serve(application(daemon.snapshot, daemon.counters), control)]
        if public:
            servers.append(serve(public_application(daemon.snapshot, daemon.counters), public))
        answering = [asyncio.create_task(server) for server in servers]
        try:
            await daemon.run(stopping)
        finally:
            for server in answering:
                server.cancel()
            await asyncio.wait(answering)
