"""A switch that the daemon of an instance keeps."""

import asyncio
from pathlib import Path

import pytest

from tests.daemon.fakes import FLEET, configuration
from tests.switch.vswitch import Vswitch, run
from turnout.daemon import switches as module
from turnout.switch import Bridge, wanted

SWITCH = """
switches:
  edge:
    bridge: "{bridge}"
    instance: lb1
    splits: {{all: {{width: 8, targets: {{a: {{port: a, weight: 3}}, b: {{port: b, weight: 5}}}}}}}}
"""


def test_flows_that_somebody_took_away_come_back(
    vswitch: Vswitch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TICK_S", 0.01)
    asked = configuration(tmp_path, FLEET + SWITCH.format(bridge=vswitch.bridge))
    count = len(wanted(asked.fleet, "edge"))
    bridge = Bridge(vswitch.bridge)

    async def all_there() -> None:
        while sum(flow.ours for flow in await asyncio.to_thread(bridge.flows)) != count:
            pass

    async def story() -> None:
        keeping = asyncio.create_task(module.Switches(Bridge).run(lambda: asked))
        await all_there()
        run(*vswitch.within, "ovs-ofctl", "-O", "OpenFlow13", "del-flows", "br")
        assert not bridge.flows()
        await all_there()
        keeping.cancel()
        await asyncio.wait([keeping])

    asyncio.run(story())
