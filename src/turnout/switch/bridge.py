"""A bridge of Open vSwitch, by its own program: OpenFlow 1.3, all changes of one update in a bundle."""

import re
import subprocess
from collections.abc import Sequence

from turnout.switch.installed import Change, Installed, difference, read
from turnout.switch.openflow import Flow

PATIENCE_S = 3
"""For one answer of the switch."""


class SwitchError(Exception):
    """The switch cannot be reached, or refuses."""


class Bridge:
    """One bridge, by the name that ovs-ofctl takes: of this machine, or unix:PATH, tcp:ADDRESS:PORT."""

    def __init__(self, name: str) -> None:
        self._name = name

    def flows(self) -> list[Installed]:
        """All that are there. Raises SwitchError."""
        return read(self._ask("--no-names", "dump-flows"))

    def ports(self) -> dict[str, int]:
        """Its ports by name. Raises SwitchError."""
        listed = self._ask("--names", "dump-ports-desc")
        found = re.findall(r"^ *([0-9]+)\((.*)\): addr:", listed, re.MULTILINE)
        return {name.strip('"'): int(number) for number, name in found}

    def apply(self, wanted: Sequence[Flow]) -> Change:
        """Make `wanted` all flows of ours; returns what was to be done. The switch takes it at once
        or not at all: each packet meets the old flows or the new ones.

        Raises SwitchError, also for what `difference` refuses.
        """
        try:
            change = difference(self.flows(), wanted, self.ports())
        except ValueError as error:
            raise SwitchError(f"bridge {self._name}: {error}") from None
        if change.lines:
            self._ask("--bundle", "add-flows", "-", text="\n".join(change.lines))
        return change

    def _ask(self, option: str, verb: str, *files: str, text: str | None = None) -> str:
        options = ["-O", "OpenFlow13", f"--timeout={PATIENCE_S}", option]
        command = ["ovs-ofctl", *options, "--", verb, self._name, *files]
        try:
            done = subprocess.run(command, input=text, capture_output=True, text=True)
        except FileNotFoundError:
            raise SwitchError(
                "ovs-ofctl: not found: expected openvswitch-switch installed"
            ) from None
        if done.returncode:
            said = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
            reason = said[-1].removeprefix("ovs-ofctl: ")
            raise SwitchError(f"bridge {self._name}: {reason}")
        return done.stdout
