"""A bridge of Open vSwitch, by its own program: OpenFlow 1.3, all changes of one update in a bundle."""

import re
import signal
import subprocess
from collections.abc import Iterable, Sequence

from turnout.switch.installed import ALL_OFF, Change, Installed, difference, read
from turnout.switch.openflow import Flow

PATIENCE_S = 3
"""For one answer of the switch."""

CHANGES_A_SECOND = 1000
"""Of a bundle, for which it has as much more time."""


class SwitchError(Exception):
    """The switch cannot be reached, or refuses."""


class Bridge:
    """One bridge, by the name that ovs-ofctl takes: of this machine, or unix:PATH, tcp:ADDRESS:PORT."""

    def __init__(self, name: str) -> None:
        self._name = name

    def flows(self) -> list[Installed]:
        """All that are there. Raises SwitchError."""
        return read(self._ask("--no-names", "dump-flows"))

    def ports(self) -> dict[int, str]:
        """Its ports by number; of a name the first 15 characters are told, and several may have the
        same. Raises SwitchError."""
        listed = self._ask("--no-names", "dump-ports-desc")
        found = re.findall(r"^ *([0-9]+)\((.*)\): addr:", listed, re.MULTILINE)
        return {int(number): name for number, name in found}

    def apply(self, wanted: Sequence[Flow]) -> Change:
        """Make `wanted` all flows of ours; returns what was to be done. The switch takes it at once
        or not at all: each packet meets the old flows or the new ones.

        Raises SwitchError, also for what `difference` refuses.
        """
        change = self._difference(self.flows(), wanted)
        if change.lines:
            self._bundle(change.lines)
            # Who applied at the same time began from the same flows: both together are neither's. All
            # of ours anew leave the flows of the last one, whole.
            if self._difference(self.flows(), wanted).lines:
                self._bundle((ALL_OFF, *self._difference((), wanted).lines))
        return change

    def _difference(self, there: Iterable[Installed], wanted: Sequence[Flow]) -> Change:
        try:
            return difference(there, wanted, self.ports())
        except ValueError as error:
            raise SwitchError(f"bridge {self._name}: {error}") from None

    def _bundle(self, lines: Sequence[str]) -> None:
        more_s = len(lines) // CHANGES_A_SECOND
        self._ask("--bundle", "add-flows", "-", text="\n".join(lines), more_s=more_s)

    def _ask(
        self, option: str, verb: str, *files: str, text: str | None = None, more_s: int = 0
    ) -> str:
        patience_s = PATIENCE_S + more_s
        options = ["-O", "OpenFlow13", f"--timeout={patience_s}", option]
        command = ["ovs-ofctl", *options, "--", verb, self._name, *files]
        try:
            done = subprocess.run(
                command, input=text, capture_output=True, encoding="utf-8", errors="replace"
            )
        except FileNotFoundError:
            raise SwitchError(
                "ovs-ofctl: not found: expected openvswitch-switch installed"
            ) from None
        except OSError as error:
            raise SwitchError(f"ovs-ofctl: cannot be started: {error.strerror}") from None
        if done.returncode == -signal.SIGALRM:
            # What it says itself has the time in it, and a log is to tell a failure once.
            raise SwitchError(f"bridge {self._name}: no answer within {patience_s} s")
        if done.returncode:
            reason = _reason(done.stderr) or f"ended with {done.returncode}"
            raise SwitchError(f"bridge {self._name}: {reason}")
        return done.stdout


def _reason(said: str) -> str:
    """Of a failure, in one line of what ovs-ofctl says."""
    if "version negotiation failed" in said:
        return "it does not speak OpenFlow 1.3: expected OpenFlow13 among its protocols"
    lines = said.strip().splitlines()
    # Errors of the switch itself come first, and all but the first for those before them.
    refused = [line for line in lines if line.startswith("Error ")]
    return (refused or lines[-1:] or [""])[0].removeprefix("ovs-ofctl: ")
