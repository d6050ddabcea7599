"""A laboratory in being: namespaces, links and processes, taken away again whatever happens."""

import os
import secrets
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self

from turnout.core import native
from turnout.kernel import netns
from turnout.lab.network import (
    HOST_SETTINGS,
    ROUTER_SETTINGS,
    Settings,
    host_lines,
    router_lines,
)
from turnout.lab.processes import ProcessId, end, kill
from turnout.lab.record import Record, register
from turnout.lab.topology import ROUTER, Topology

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Beside SIGINT, which is KeyboardInterrupt already."""


class LabError(RuntimeError):
    """The network or a program in it did not come up; the message says which and shows its words."""


class Machines:
    """Namespaces and links of a topology, with nothing running in them: a context manager.

    They are removed at its end, also after an exception, SIGINT, SIGTERM or SIGHUP. If the process is
    killed, the next laboratory removes them.
    """

    def __init__(self, topology: Topology, name: str | None = None) -> None:
        """`name` must be short and of no other laboratory; None: one that nobody has."""
        self.topology = topology
        self.record = Record(
            name or secrets.token_hex(3), topology.nodes(), ProcessId.of(os.getpid())
        )
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._previous: dict[signal.Signals, signal._HANDLER] = {}

    @property
    def directory(self) -> Path:
        """Configurations, logs and sockets; removed with the laboratory."""
        return self.record.directory

    def __enter__(self) -> Self:
        if os.geteuid() != 0:
            raise LabError("namespaces, BPF and XDP need root")
        register(self.record)
        if threading.current_thread() is threading.main_thread():
            self._previous = {n: signal.signal(n, _terminated) for n in ENDING}
        try:
            self._build()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with _undisturbed():
            if self.record.owner is not None:
                self.record.remove()
                for process in self._running.values():
                    process.wait()
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def keep(self) -> None:
        """Let it stay when this process ends."""
        self.record.owner = None
        self.record.save()

    def run(
        self, node: str, command: Sequence[str], timeout_s: float = 10.0, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on a machine and wait for it.

        Raises LabError where it fails and `check` is set, subprocess.TimeoutExpired after
        `timeout_s`.
        """
        with netns.inside(self.record.namespace(node)):
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=timeout_s, check=False
            )
        if check and done.returncode:
            said = (done.stderr or done.stdout).strip()
            raise LabError(f"{node}: {' '.join(command)}: exit status {done.returncode}: {said}")
        return done

    def start(
        self,
        node: str,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start a program on a machine, with `environment` beside ours.

        Its output goes into `directory`/NODE-NAME.log.
        """
        with (
            self.log(node, name).open("wb") as log,
            netns.inside(self.record.namespace(node)),
        ):
            # A session of its own: Ctrl-C is for the laboratory, which ends its programs in order.
            process = subprocess.Popen(
                command,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        key = f"{node}/{name}"
        self._running[key] = process
        identity = ProcessId.of(process.pid)
        if identity:
            self.record.processes[key] = identity
            self.record.save()

    def log(self, node: str, name: str) -> Path:
        return self.directory / f"{node}-{name}.log"

    def stop(self, node: str, names: Iterable[str]) -> None:
        """End programs of a machine as their user would, by SIGTERM."""
        end(self._forget(node, names))

    def kill(self, node: str) -> None:
        """Kill every program of a machine at once."""
        names = [key.partition("/")[2] for key in self._running if key.startswith(f"{node}/")]
        kill(self._forget(node, names))

    def _forget(self, node: str, names: Iterable[str]) -> list[ProcessId]:
        keys = [f"{node}/{name}" for name in names]
        for key in keys:
            self._running.pop(key)
        gone = [self.record.processes.pop(key) for key in keys if key in self.record.processes]
        self.record.save()
        return gone

    def unplug(self, node: str) -> None:
        """Take a host's links down at the router's end: the host loses its carrier, the router
        itself notices nothing."""
        self._set_ports(node, "down")

    def plug(self, node: str) -> None:
        """Undo `unplug`."""
        self._set_ports(node, "up")

    def _set_ports(self, node: str, state: str) -> None:
        host = next(host for host in self.topology.hosts() if host.name == node)
        self._ip(ROUTER, [f"link set {link.port} {state}" for link in host.links])

    def socket(self, node: str, family: int, kind: int, protocol: int = 0) -> socket.socket:
        """A socket of a machine's; it stays there wherever the caller is."""
        with netns.inside(self.record.namespace(node)):
            return socket.socket(family, kind, protocol)

    def wait(self, ready: Callable[[], bool], what: str, patience_s: float = 40.0) -> None:
        """Ask `ready` until it says yes.

        Raises LabError, with the last words of every program, where that takes longer than
        `patience_s` or a program has ended.
        """
        until = time.monotonic() + patience_s
        while not ready():
            for key, process in self._running.items():
                if process.poll() is not None:
                    raise LabError(
                        f"{what}: {key} ended with status {process.returncode}\n{self._words(key)}"
                    )
            if time.monotonic() > until:
                words = "\n".join(self._words(key) for key in self._running)
                raise LabError(f"{what}: not within {patience_s:g} s\n{words}")
            time.sleep(0.05)

    def _words(self, key: str) -> str:
        node, _, name = key.partition("/")
        lines = self.log(node, name).read_text(errors="replace").splitlines()
        return "\n".join([f"--- {key}", *lines[-12:]])

    def _build(self) -> None:
        for node in self.record.nodes:
            netns.create(self.record.namespace(node))
            self._set(node, ROUTER_SETTINGS if node == ROUTER else HOST_SETTINGS)
        self._ip(ROUTER, router_lines(self.topology, self.record.namespace, native("pass.bpf.o")))
        for host in self.topology.hosts():
            self._ip(host.name, host_lines(host))
        for host in self.topology.hosts():
            for link in host.links:
                # XDP sees what the peer sends as it is: with whole checksums and of a packet's size.
                offloads = [x for name in ("tx", "tso", "gso") for x in (name, "off")]
                self.run(ROUTER, ["ethtool", "-K", link.port, *offloads])

    def _set(self, node: str, settings: Settings) -> None:
        with netns.inside(self.record.namespace(node)):
            for path, value in settings.items():
                (Path("/proc/sys/net") / path).write_text(value)

    def _ip(self, node: str, lines: Sequence[str]) -> None:
        batch = "\n".join(lines) + "\n"
        done = subprocess.run(
            ["ip", "-n", self.record.namespace(node), "-batch", "-"],
            input=batch,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise LabError(f"{node}: ip: {done.stderr.strip()}\n{batch}")


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals that would end us wait until the end of the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *ENDING})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _terminated(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
