"""turnout agent: the backend's side."""

import select
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import structlog

from turnout import agent, config
from turnout.cli.logs import configure_logs
from turnout.kernel.capabilities import missing_capabilities

CHECK_EVERY_S = 5


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--backend", default=socket.gethostname, help="Who I am.  [default: host name]")
@click.option(
    "--undo", is_flag=True, help="Take back what the agent has set on this host, and end."
)
def command(file: Path, backend: str, undo: bool) -> None:
    """Be a backend of FILE's fleet: in the foreground, until SIGTERM or SIGINT.

    Puts the VIPs on lo, sets ARP and reverse path filter, opens packets that instances send and
    lowers the MSS of SYN-ACKs. Everything is checked every five seconds and put right. SIGHUP reads
    FILE again; one with an error is refused whole. Addresses and settings stay at the end, for the
    connections that need them; --undo takes them back.
    """
    configure_logs()
    # What is recorded can be undone whatever the file says now.
    recorded = undo and agent.state_file(backend).exists()
    try:
        wanted = None if recorded else agent.wanted(config.load(file), backend)
    except (config.ConfigError, ValueError) as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    if missing := missing_capabilities():
        raise click.ClickException(f"not permitted: lacks {' and '.join(missing)}; run it as root")
    try:
        with agent.alone(agent.state_file(backend)):
            if undo:
                _undo(backend)
            elif wanted:
                with _signals() as caught:
                    _serve(file, wanted, caught)
    except (agent.AgentError, OSError, ValueError) as error:
        raise click.ClickException(str(error)) from None


def _undo(backend: str) -> None:
    lines = list(agent.undo(agent.state_file(backend)))
    for line in lines or ["nothing to take back"]:
        click.echo(line)


@contextmanager
def _signals() -> Iterator[Callable[[], set[int]]]:
    """Waits for signals, CHECK_EVERY_S at most, and says which came.

    Blocking them is not enough: threads of libraries that began before would get them.
    """
    read, write = socket.socketpair()
    with read, write:
        write.setblocking(False)
        signal.set_wakeup_fd(write.fileno())
        awaited = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        before = [signal.signal(number, lambda *_: None) for number in awaited]

        def caught() -> set[int]:
            ready, _, _ = select.select([read], [], [], CHECK_EVERY_S)
            return set(read.recv(64)) if ready else set()

        try:
            yield caught
        finally:
            signal.set_wakeup_fd(-1)
            for number, handler in zip(awaited, before, strict=True):
                signal.signal(number, handler)


def _serve(file: Path, wanted: agent.Wanted, caught: Callable[[], set[int]]) -> None:
    log = structlog.get_logger()
    host = agent.Host(agent.state_file(wanted.backend))
    amiss = ""
    try:
        for line in host.reconcile(wanted):
            log.info(line)
        log.info("agent ready", backend=wanted.backend, vips=[str(vip) for vip in wanted.vips])
        while True:
            numbers = caught()
            if numbers - {signal.SIGHUP}:
                log.info("agent stopped: packets are no longer opened, VIPs and settings stay")
                return
            if numbers:
                wanted = _reloaded(file, wanted)
            try:
                for line in host.reconcile(wanted):
                    log.warning(line)
                amiss = ""
            except agent.AgentError as error:
                # An interface may be away for a moment: the next turn tries again.
                if str(error) != amiss:
                    log.error("not as it must be, tried again and again", reason=str(error))
                amiss = str(error)
    finally:
        host.close()


def _reloaded(file: Path, wanted: agent.Wanted) -> agent.Wanted:
    """What FILE says now; a file with an error is refused whole."""
    log = structlog.get_logger()
    try:
        fresh = agent.wanted(config.load(file), wanted.backend)
    except (config.ConfigError, ValueError) as error:
        log.error("reload refused, the running configuration stays", reason=str(error))
        return wanted
    log.info("file read again", vips=[str(vip) for vip in fresh.vips])
    return fresh
