"""Processes that a laboratory started, known for certain although pids are used again."""

import os
import select
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process of this boot of the machine."""

    pid: int
    started: int
    """In clock ticks since boot."""

    @classmethod
    def of(cls, pid: int) -> "ProcessId | None":
        """None where no process has the pid."""
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return None
        # The second field is the name in brackets, which may hold blanks and brackets.
        fields = stat.rpartition(")")[2].split()
        return None if fields[0] == "Z" else cls(pid, int(fields[19]))

    def alive(self) -> bool:
        return ProcessId.of(self.pid) == self


def end(processes: Iterable[ProcessId], patience_s: float = 5.0) -> None:
    """SIGTERM to all of them at once, SIGKILL to those that are still there after `patience_s`.

    Returns when all are gone.
    """
    waiting = _signal(processes, signal.SIGTERM)
    waiting = _wait(waiting, patience_s)
    _wait(_signal(waiting, signal.SIGKILL), patience_s)


def kill(processes: Iterable[ProcessId], patience_s: float = 5.0) -> None:
    """SIGKILL, and wait until they are gone."""
    _wait(_signal(processes, signal.SIGKILL), patience_s)


def _signal(processes: Iterable[ProcessId], number: signal.Signals) -> list[ProcessId]:
    reached = []
    for process in processes:
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(process.pid)
            try:
                # Only now that the descriptor holds the pid can it not become another's.
                if process.alive():
                    signal.pidfd_send_signal(descriptor, number)
                    reached.append(process)
            finally:
                os.close(descriptor)
    return reached


def _wait(processes: Iterable[ProcessId], patience_s: float) -> list[ProcessId]:
    """Those that are still there after `patience_s`."""
    until = time.monotonic() + patience_s
    left = []
    for process in processes:
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(process.pid)
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            if process.alive() and not poll.poll(max(0.0, until - time.monotonic()) * 1000):
                left.append(process)
            os.close(descriptor)
    return left


__all__ = ["ProcessId", "end", "kill"]
