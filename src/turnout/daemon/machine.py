"""The effects of the machine that this runs on."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from turnout.announce import KernelRoutes
from turnout.daemon.configuration import Configuration
from turnout.daemon.effects import Effects
from turnout.health import Checks, Probes
from turnout.switch import Bridge
from turnout.xdp import Forwarder, Neighbours


@asynccontextmanager
async def machine(configuration: Configuration) -> AsyncIterator[Effects]:
    """The forwarder attached, its tables empty, and what else the daemon needs. Whoever uses it
    closes the data plane.

    Raises turnout.xdp.DataPlaneError where the forwarder cannot be loaded or attached.
    """
    instance, announcement = configuration.instance, configuration.fleet.announcement
    async with Neighbours() as neighbours:
        forwarder = Forwarder()
        try:
            forwarder.attach(instance.interfaces, instance.mode)
        except BaseException:
            forwarder.close()
            raise
        yield Effects(forwarder, neighbours, KernelRoutes(announcement), Checks(Probes()), Bridge)
