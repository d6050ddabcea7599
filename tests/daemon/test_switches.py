"""The switches of an instance are as the file says, whatever happens on the way."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.daemon.fakes import FLEET, FakeBridge, World, configuration
from turnout.config import Fleet
from turnout.daemon import switches as module
from turnout.daemon.configuration import Configuration
from turnout.daemon.switches import Switches
from turnout.switch import Change, Flow, SwitchError, wanted

SPLIT = "{{width: 8, targets: {{a: {{port: eth1, weight: {weight}}}, b: {{port: eth2}}}}}}"
SWITCHES = """
switches:
  edge: {{bridge: br0, instance: lb1, splits: {{all: {split}}}}}
  core: {{bridge: br1, instance: lb1, splits: {{all: {split}}}}}
  other: {{bridge: br2, splits: {{all: {split}}}}}
"""


def fleet(path: Path, weight: int, without: str = "") -> Configuration:
    text = FLEET + SWITCHES.format(split=SPLIT.format(weight=weight))
    return configuration(
        path, "\n".join(x for x in text.split("\n") if not x.startswith(without or "?"))
    )


def flows(fleet: Fleet, name: str) -> list[str]:
    return [str(flow) for flow in wanted(fleet, name)]


def kept(
    world: World, story: Callable[[Switches, list[Configuration]], Any], first: Configuration
) -> list[dict[str, Any]]:
    """The log of a run in which `story` may change the configuration, the last of the list."""

    async def run() -> None:
        now = [first]
        keeper = Switches(lambda name: FakeBridge(world, name))
        running = asyncio.create_task(keeper.run(lambda: now[-1]))
        try:
            await story(keeper, now)
        finally:
            running.cancel()
            await asyncio.wait([running])

    with capture_logs() as logs:
        asyncio.run(run())
    return [dict(entry) for entry in logs]


async def until(true: Callable[[], bool]) -> None:
    while not true():
        await asyncio.sleep(0)


def test_those_of_the_instance_are_kept_and_others_left_alone(tmp_path: Path) -> None:
    world, asked = World(), fleet(tmp_path, 3)

    async def story(keeper: Switches, now: list[Configuration]) -> None:
        await until(lambda: len(world.flows) == 2)

    kept(world, story, asked)
    assert world.flows == {"br0": flows(asked.fleet, "edge"), "br1": flows(asked.fleet, "core")}


def test_a_reload_changes_the_flows_and_takes_away_those_of_a_switch_that_is_gone(
    tmp_path: Path,
) -> None:
    world, before = World(), fleet(tmp_path, 3)
    after = fleet(tmp_path, 5, without="  core:")

    async def story(keeper: Switches, now: list[Configuration]) -> None:
        await until(lambda: len(world.flows) == 2)
        now.append(after)
        keeper.want()
        await until(lambda: world.flows["br1"] == [])

    kept(world, story, before)
    assert world.flows["br0"] == flows(after.fleet, "edge") != flows(before.fleet, "edge")


def test_what_others_took_away_or_a_switch_refused_comes_with_the_next_tick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TICK_S", 0.001)
    world, asked = World(), fleet(tmp_path, 3)
    world.switch_failures = [SwitchError("no answer")] * 4

    async def story(keeper: Switches, now: list[Configuration]) -> None:
        await until(lambda: len(world.flows) == 2)
        world.flows["br0"] = []
        await until(lambda: bool(world.flows["br0"]))

    logs = kept(world, story, asked)
    assert world.flows["br0"] == flows(asked.fleet, "edge")
    failures = [entry["bridge"] for entry in logs if entry["event"] == "switch_failed"]
    assert failures == ["br0", "br1"]  # told once, tried again and again


def test_one_that_does_not_answer_holds_up_no_other(tmp_path: Path) -> None:
    world, asked, over = World(), fleet(tmp_path, 3), threading.Event()

    class Slow(FakeBridge):
        def apply(self, wanted: Sequence[Flow]) -> Change:
            if self.name == "br0":
                over.wait()
            return super().apply(wanted)

    async def run() -> None:
        keeper = Switches(lambda name: Slow(world, name))
        running = asyncio.create_task(keeper.run(lambda: asked))
        try:
            await until(lambda: "br1" in world.flows)
            assert "br0" not in world.flows
        finally:
            over.set()
            running.cancel()
            await asyncio.wait([running])

    asyncio.run(asyncio.wait_for(run(), 60))


@pytest.mark.parametrize(
    ("bridge", "other", "stays"),
    [
        ("tcp:192.0.2.9:6653", "instance: lb2,", True),
        ("ssl:192.0.2.9:6653", "instance: lb2,", True),
        ("tcp:192.0.2.9:6653", "", True),
        ("br0", "", True),
        # Another machine's bridge of the same name.
        ("br0", "instance: lb2,", False),
        ("unix:/run/br0", "instance: lb2,", False),
    ],
)
def test_flows_of_a_switch_that_goes_over_to_others_are_theirs(
    tmp_path: Path, bridge: str, other: str, stays: bool
) -> None:
    def asked(whose: str) -> Configuration:
        split = "{width: 8, targets: {a: {port: 1}}}"
        lb2 = "  lb2: {interfaces: [eth0], addresses: [10.0.1.2]}\nbackends:"
        switches = f'switches: {{s: {{bridge: "{bridge}", {whose} splits: {{x: {split}}}}}}}'
        return configuration(tmp_path, FLEET.replace("backends:", lb2) + switches)

    world, before = World(), asked("instance: lb1,")
    there = flows(before.fleet, "s")

    async def story(keeper: Switches, now: list[Configuration]) -> None:
        await until(lambda: world.flows.get(bridge) == there)
        now.append(asked(other))
        # Behind it, so that the pass that would take the others' away is over.
        text = now[-1].fleet.path.read_text()
        more = "br9: {bridge: br9, instance: lb1, splits: {x: {width: 8, targets: {a: {port: 1}}}}}"
        now.append(configuration(tmp_path, text.replace("{s:", f"{{{more}, s:")))
        keeper.want()
        await until(lambda: "br9" in world.flows)
        if not stays:
            await until(lambda: world.flows[bridge] == [])

    kept(world, story, before)
    assert world.flows[bridge] == (there if stays else [])


def test_a_bridge_that_has_another_name_now_has_its_flows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TICK_S", 1e6)
    world, before = World(), fleet(tmp_path, 3)
    text = before.fleet.path.read_text()
    after = configuration(tmp_path, text.replace("br0", "unix:/run/br0.mgmt"))
    added, removed = threading.Event(), threading.Event()

    class Same(FakeBridge):
        def apply(self, wanted: Sequence[Flow]) -> Change:
            if not wanted:
                added.wait()
            change = FakeBridge(world, self.name.replace("unix:/run/br0.mgmt", "br0")).apply(wanted)
            if not wanted:
                removed.set()
            elif self.name == "unix:/run/br0.mgmt":
                added.set()
            return change

    async def run() -> None:
        now = [before]
        keeper = Switches(lambda name: Same(world, name))
        running = asyncio.create_task(keeper.run(lambda: now[-1]))
        try:
            await until(lambda: len(world.flows) == 2)
            now.append(after)
            keeper.want()
            await until(removed.is_set)
            await until(lambda: world.flows["br0"] == flows(after.fleet, "edge"))
        finally:
            added.set()
            running.cancel()
            await asyncio.wait([running])

    asyncio.run(asyncio.wait_for(run(), 60))
