"""The demo's judge, on made-up conversations: each promise can be broken."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from ipaddress import IPv4Address

import pytest

from turnout.core import TCP, Flow
from turnout.lab.promises import (
    AGAIN,
    ALL_UP,
    DEATH,
    GONE,
    KILL,
    MORTAL,
    OUT,
    RETURN,
    STEPS,
    Carried,
    Homes,
    judge,
    judge_shares,
)
from turnout.lab.traffic import Conversation

BACKENDS = ("web1", MORTAL, "web3")


def flow(port: int) -> Flow:
    return Flow(IPv4Address("10.0.0.1"), IPv4Address("192.0.2.10"), port, 80, TCP)


HOMES = Homes(
    home={flow(port): BACKENDS[port % 3] for port in range(100)},
    stand_in={flow(port): BACKENDS[port % 3].replace(MORTAL, "web1") for port in range(100)},
)
"""Ports that are 1 modulo 3 are MORTAL's, and web1 holds them for it."""


def talk(
    port: int, began: str, steps: Sequence[str], broken: str = "", backend: str = ""
) -> Conversation:
    answered = Counter(dict.fromkeys(steps, 3))
    name = backend or HOMES.home[flow(port)]
    return Conversation(flow(port), True, began, name, answered, broken, "reset")


def as_promised() -> list[Conversation]:
    return [
        talk(0, ALL_UP, STEPS),
        talk(1, ALL_UP, [ALL_UP], broken=DEATH),
        talk(2, ALL_UP, STEPS),
        talk(3, OUT, [OUT, RETURN, AGAIN, KILL, GONE]),
        talk(4, OUT, [OUT, RETURN], broken=RETURN, backend="web1"),
        talk(7, AGAIN, [AGAIN, KILL, GONE]),
        talk(10, GONE, [GONE]),
    ]


def broken_steps(conversations: Sequence[Conversation]) -> list[str]:
    return [promise.step for promise in judge(conversations, HOMES) if not promise.kept]


def test_what_is_promised_is_found_kept() -> None:
    assert broken_steps(as_promised()) == []


@pytest.mark.parametrize("step", [ALL_UP, OUT, AGAIN])
def test_nothing_may_break_while_nothing_happens(step: str) -> None:
    conversations = [*as_promised(), talk(6, step, [step], broken=step)]
    assert broken_steps(conversations) == [step]


@pytest.mark.parametrize(
    ("step", "backend"), [(ALL_UP, "web3"), (OUT, MORTAL), (AGAIN, "web1"), (GONE, "web3")]
)
def test_a_new_connection_at_another_backend_breaks_the_promise(step: str, backend: str) -> None:
    conversations = [*as_promised(), talk(13, step, [step], backend=backend)]
    assert step in broken_steps(conversations)


def test_a_death_may_not_break_a_connection_of_a_living_backend() -> None:
    conversations = [*as_promised(), talk(6, ALL_UP, [ALL_UP], broken=DEATH)]
    assert broken_steps(conversations) == [DEATH]


def test_a_return_may_not_break_what_was_not_held() -> None:
    conversations = [*as_promised(), talk(6, ALL_UP, [ALL_UP], broken=RETURN)]
    assert broken_steps(conversations) == [RETURN]
    returned = [*as_promised(), talk(13, RETURN, [RETURN], broken=RETURN)]
    assert broken_steps(returned) == [RETURN]


def test_what_was_held_and_did_not_break_is_told() -> None:
    """No tracking yet: once there is, this promise is a better one."""
    conversations = [*as_promised(), talk(13, OUT, [OUT, RETURN, AGAIN], backend="web1")]
    assert RETURN in broken_steps(conversations)


@pytest.mark.parametrize("step", [KILL, GONE])
def test_an_instance_may_not_take_a_connection_with_it(step: str) -> None:
    conversations = [*as_promised(), talk(6, ALL_UP, [ALL_UP, AGAIN], broken=step)]
    assert KILL in broken_steps(conversations)


def test_a_connection_that_falls_silent_breaks_the_promise() -> None:
    conversations = [*as_promised(), talk(6, ALL_UP, [ALL_UP, AGAIN])]
    assert broken_steps(conversations) == [KILL]


@pytest.mark.parametrize("step", [ALL_UP, DEATH, OUT, RETURN, AGAIN, GONE])
def test_a_step_in_which_nothing_happened_keeps_no_promise(step: str) -> None:
    def without(conversation: Conversation) -> Conversation:
        answered = Counter({s: n for s, n in conversation.answered.items() if s != step})
        left = conversation.broken if conversation.broken != step else ""
        return replace(conversation, answered=answered, broken=left)

    assert broken_steps([without(c) for c in as_promised()]) != []


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        (lambda rows: rows, True),
        (lambda rows: rows[:2], False),
        (lambda rows: [replace(rows[0], new_flows=2), *rows[1:]], False),
        (lambda rows: [replace(row, new_flows=row.new_flows // 2) for row in rows], False),
    ],
    ids=["as it should be", "an instance carried nothing", "unfair", "connections uncounted"],
)
def test_shares_of_the_instances(
    change: Callable[[list[Carried]], list[Carried]], kept: bool
) -> None:
    rows = [
        Carried("lb1", "web1", 60, 600),
        Carried("lb1", MORTAL, 0, 0),
        Carried("lb2", "web1", 20, 200),
        Carried("lb2", MORTAL, 20, 200),
    ]
    assert judge_shares(change(rows), 2, 100).kept is kept
