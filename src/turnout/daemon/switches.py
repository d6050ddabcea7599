"""The switches of one instance, kept as its configuration says.

Apart from the loop of the data plane: a switch that does not answer holds up no packet and no change of
health. Nothing else is there to hold to either: what a switch does is in the file alone.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NoReturn

import structlog

from turnout.config import Fleet
from turnout.daemon.configuration import Configuration
from turnout.daemon.effects import FlowTable
from turnout.switch import Flow, SwitchError, kept_by, kept_by_others, wanted

TICK_S = 10.0
"""A pass without an event: retries what failed, restores what others removed."""


class Switches:
    """Keeps them. Flows stay when the daemon stops: traffic is to be split by them until they are
    taken away."""

    def __init__(self, bridge: Callable[[str], FlowTable]) -> None:
        self._bridge = bridge
        self._log = structlog.get_logger()
        self._changed = asyncio.Event()
        self._fleet: Fleet | None = None
        self._wanted: dict[str, Sequence[Flow]] = {}
        """By bridge; those that the file no longer has, empty until they are."""
        self._failures: dict[str, str] = {}

    def want(self) -> None:
        """Ask for a pass soon."""
        self._changed.set()

    async def run(self, configuration: Callable[[], Configuration]) -> NoReturn:
        """Keep them, until cancelled."""
        while True:
            self._changed.clear()
            await self._keep(configuration())
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_S):
                    await self._changed.wait()

    async def _keep(self, configuration: Configuration) -> None:
        fleet = configuration.fleet
        if fleet is not self._fleet:
            instance = configuration.instance.name
            others = kept_by_others(fleet, instance)
            self._wanted = {bridge: () for bridge in self._wanted if bridge not in others}
            for switch in kept_by(fleet, instance):
                # A split of many targets takes seconds.
                self._wanted[switch.bridge] = await asyncio.to_thread(wanted, fleet, switch.name)
            self._fleet = fleet
        # Beside each other: one that does not answer holds up no other.
        await asyncio.gather(
            *(self._apply(bridge, flows) for bridge, flows in self._wanted.items())
        )

    async def _apply(self, bridge: str, flows: Sequence[Flow]) -> None:
        try:
            change = await asyncio.to_thread(self._bridge(bridge).apply, flows)
        except SwitchError as error:
            if self._failures.get(bridge) != str(error):
                self._log.error("switch_failed", bridge=bridge, error=str(error))
            self._failures[bridge] = str(error)
            return
        self._failures.pop(bridge, None)
        if change.lines:
            self._log.info("switch_applied", bridge=bridge, flows=len(flows), change=str(change))
        if not flows:
            self._wanted.pop(bridge, None)
            if change.lines:
                # They may have been those of another name that the same bridge has now.
                self.want()
