"""The reconcile loop: whatever happens, compute the plan, compare, apply the difference.

Start, reload, a change of health or of a next hop and a slow tick all take the one path
`Daemon._reconcile`. Events only say that something is to be done; what is to be done is always
computed from the whole of what is known. So a lost event costs one tick, a burst costs one
pass, and after a failure the next pass begins where the first one should have ended.

All of it runs in one task of one thread. An apply takes milliseconds, and nothing may read
counters or plan another table beside it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import NoReturn

import structlog

from turnout import __version__
from turnout.config import Address, ConfigError
from turnout.daemon.configuration import Configuration, RefusalError, check_reload
from turnout.daemon.effects import Effects
from turnout.daemon.snapshot import MemberStatus, Snapshot, member_status
from turnout.daemon.switches import Switches
from turnout.plan import Counters, MemberKey, NextHop, Observed, Plan, compile, diff
from turnout.xdp import DataPlaneError

COALESCE_S = 0.01
"""Wait after the first event of a burst, so that a burst makes one plan."""
SETTLE_S = 0.1
"""Wait after the first of several changes of routes and neighbours: they come in floods, and to ask
for all next hops takes about a millisecond each."""
TICK_S = 10.0
"""A pass without an event: retries what failed, restores what others removed."""
RETRY_S = 1.0
"""Pause before a source of events that failed is started again."""
GRACE_S = 1.0
"""Between withdrawal and detaching: routers turn away while the flows still on their way are
forwarded."""

START, RELOAD, HEALTH, NEXT_HOPS, TICK = "start", "reload", "health", "next hops", "tick"


class StartError(Exception):
    """The first pass failed."""


class Daemon:
    """One instance, kept as its configuration says."""

    def __init__(
        self,
        configuration: Configuration,
        effects: Effects,
        read: Callable[[], Configuration],
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """`read` reads the configuration again; it raises ConfigError or RefusalError."""
        self._effects = effects
        self._read = read
        self._wall_clock = wall_clock
        self._log = structlog.get_logger()
        self._generation = 1
        self._applied = 0
        self._failure = ""
        self._plan: Plan | None = None
        self._announced: tuple[Address, ...] = ()
        self._hops: Mapping[Address, NextHop] = {}
        self._members: dict[MemberKey, MemberStatus] = {}
        self._started = wall_clock()
        self._settling: asyncio.TimerHandle | None = None
        self._wanted = asyncio.Event()
        self._causes: dict[str, None] = {}
        self._switches = Switches(effects.bridge)
        self._take(configuration)

    def want(self, cause: str) -> None:
        """Ask for a pass soon. Passes asked for meanwhile become one."""
        self._causes[cause] = None
        self._wanted.set()

    def reload(self) -> None:
        """Ask for the configuration to be read again."""
        self.want(RELOAD)

    async def run(self, stopping: asyncio.Event) -> None:
        """Make the instance as configured and keep it so until `stopping` is set; then withdraw,
        let routers turn away, and detach.

        Raises StartError where the first pass fails; nothing is announced or attached then.
        """
        try:
            await self._reconcile((START,))
        except Exception as error:
            await self._stop()
            raise StartError(described(error)) from error
        self._log.info("started", instance=self._configuration.instance.name, version=__version__)
        keeping = asyncio.create_task(self._keep())
        try:
            await stopping.wait()
        finally:
            keeping.cancel()
            await asyncio.wait([keeping])
            await self._stop()

    async def _reconcile(self, causes: Collection[str]) -> None:
        """Compute the plan, hold it, announce what it serves.

        Raises whatever an effect raises; what was in force before then still is, except that
        a VIP which shall no longer be served may be withdrawn.
        """
        configuration = self._configuration
        self._see_members()
        # A change of health is in force at once: it does not wait for all next hops.
        if causes != {HEALTH}:
            addresses = dict.fromkeys(configuration.addresses().values())
            self._hops = await self._effects.neighbours.next_hops(addresses)
        plan = self._compile(configuration, Observed(self._up(configuration), self._hops))
        unattached = self._restore()
        # Withdrawn before the data plane stops serving, announced once it serves.
        announced = () if unattached else self._ready(plan)
        served = set(announced)
        if not served.issuperset(self._announced):
            await self._announce(tuple(vip for vip in self._announced if vip in served))
        steps = diff(self._plan, plan)
        self._effects.data_plane.apply(plan)
        if steps or self._applied != self._generation:
            self._log.info(
                "applied", cause=", ".join(causes), generation=self._generation, steps=len(steps)
            )
        self._plan, self._applied = plan, self._generation
        await self._announce(announced)
        if isinstance(unattached, DataPlaneError):
            raise unattached

    def _restore(self) -> DataPlaneError | bool:
        """Whether no packet can reach the data plane, or why an interface is without it."""
        try:
            self._effects.data_plane.restore()
        except DataPlaneError as error:
            return error
        return set(self._effects.data_plane.modes().values()) == {"none"}

    def _ready(self, plan: Plan) -> tuple[Address, ...]:
        """VIPs to announce: those that are served, not before the first round of checks is over.

        Flows that came while but some members are known would go to other members than the ones
        that all instances choose, and move once those are known.
        """
        over = asyncio.get_running_loop().time() >= self._first_round_over
        unknown = set() if over else self._unknown()
        fleet = self._configuration.fleet
        waiting = {
            service.vip
            for service in fleet.services.values()
            if any((m.pool, m.backend) in unknown for m in fleet.pools[service.pool].members)
        }
        return tuple(v for v in plan.announced if v in self._announced or v not in waiting)

    def _unknown(self) -> set[MemberKey]:
        return {key for key, status in self._members.items() if status.state == "unknown"}

    def _first_round_ends(self) -> None:
        if self._unknown():
            self.want(HEALTH)

    def snapshot(self) -> Snapshot:
        """What is known and in force now."""
        return Snapshot(
            configuration=self._configuration,
            generation=self._generation,
            applied=self._applied,
            failure=self._failure,
            plan=self._plan,
            announced=self._announced,
            members=dict(self._members),
            modes=dict(self._effects.data_plane.modes()),
            started=self._started,
            now=self._wall_clock(),
        )

    def counters(self) -> Counters:
        """What the data plane has counted since the start: nothing survives the daemon yet."""
        return self._effects.data_plane.counters()

    async def _keep(self) -> None:
        effects = self._effects
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(
                self._follow("checks", lambda: effects.health.run(lambda: self.want(HEALTH)))
            )
            tasks.create_task(
                self._follow("neighbours", lambda: effects.neighbours.watch(self._hops_changed))
            )
            tasks.create_task(
                self._follow("switches", lambda: self._switches.run(lambda: self._configuration))
            )
            tasks.create_task(self._passes())

    def _hops_changed(self) -> None:
        if self._settling is None:
            self._settling = asyncio.get_running_loop().call_later(SETTLE_S, self._hops_settled)

    def _hops_settled(self) -> None:
        self._settling = None
        self.want(NEXT_HOPS)

    async def _stop(self) -> None:
        serving = self._announced or (self._plan is not None and self._plan.announced)
        try:
            # Also when nothing is known to be announced: an announcement may have been cut short.
            await self._announce(())
        except Exception as error:
            self._log.error("withdrawal_failed", error=described(error))
        if serving:
            await asyncio.sleep(GRACE_S)
        self._effects.data_plane.close()
        self._log.info("stopped", generation=self._generation)

    async def _passes(self) -> NoReturn:
        while True:
            try:
                async with asyncio.timeout(TICK_S):
                    await self._wanted.wait()
                await asyncio.sleep(COALESCE_S)
            except TimeoutError:
                self.want(TICK)
            causes, self._causes = self._causes.keys(), {}
            self._wanted.clear()
            try:
                if RELOAD in causes:
                    self._reload()
                await self._reconcile(causes)
                self._failure = ""
            except Exception as error:
                self._failure = described(error)
                self._log.error(
                    "apply_failed",
                    cause=", ".join(causes),
                    error=self._failure,
                    generation=self._generation,
                    in_force=self._applied,
                    exc_info=not isinstance(error, OSError | DataPlaneError),
                )

    def _reload(self) -> None:
        before = self._configuration
        try:
            after = self._read()
            check_reload(before, after)
            # A plan that cannot be made is a fault of the file, found before it is taken.
            self._compile(after, Observed())
        except ConfigError as error:
            self._refuse(str(error).splitlines())
        except (RefusalError, OSError, ValueError) as error:
            self._refuse([str(error)])
        else:
            self._generation += 1
            self._take(after)

    def _take(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._switches.want()
        self._effects.health.follow(configuration.checked())
        loop, patience_s = asyncio.get_running_loop(), configuration.first_round_s()
        self._first_round_over = loop.time() + patience_s
        loop.call_later(patience_s, self._first_round_ends)
        fleet = configuration.fleet
        for warning in fleet.warnings:
            self._log.warning("configuration_warning", warning=warning.at(fleet.path))

    def _refuse(self, errors: list[str]) -> None:
        self._log.error("reload_refused", errors=errors, generation=self._generation)

    def _compile(self, configuration: Configuration, observed: Observed) -> Plan:
        return compile(
            configuration.fleet,
            configuration.instance.name,
            observed,
            self._plan,
            configuration.hash_keys,
        )

    def _up(self, configuration: Configuration) -> dict[MemberKey, bool]:
        verdicts = self._effects.health.verdicts()
        up = {key: True for key, member in configuration.members().items() if member.check is None}
        return up | {key: verdict.up for key, verdict in verdicts.items()}

    def _see_members(self) -> None:
        """Take up what the checks say now, and tell what has changed."""
        verdicts = self._effects.health.verdicts()
        seen: dict[MemberKey, MemberStatus] = {}
        for key, member in self._configuration.members().items():
            status = member_status(member, verdicts.get(key), self._wall_clock())
            before = self._members.get(key)
            if before is not None and before.state == status.state:
                status = status.since_then(before.since)
            elif before is not None or status.state != "unknown":
                self._log.info(
                    f"member_{status.state}", pool=key[0], backend=key[1], reason=status.reason
                )
            seen[key] = status
        self._members = seen

    async def _announce(self, vips: tuple[Address, ...]) -> None:
        before = self._announced
        await self._effects.announcer.announce(vips)
        self._announced = vips
        for vip in vips:
            if vip not in before:
                self._log.info("announced", vip=str(vip))
        for vip in before:
            if vip not in vips:
                self._log.info("withdrawn", vip=str(vip))

    async def _follow(self, name: str, source: Callable[[], Awaitable[None]]) -> NoReturn:
        """A source of events that fails is started again: until then the tick sees changes."""
        while True:
            try:
                await source()
            except Exception as error:
                self._log.error("source_failed", source=name, error=described(error))
            await asyncio.sleep(RETRY_S)


def described(error: BaseException) -> str:
    """The error in one line, with its type where that says more than its words."""
    words = " ".join(str(error).split())
    if isinstance(error, OSError | DataPlaneError) and words:
        return words
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
