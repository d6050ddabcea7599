"""The demo's story: a backend dies and returns, an instance is killed."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from turnout.core import Flow
from turnout.lab.machines import LabError
from turnout.lab.oracle import Oracle
from turnout.lab.programs import Lab
from turnout.lab.promises import (
    AGAIN,
    ALL_UP,
    DEATH,
    GONE,
    KILL,
    KILLED,
    MORTAL,
    OUT,
    RETURN,
    STEPS,
    Carried,
    Homes,
    Promise,
    judge,
    judge_shares,
)
from turnout.lab.topology import PORT, VIP4, VIP6
from turnout.lab.traffic import Conversation, Load, Tally

LASTING = 200
SETTLED_S = 4.0
"""How long traffic is watched while nothing changes."""
PATIENCE_S = 30.0
"""For each change to be noticed."""


@dataclass(frozen=True, slots=True)
class Step:
    """Requests by the step in which they were sent, connections by that in which they broke."""

    step: str
    sent: int
    answered: int
    slowest_ms: int
    answers: dict[str, int]
    """By backend."""
    broken: dict[str, int]
    """By the backend whose flows they are when all are up."""


@dataclass(frozen=True, slots=True)
class Outcome:
    steps: tuple[Step, ...]
    carried: tuple[Carried, ...]
    promises: tuple[Promise, ...]
    rerouted_ms: int
    """From the instance's death to the router's routes without it."""

    @property
    def kept(self) -> bool:
        return all(promise.kept for promise in self.promises)


class Story:
    """Told once, in a laboratory in which everything is up."""

    def __init__(self, lab: Lab, say: Callable[[str], None]) -> None:
        """`say` is told what happens while it does."""
        self.lab = lab
        self.say = say
        self.load = Load(lab, "client1", (VIP4, VIP6), PORT)
        self.instances = [host.name for host in lab.topology.instance_hosts()]
        self._oracle = Oracle(lab.fleet)
        self._home: dict[Flow, str] = {}

    async def tell(self) -> Outcome:
        """Raises LabError where something does not come to be in time."""
        self.load.step = ALL_UP
        asking = asyncio.create_task(self.load.run(LASTING))
        try:
            self.say(f"{LASTING} lasting connections and new ones, over IPv4 and IPv6")
            await asyncio.sleep(SETTLED_S)
            await self._backend_dies()
            await self._backend_returns()
            answered = sum(bool(c.backend) for c in self.load.conversations)
            before = [row for name in self.instances for row in await self._carried(name)]
            rerouted_ms = await self._instance_is_killed()
            after = [row for name in self.instances[1:] for row in await self._carried(name)]
        finally:
            self.load.stop()
            await asyncio.wait([asking])
        asking.result()
        homes = self._homes()
        return Outcome(
            steps=tuple(self._step(step, homes) for step in STEPS),
            carried=(*(row for row in before if row.instance == KILLED), *after),
            promises=(
                judge_shares(before, len(self.instances), answered),
                *judge(self.load.conversations, homes),
            ),
            rerouted_ms=rerouted_ms,
        )

    async def _backend_dies(self) -> None:
        doomed = [c for c in self.load.conversations if c.open and self._home_of(c.flow) == MORTAL]
        self.load.step = DEATH
        self.say(f"{MORTAL} dies: its programs are killed, its link goes down")
        self.lab.unplug(MORTAL)
        self.lab.kill(MORTAL)
        await self._until(lambda: self._down({MORTAL}), f"{MORTAL} out of service")
        self.say(f"{MORTAL} is out of service: others hold its flows")
        await self._until(lambda: not any(c.open for c in doomed), "end of its connections")
        self.load.step = OUT
        await asyncio.sleep(SETTLED_S)

    async def _backend_returns(self) -> None:
        self.load.step = RETURN
        self.say(f"{MORTAL} returns")
        self.lab.plug(MORTAL)
        await asyncio.to_thread(self.lab.start_backends, [MORTAL])
        await self._until(lambda: self._down(set()), f"{MORTAL} in service")
        self.say(f"{MORTAL} is in service: its flows go back to it")
        await self._until(lambda: not any(map(self._held, self.load.lasting())), "return of flows")
        self.load.step = AGAIN
        await asyncio.sleep(SETTLED_S)

    async def _instance_is_killed(self) -> int:
        self.load.step = KILL
        self.say(f"{KILLED} is killed: its link goes down, Turnout and BIRD get SIGKILL")
        began = time.monotonic()
        self.lab.unplug(KILLED)
        self.lab.kill(KILLED)
        left = len(self.instances) - 1
        await self._until(lambda: self.lab.announcing() == left, f"routes without {KILLED}")
        rerouted_ms = round((time.monotonic() - began) * 1000)
        self.say(f"the router goes round it after {rerouted_ms} ms")
        self.load.step = GONE
        await asyncio.sleep(SETTLED_S)
        return rerouted_ms

    async def _until(self, ready: Callable[[], bool], what: str) -> None:
        until = time.monotonic() + PATIENCE_S
        while not await asyncio.to_thread(ready):
            if time.monotonic() > until:
                raise LabError(f"{what}: not within {PATIENCE_S:g} s")
            await asyncio.sleep(0.02)

    def _down(self, names: set[str]) -> bool:
        return all(self.lab.down(instance) == names for instance in self.instances)

    def _held(self, conversation: Conversation) -> bool:
        """Whether another backend holds it for MORTAL."""
        mine = self._home_of(conversation.flow) == MORTAL
        return mine and conversation.backend not in ("", MORTAL)

    def _home_of(self, flow: Flow) -> str:
        if flow not in self._home:
            self._home[flow] = self._oracle.backend(flow)
        return self._home[flow]

    def _homes(self) -> Homes:
        flows = {c.flow for c in self.load.conversations}
        return Homes(
            home={flow: self._home_of(flow) for flow in flows},
            stand_in={flow: self._oracle.backend(flow, {MORTAL}) for flow in flows},
        )

    async def _carried(self, instance: str) -> list[Carried]:
        document = await asyncio.to_thread(self.lab.document, instance, "backends")
        return [
            Carried(instance, row["backend"], row["new_flows"], row["packets"])
            for row in document["backends"]
        ]

    def _step(self, step: str, homes: Homes) -> Step:
        tally = self.load.tallies.get(step, Tally())
        broken = Counter(homes.home[c.flow] for c in self.load.conversations if c.broken == step)
        return Step(
            step=step,
            sent=tally.sent,
            answered=tally.answered,
            slowest_ms=round(tally.slowest_s * 1000),
            answers=dict(sorted(tally.answers.items())),
            broken=dict(sorted(broken.items())),
        )
