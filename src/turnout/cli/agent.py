"""turnout agent: the backend's side."""

import signal
import socket
import sys
from pathlib import Path

import click

from turnout import agent, config

CHECK_EVERY_S = 5


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--backend", help="Who this host is.  [default: the host name]")
@click.option(
    "--undo", is_flag=True, help="Take back what the agent has set on this host, and end."
)
def command(file: Path, backend: str | None, undo: bool) -> None:
    """Be a backend of FILE's fleet, until SIGTERM or SIGINT.

    Puts the VIPs on lo, sets ARP and reverse path filter, opens packets that instances send and
    lowers the MSS of SYN-ACKs. Everything is checked every five seconds and put right. SIGHUP reads
    FILE again. Addresses and settings stay at the end, for the connections that need them; --undo
    takes them back.
    """
    name = backend or socket.gethostname()
    try:
        wanted = agent.wanted(config.load(file), name)
    except (config.ConfigError, ValueError) as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    try:
        if undo:
            for line in agent.undo(agent.state_file(name)):
                click.echo(line)
            return
        _serve(file, wanted)
    except (agent.AgentError, OSError, ValueError) as error:
        click.echo(f"agent: {error}", err=True)
        sys.exit(1)


def _serve(file: Path, wanted: agent.Wanted) -> None:
    awaited = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    host = agent.Host(agent.state_file(wanted.backend))
    try:
        for line in host.reconcile(wanted):
            click.echo(line)
        click.echo(f"backend {wanted.backend} ready: {len(wanted.vips)} VIPs")
        while True:
            caught = signal.sigtimedwait(awaited, CHECK_EVERY_S)
            if caught is not None and caught.si_signo != signal.SIGHUP:
                return
            if caught is not None:
                wanted = _reloaded(file, wanted)
            try:
                for line in host.reconcile(wanted):
                    click.echo(line)
            except agent.AgentError as error:
                # An interface may be away for a moment: the next turn tries again.
                click.echo(f"agent: {error}", err=True)
    finally:
        host.close()


def _reloaded(file: Path, wanted: agent.Wanted) -> agent.Wanted:
    """What FILE says now; a file with an error is refused whole."""
    try:
        return agent.wanted(config.load(file), wanted.backend)
    except (config.ConfigError, ValueError) as error:
        click.echo(f"reload refused, the running configuration stays:\n{error}", err=True)
        return wanted
