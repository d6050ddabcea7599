"""Checks of all members, each in its time."""

import asyncio
import random
from collections.abc import Callable, Mapping
from typing import Protocol

from turnout.config import Address, Check
from turnout.health.probes import Probes
from turnout.health.verdict import State, advance
from turnout.plan import MemberKey

Question = tuple[Check, Address]
"""What is asked of whom. Members that share it are asked once."""


class _Prober(Protocol):
    async def probe(self, check: Check, address: Address) -> str | None: ...


class Checks:
    """Asks every question of the members it follows at its interval, and keeps the verdicts."""

    def __init__(
        self,
        prober: _Prober | None = None,
        spread: Callable[[], float] = random.random,
        at_once: int = 200,
    ) -> None:
        """`prober` asks, by default over the network; `spread` gives numbers of 0..1; `at_once`
        bounds the number of probes under way."""
        self._prober = prober or Probes()
        self._spread = spread
        self._room = asyncio.Semaphore(at_once)
        self._members: dict[MemberKey, Question] = {}
        self._states: dict[Question, State] = {}
        self._news = asyncio.Event()

    def follow(self, members: Mapping[MemberKey, Question]) -> None:
        """Check exactly these from now on. A question that was asked before keeps its state."""
        self._members = dict(members)
        asked = set(members.values())
        self._states = {q: self._states.get(q, State()) for q in asked}
        self._news.set()

    def verdicts(self) -> Mapping[MemberKey, State]:
        """Of the members for which there is one yet."""
        return {
            key: state
            for key, question in self._members.items()
            if (state := self._states[question]).known
        }

    async def run(self, changed: Callable[[], None]) -> None:
        """Check, calling `changed` after a verdict has changed, until cancelled."""
        tasks: dict[Question, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            while True:
                self._news.clear()
                for question in tasks.keys() - self._states.keys():
                    tasks.pop(question).cancel()
                for question in self._states.keys() - tasks.keys():
                    tasks[question] = group.create_task(self._ask_again(question, changed))
                await self._news.wait()

    async def _ask_again(self, question: Question, changed: Callable[[], None]) -> None:
        check, address = question
        # Spread over the interval, so that many members are not asked at one instant.
        await asyncio.sleep(self._spread() * check.interval_s)
        clock = asyncio.get_running_loop().time
        while True:
            # From one question to the next, so that a member that lets us wait is not asked less.
            due = clock() + check.interval_s * (0.95 + 0.1 * self._spread())
            async with self._room:
                failure = await self._prober.probe(check, address)
            before = self._states.get(question)
            if before is None:
                return
            state = advance(before, failure, check.rise, check.fall)
            self._states[question] = state
            if (state.known, state.up) != (before.known, before.up):
                changed()
            await asyncio.sleep(due - clock())
