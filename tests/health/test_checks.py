"""The checks in virtual time."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_address
from itertools import cycle, pairwise

import pytest

from tests.daemon.virtual import run
from turnout.config import Address, Check
from turnout.health import Checks
from turnout.plan import MemberKey

CHECK = Check("tcp", 80, "", (200, 399), interval_s=2.0, timeout_s=1.0, rise=2, fall=3)
ONE, TWO = ip_address("10.0.0.1"), ip_address("10.0.0.2")
KEY: MemberKey = ("web", "web1")
EVEN = 0.5
"""Makes every interval exactly its length, and the first question half an interval late."""


class Asked:
    """A prober that notes when it was asked, and answers by a rule after a while."""

    def __init__(
        self,
        rule: Callable[[Check, Address], str | None] = lambda check, address: None,
        takes_s: float = 0.0,
    ) -> None:
        self.rule, self.takes_s = rule, takes_s
        self.times: dict[tuple[Check, Address], list[float]] = {}
        self.under_way = self.most_under_way = 0

    async def probe(self, check: Check, address: Address) -> str | None:
        self.times.setdefault((check, address), []).append(asyncio.get_running_loop().time())
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await asyncio.sleep(self.takes_s)
            return self.rule(check, address)
        finally:
            self.under_way -= 1


class Verdicts:
    """What was told, each time with the moment."""

    def __init__(self, checks: Checks) -> None:
        self.checks, self.told = checks, list[tuple[float, dict[str, bool]]]()

    def changed(self) -> None:
        up = {backend: state.up for (_, backend), state in self.checks.verdicts().items()}
        self.told.append((asyncio.get_running_loop().time(), up))


@asynccontextmanager
async def running(checks: Checks) -> AsyncIterator[Verdicts]:
    verdicts = Verdicts(checks)
    task = asyncio.create_task(checks.run(verdicts.changed))
    try:
        yield verdicts
    finally:
        task.cancel()
        await asyncio.wait([task])
        assert asyncio.all_tasks() == {asyncio.current_task()}, "checks outlive their owner"


def test_a_verdict_is_told_when_it_changes_and_not_before_there_is_one() -> None:
    answers = iter([None, None, "x", "x", None, "x", "x", "x", "x", None, None])
    prober = Asked(lambda check, address: next(answers))

    async def main() -> None:
        checks = Checks(prober, lambda: EVEN)
        checks.follow({KEY: (CHECK, ONE)})
        async with running(checks) as verdicts:
            await asyncio.sleep(2.9)
            assert checks.verdicts() == {}
            await asyncio.sleep(19.0)
            # Asked at 1, 3, 5, ...; up after 2 successes, down after 3 failures in a row.
            assert verdicts.told == [
                (3.0, {"web1": True}),
                (15.0, {"web1": False}),
                (21.0, {"web1": True}),
            ]
            assert prober.times == {(CHECK, ONE): [1.0 + 2 * n for n in range(11)]}

    run(main())


def test_why_and_how_often_can_be_seen() -> None:
    async def main() -> None:
        checks = Checks(Asked(lambda check, address: "connection refused"), lambda: EVEN)
        checks.follow({KEY: (CHECK, ONE)})
        async with running(checks):
            await asyncio.sleep(6)
            state = checks.verdicts()[KEY]
            assert (state.up, state.reason, state.streak) == (False, "connection refused", -3)

    run(main())


def test_a_slow_answer_delays_no_question() -> None:
    prober = Asked(lambda check, address: "no answer", takes_s=1.9)

    async def main() -> None:
        checks = Checks(prober, lambda: EVEN)
        checks.follow({KEY: (CHECK, ONE)})
        async with running(checks) as verdicts:
            await asyncio.sleep(8)
            assert prober.times[CHECK, ONE] == [1.0, 3.0, 5.0, 7.0]
            assert verdicts.told == [(5.0 + 1.9, {"web1": False})]

    run(main())


def test_members_that_share_a_question_share_the_answer() -> None:
    prober = Asked(lambda check, address: None if address == ONE else "refused")
    members = {("a", "one"): ONE, ("b", "one"): ONE, ("b", "two"): TWO}

    async def main() -> None:
        checks = Checks(prober, lambda: EVEN)
        checks.follow({key: (replace(CHECK), address) for key, address in members.items()})
        async with running(checks):
            await asyncio.sleep(10)
            assert Counter({q[1]: len(times) for q, times in prober.times.items()}) == {
                ONE: 5,
                TWO: 5,
            }
            assert {key: state.up for key, state in checks.verdicts().items()} == {
                key: address == ONE for key, address in members.items()
            }

    run(main())


def test_first_questions_are_spread_over_the_interval_and_later_ones_drift_apart() -> None:
    prober = Asked()
    spread = cycle([0.0, 0.99, 0.25, 0.75])
    addresses = [ip_address(f"10.0.0.{n}") for n in range(1, 5)]

    async def main() -> None:
        checks = Checks(prober, lambda: next(spread))
        checks.follow({("web", str(a)): (CHECK, a) for a in addresses})
        async with running(checks):
            await asyncio.sleep(20)
        firsts = sorted(times[0] for times in prober.times.values())
        assert firsts == pytest.approx([0.0, 0.5, 1.5, 1.98])
        gaps = {round(b - a, 6) for times in prober.times.values() for a, b in pairwise(times)}
        assert len(gaps) > 1
        assert all(1.9 <= gap <= 2.1 for gap in gaps)

    run(main())


def test_a_reload_keeps_what_is_asked_as_before_and_nothing_else() -> None:
    prober = Asked()
    other = replace(CHECK, port=81)

    async def main() -> None:
        checks = Checks(prober, lambda: EVEN)
        checks.follow({KEY: (CHECK, ONE), ("web", "two"): (CHECK, TWO)})
        async with running(checks) as verdicts:
            await asyncio.sleep(4)
            assert {key: state.up for key, state in checks.verdicts().items()} == {
                KEY: True,
                ("web", "two"): True,
            }
            # Renamed; asked by another check; new.
            checks.follow({("web", "first"): (CHECK, ONE), ("web", "two"): (other, TWO)})
            assert {key: state.up for key, state in checks.verdicts().items()} == {
                ("web", "first"): True
            }
            verdicts.told.clear()
            await asyncio.sleep(6)
            assert verdicts.told == [(7.0, {"first": True, "two": True})]
            assert prober.times[CHECK, ONE] == [1.0, 3.0, 5.0, 7.0, 9.0]
            assert prober.times[CHECK, TWO] == [1.0, 3.0]
            assert prober.times[other, TWO] == [5.0, 7.0, 9.0]
            checks.follow({})
            await asyncio.sleep(10)
            assert checks.verdicts() == {}
            assert sum(map(len, prober.times.values())) == 10

    run(main())


def test_no_more_than_so_many_at_once_and_all_in_their_turn() -> None:
    prober = Asked(takes_s=0.1)
    addresses = [ip_address(f"10.0.0.{n}") for n in range(1, 41)]

    async def main() -> None:
        checks = Checks(prober, lambda: EVEN, at_once=4)
        checks.follow({("web", str(a)): (CHECK, a) for a in addresses})
        async with running(checks):
            await asyncio.sleep(1 + 2 + 1.01)
            assert prober.most_under_way == 4
            assert {len(times) for times in prober.times.values()} == {2}
            assert len(checks.verdicts()) == len(addresses)

    run(main())


def test_a_fault_of_our_own_ends_the_run_and_costs_no_verdict() -> None:
    faults = iter([None, None, OSError(24, "Too many open files"), None, None])

    def rule(check: Check, address: Address) -> str | None:
        fault = next(faults)
        if fault:
            raise fault
        return None

    async def main() -> None:
        checks = Checks(Asked(rule), lambda: EVEN)
        checks.follow({KEY: (CHECK, ONE)})
        with pytest.raises(ExceptionGroup) as caught:
            await checks.run(lambda: None)
        assert [type(error) for error in caught.value.exceptions] == [OSError]
        assert checks.verdicts()[KEY].up
        async with running(checks):
            await asyncio.sleep(4)
            assert checks.verdicts()[KEY].streak == 4

    run(main())
