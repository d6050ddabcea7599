"""The reconcile loop against a world made of values, in virtual time."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.daemon.fakes import FLEET, HOP, WEB1, WEB2, World, configuration
from tests.daemon.virtual import run
from turnout.daemon import Daemon, StartError, read
from turnout.daemon.loop import COALESCE_S, GRACE_S, RETRY_S, SETTLE_S, TICK_S
from turnout.xdp import DataPlaneError

VIP = "192.0.2.10"
BOTH_DOWN = {WEB1: "down", WEB2: "down"}
BOTH_UP = {WEB1: "up", WEB2: "up"}
Logs = list[MutableMapping[str, Any]]


def play(
    tmp_path: Path, world: World, scene: Callable[[Daemon], Awaitable[None]], text: str = FLEET
) -> Logs:
    """Run a daemon, the scene beside it, then stop it. Yields what was logged."""

    async def whole() -> None:
        first = configuration(tmp_path, text)
        daemon = Daemon(
            first, world.effects(), partial(read, first.fleet.path, "lb1"), lambda: 1000.0
        )
        stopping = asyncio.Event()
        running = asyncio.create_task(daemon.run(stopping))
        await asyncio.sleep(COALESCE_S)
        if not running.done():
            await scene(daemon)
        stopping.set()
        await running

    with capture_logs() as logs:
        run(whole())
    return logs


async def settle() -> None:
    """Long enough for a pass that was asked for, too short for a tick."""
    await asyncio.sleep(SETTLE_S + 3 * COALESCE_S)


def events(logs: Logs, *names: str) -> Logs:
    return [entry for entry in logs if entry["event"] in names]


def test_announced_after_apply_once_a_member_is_up_and_withdrawn_before_detaching(
    tmp_path: Path,
) -> None:
    world = World()

    async def scene(_: Daemon) -> None:
        world.check_says(WEB1, up=True)
        await settle()

    play(tmp_path, world, scene)
    assert world.journal == [
        ("apply", BOTH_DOWN),
        ("apply", {WEB1: "up", WEB2: "down"}),
        ("announce", VIP),
        ("announce",),
        ("close",),
    ]
    assert world.times[-1] - world.times[-2] == pytest.approx(GRACE_S)


def test_nothing_announced_nothing_waited_for(tmp_path: Path) -> None:
    world = World()

    async def scene(_: Daemon) -> None:
        return

    play(tmp_path, world, scene)
    assert world.journal == [("apply", BOTH_DOWN), ("close",)]
    assert world.times[-1] == pytest.approx(COALESCE_S)


def test_the_last_member_down_is_withdrawn_before_the_tables_change(tmp_path: Path) -> None:
    world = World()

    async def scene(_: Daemon) -> None:
        world.check_says(WEB1, up=True)
        await settle()
        world.journal.clear()
        world.check_says(WEB1, up=False, reason="connection refused")
        await settle()
        assert world.journal == [("announce",), ("apply", BOTH_DOWN)]

    logs = play(tmp_path, world, scene)
    assert [(e["event"], e["backend"], e["reason"]) for e in logs if "backend" in e] == [
        ("member_down", "web1", "asked"),
        ("member_down", "web2", "asked"),
        ("member_up", "web1", ""),
        ("member_down", "web1", "connection refused"),
    ]
    assert [e["vip"] for e in events(logs, "announced", "withdrawn")] == [VIP, VIP]


def test_nothing_is_announced_before_the_first_round_of_checks(tmp_path: Path) -> None:
    world = World(verdict={})

    async def scene(_: Daemon) -> None:
        world.check_says(WEB1, up=True)
        await settle()
        assert world.plans[-1].announced
        assert world.routes == []
        world.check_says(WEB2, up=False)
        await settle()
        assert world.routes == [VIP]

    play(tmp_path, world, scene)


def test_a_member_that_never_gets_a_verdict_holds_nothing_up(tmp_path: Path) -> None:
    world = World(verdict={})

    async def scene(daemon: Daemon) -> None:
        world.check_says(WEB1, up=True)
        first_round_s = daemon.snapshot().configuration.first_round_s()
        assert first_round_s < TICK_S
        await asyncio.sleep(first_round_s + 3 * COALESCE_S)
        assert world.routes == [VIP]

    play(tmp_path, world, scene)


def test_what_is_announced_stays_so_while_new_members_are_asked(tmp_path: Path) -> None:
    world = World()

    async def scene(daemon: Daemon) -> None:
        world.check_says(WEB1, up=True)
        await settle()
        configuration(
            tmp_path,
            FLEET.replace("pools:", "  web3: {address: 10.0.2.13}\npools:").replace(
                "web2: {}", "web2: {}, web3: {}"
            ),
        )
        daemon.reload()
        await settle()
        assert daemon.snapshot().members["web", "web3"].state == "unknown"
        assert ("announce",) not in world.journal

    play(tmp_path, world, scene)


def test_a_burst_makes_one_pass(tmp_path: Path) -> None:
    world = World()

    async def scene(_: Daemon) -> None:
        before = len(world.plans)
        for _burst in range(100):
            world.check_says(WEB1, up=True)
            world.check_says(WEB2, up=True)
            await asyncio.sleep(COALESCE_S / 200)
        await settle()
        assert len(world.plans) == before + 1

    play(tmp_path, world, scene)


def test_a_flood_of_route_changes_makes_a_pass_now_and_then(tmp_path: Path) -> None:
    world = World()

    async def scene(_: Daemon) -> None:
        before = len(world.plans)
        for _change in range(1000):
            world.hops_changed()
            await asyncio.sleep(SETTLE_S / 100)
        assert 8 <= len(world.plans) - before <= 10

    play(tmp_path, world, scene)


def test_a_change_of_health_waits_for_no_next_hops(tmp_path: Path) -> None:
    world = World()

    async def scene(_: Daemon) -> None:
        asked = world.asked
        world.check_says(WEB1, up=True)
        await settle()
        assert world.routes == [VIP]
        assert world.asked == asked

    play(tmp_path, world, scene)


def test_a_flap_within_a_burst_counts_for_nothing(tmp_path: Path) -> None:
    world = World()

    async def scene(_: Daemon) -> None:
        world.check_says(WEB1, up=True)
        await settle()
        world.check_says(WEB1, up=False)
        world.check_says(WEB1, up=True)
        await settle()

    logs = play(tmp_path, world, scene)
    assert [e["backend"] for e in events(logs, "member_up")] == ["web1"]
    assert len(events(logs, "member_down")) == 2, "those of the start"
    assert [e for e in world.journal if e[0] == "announce"] == [("announce", VIP), ("announce",)]


def test_what_fails_stays_as_it_was_and_is_tried_again_by_the_next_event(tmp_path: Path) -> None:
    world = World()

    async def scene(daemon: Daemon) -> None:
        world.failures = [OSError(28, "No space left on device")]
        world.check_says(WEB1, up=True)
        await settle()
        assert world.journal[1:] == [("apply failed",)]
        assert world.routes == []
        assert "No space left" in daemon.snapshot().failure
        world.hops_changed()
        await settle()
        assert world.journal[2:] == [("apply", {WEB1: "up", WEB2: "down"}), ("announce", VIP)]
        assert daemon.snapshot().failure == ""

    logs = play(tmp_path, world, scene)
    (failure,) = events(logs, "apply_failed")
    assert "No space left" in failure["error"]


def test_what_fails_is_tried_again_by_the_tick(tmp_path: Path) -> None:
    world = World()

    async def scene(_: Daemon) -> None:
        world.failures = [OSError("once"), RuntimeError("twice")]
        world.check_says(WEB1, up=True)
        await asyncio.sleep(TICK_S + 3 * COALESCE_S)
        assert world.routes == []
        await asyncio.sleep(TICK_S)
        assert world.routes == [VIP]

    logs = play(tmp_path, world, scene)
    assert [e["cause"] for e in events(logs, "apply_failed")] == ["health", "tick"]


def test_a_route_that_others_removed_is_restored_by_the_tick(tmp_path: Path) -> None:
    world = World()

    async def scene(_: Daemon) -> None:
        world.check_says(WEB1, up=True)
        await settle()
        world.routes = []
        await asyncio.sleep(TICK_S + COALESCE_S)
        assert world.routes == [VIP]

    logs = play(tmp_path, world, scene)
    assert len(events(logs, "applied")) == 2, "a tick that changes nothing says nothing"


def test_a_failed_announcement_is_tried_again(tmp_path: Path) -> None:
    world = World()

    async def scene(_: Daemon) -> None:
        world.announcement_failures = [OSError("netlink")]
        world.check_says(WEB1, up=True)
        await settle()
        assert world.routes == []
        await asyncio.sleep(TICK_S)
        assert world.routes == [VIP]

    play(tmp_path, world, scene)


def test_the_first_pass_failing_ends_the_daemon_detached(tmp_path: Path) -> None:
    world = World(failures=[OSError(1, "Operation not permitted")])

    async def scene(_: Daemon) -> None:
        pytest.fail("it runs")

    with pytest.raises(StartError, match="Operation not permitted"):
        play(tmp_path, world, scene)
    assert world.journal == [("apply failed",), ("close",)]


def test_an_announcement_failing_at_the_start_ends_the_daemon_detached(tmp_path: Path) -> None:
    world = World(announcement_failures=[OSError("no table")])

    async def scene(_: Daemon) -> None:
        return

    with pytest.raises(StartError, match="no table"):
        play(tmp_path, world, scene, FLEET.replace("    check: {type: tcp, port: 80}\n", ""))
    assert world.journal == [("apply", BOTH_UP), ("close",)]


def test_a_withdrawal_failing_does_not_keep_it_attached(tmp_path: Path) -> None:
    world = World()

    async def scene(_: Daemon) -> None:
        world.check_says(WEB1, up=True)
        await settle()
        world.announcement_failures = [OSError("netlink")]

    logs = play(tmp_path, world, scene)
    assert world.journal[-1] == ("close",)
    assert events(logs, "withdrawal_failed")


def test_a_source_of_events_that_fails_is_started_again(tmp_path: Path) -> None:
    world = World(source_failures=[OSError("overrun"), OSError("overrun")])

    async def scene(_: Daemon) -> None:
        await asyncio.sleep(2 * RETRY_S)
        world.check_says(WEB1, up=True)
        await settle()
        assert world.routes == [VIP]

    logs = play(tmp_path, world, scene)
    assert [e["source"] for e in events(logs, "source_failed")] == ["checks", "checks"]


def test_next_hops_reach_the_plan(tmp_path: Path) -> None:
    world = World()
    hop = replace(HOP, ifindex=8)

    async def scene(_: Daemon) -> None:
        world.hops = {ip_address("10.0.2.11"): hop}
        world.hops_changed()
        await settle()
        assert {m.key: m.next_hop for m in world.plans[-1].members} == {WEB1: hop, WEB2: None}

    play(tmp_path, world, scene)


def test_reload_takes_the_new_file_and_keeps_verdicts(tmp_path: Path) -> None:
    world = World()

    async def scene(daemon: Daemon) -> None:
        world.check_says(WEB1, up=True)
        await settle()
        more = FLEET.replace("web2: {}", "web2: {drain: true}") + (
            "  dns: {vip: 192.0.2.53, protocol: udp, port: 53, pool: web}\n"
        )
        configuration(tmp_path, more)
        daemon.reload()
        await settle()
        snapshot = daemon.snapshot()
        assert (snapshot.generation, snapshot.applied) == (2, 2)
        assert world.routes == [VIP, "192.0.2.53"]
        assert snapshot.members[WEB1].state == "up"

    logs = play(tmp_path, world, scene)
    assert events(logs, "applied")[-1]["cause"] == "reload"
    # web2 drains, a service and its VIP are added.
    assert events(logs, "applied")[-1]["steps"] == 3


def test_the_checks_follow_the_configuration(tmp_path: Path) -> None:
    world = World()

    async def scene(daemon: Daemon) -> None:
        assert {key: str(address) for key, (_, address) in world.followed.items()} == {
            WEB1: "10.0.2.11",
            WEB2: "10.0.2.12",
        }
        configuration(tmp_path, FLEET.replace("web1: {}, ", "").replace("10.0.2.12", "10.0.2.22"))
        daemon.reload()
        await settle()
        ((key, (check, address)),) = world.followed.items()
        assert (key, check.port, str(address)) == (WEB2, 80, "10.0.2.22")

    play(tmp_path, world, scene)


def test_a_service_removed_by_reload_is_withdrawn_first(tmp_path: Path) -> None:
    world = World()
    dns = "  dns: {vip: 192.0.2.53, protocol: udp, port: 53, pool: web}\n"

    async def scene(daemon: Daemon) -> None:
        world.check_says(WEB1, up=True)
        await settle()
        configuration(tmp_path, FLEET)
        world.journal.clear()
        daemon.reload()
        await settle()
        assert [entry[0] for entry in world.journal] == ["announce", "apply"]
        assert world.routes == [VIP]

    play(tmp_path, world, scene, FLEET + dns)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pools: [", ["2:1: not YAML"]),
        (FLEET.replace("port: 80, pool: web", "port: 99999, pool: wbe"), ["99999", "wbe"]),
        (FLEET.replace("lb1", "lb2"), ["no 'lb1'", "lb2"]),
        (FLEET.replace("eth0", "eth1"), ["restart needed", "interfaces", "eth0", "eth1"]),
        (
            FLEET.replace("[10.0.1.1]", "[10.0.1.1], mode: generic")
            + "announcement: {table: 99}\n",
            ["mode from auto to generic", "announcement.table from 174 to 99"],
        ),
    ],
)
def test_a_bad_reload_is_refused_whole_and_said_in_full(
    tmp_path: Path, text: str, said: list[str]
) -> None:
    world = World()

    async def scene(daemon: Daemon) -> None:
        world.check_says(WEB1, up=True)
        await settle()
        held = world.plans[-1]
        (tmp_path / "fleet.yaml").write_text(text)
        daemon.reload()
        await settle()
        snapshot = daemon.snapshot()
        assert (snapshot.generation, snapshot.applied, snapshot.failure) == (1, 1, "")
        assert world.plans[-1].services == held.services
        assert world.routes == [VIP]

    logs = play(tmp_path, world, scene)
    (refusal,) = events(logs, "reload_refused")
    for words in said:
        assert any(words in line for line in refusal["errors"]), refusal["errors"]


def test_a_reload_that_cannot_be_applied_is_owed(tmp_path: Path) -> None:
    world = World()

    async def scene(daemon: Daemon) -> None:
        configuration(tmp_path, FLEET.replace("web2: {}", "web2: {weight: 2}"))
        world.failures = [OSError("once")]
        daemon.reload()
        await settle()
        assert (daemon.snapshot().generation, daemon.snapshot().applied) == (2, 1)
        await asyncio.sleep(TICK_S)
        assert (daemon.snapshot().generation, daemon.snapshot().applied) == (2, 2)

    play(tmp_path, world, scene)


def test_members_are_known_by_state_and_since_when(tmp_path: Path) -> None:
    world = World(verdict={})

    async def whole() -> None:
        first = configuration(tmp_path, FLEET.replace("web2: {}", "web2: {drain: true}"))
        loop = asyncio.get_running_loop()
        daemon = Daemon(first, world.effects(), lambda: first, loop.time)
        stopping = asyncio.Event()
        running = asyncio.create_task(daemon.run(stopping))
        await settle()
        assert {s.state for s in daemon.snapshot().members.values()} == {"unknown"}
        await asyncio.sleep(5)
        world.check_says(WEB1, up=False, reason="timeout")
        world.check_says(WEB2, up=True)
        await asyncio.sleep(20)
        members = daemon.snapshot().members
        assert (members[WEB1].state, members[WEB1].reason) == ("down", "timeout")
        assert (members[WEB2].state, members[WEB2].reason) == ("draining", "drain: true")
        assert members[WEB1].since == pytest.approx(5, abs=0.2)
        world.check_says(WEB1, up=False, reason="connection refused")
        await settle()
        members = daemon.snapshot().members
        assert members[WEB1].reason == "connection refused"
        assert members[WEB1].since == pytest.approx(5, abs=0.2)
        stopping.set()
        await running

    run(whole())


def test_a_cancelled_daemon_still_withdraws_and_detaches(tmp_path: Path) -> None:
    world = World()

    async def whole() -> None:
        first = configuration(tmp_path)
        daemon = Daemon(first, world.effects(), lambda: first)
        running = asyncio.create_task(daemon.run(asyncio.Event()))
        await settle()
        world.check_says(WEB1, up=True)
        await settle()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    run(whole())
    assert world.journal[-2:] == [("announce",), ("close",)]


@pytest.mark.parametrize("failure", [None, DataPlaneError("eth0: taken")])
def test_nothing_is_announced_while_no_packet_can_reach_the_forwarder(
    tmp_path: Path, failure: Exception | None
) -> None:
    world = World()

    async def whole() -> None:
        first = configuration(tmp_path)
        daemon = Daemon(first, world.effects(), lambda: first)
        stopping = asyncio.Event()
        running = asyncio.create_task(daemon.run(stopping))
        await settle()
        world.check_says(WEB1, up=True)
        world.check_says(WEB2, up=True)
        await settle()
        assert daemon.snapshot().announced
        world.mode, world.restore_failure = "none", failure
        daemon.want("next hops")
        await settle()
        assert daemon.snapshot().announced == ()
        assert daemon.snapshot().failure == (str(failure) if failure else "")
        world.mode, world.restore_failure = "native", None
        daemon.want("next hops")
        await settle()
        assert daemon.snapshot().announced
        stopping.set()
        await running

    run(whole())
