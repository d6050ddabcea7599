"""What the demo promises of each step, held against what the client saw."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from turnout.core import Flow
from turnout.lab.traffic import Conversation

MORTAL = "web2"
"""The backend that dies and returns."""
KILLED = "lb1"
"""The instance that is killed."""

ALL_UP = "all up"
DEATH = f"{MORTAL} dies"
OUT = f"{MORTAL} is out"
RETURN = f"{MORTAL} returns"
AGAIN = "all up again"
KILL = f"{KILLED} is killed"
GONE = f"{KILLED} is gone"
STEPS = (ALL_UP, DEATH, OUT, RETURN, AGAIN, KILL, GONE)


@dataclass(frozen=True, slots=True)
class Promise:
    step: str
    text: str
    kept: bool
    found: str


@dataclass(frozen=True, slots=True)
class Carried:
    """What an instance has sent to a backend, by the instance's own counters."""

    instance: str
    backend: str
    new_flows: int
    packets: int


@dataclass(frozen=True, slots=True)
class Homes:
    """Whose flows are, by the fleet file alone."""

    home: Mapping[Flow, str]
    """With every backend up."""
    stand_in: Mapping[Flow, str]
    """With MORTAL down."""


def judge(conversations: Sequence[Conversation], homes: Homes) -> list[Promise]:
    """Every promise about connections."""
    return [
        _settled(ALL_UP, conversations, homes.home),
        _death(conversations, homes),
        _settled(OUT, conversations, homes.stand_in),
        _return(conversations, homes),
        _settled(AGAIN, conversations, homes.home),
        _kill(conversations),
        _settled(GONE, conversations, homes.home),
    ]


def judge_shares(carried: Sequence[Carried], instances: int, answered: int) -> Promise:
    """That every instance takes part. `answered`: connections that had an answer before the
    counters in `carried` were read, each of which must be in them."""
    flows: dict[str, int] = {}
    for row in carried:
        flows[row.instance] = flows.get(row.instance, 0) + row.new_flows
    total = sum(flows.values())
    # Half of an even share: with hundreds of flows, ten standard deviations below it.
    fair = len(flows) == instances and min(flows.values()) >= total / instances / 2
    return Promise(
        ALL_UP,
        "instances share fairly; no connection is uncounted",
        fair and total >= answered,
        f"{', '.join(f'{n} by {name}' for name, n in flows.items())}; {answered} answered",
    )


def _settled(step: str, conversations: Sequence[Conversation], due: Mapping[Flow, str]) -> Promise:
    broken = [c for c in conversations if c.broken == step]
    begun = [c for c in conversations if c.began == step and c.answered[step]]
    strayed = [c for c in begun if c.backend != due[c.flow]]
    answers = sum(c.answered[step] for c in conversations)
    found = f"{answers} answers, {len(broken)} broken, {len(strayed)} astray"
    return Promise(
        step,
        "nothing breaks; the lookup table is obeyed",
        answers > 0 and len(begun) > 0 and not broken and not strayed,
        found + _reasons(broken),
    )


def _death(conversations: Sequence[Conversation], homes: Homes) -> Promise:
    broken = [c for c in conversations if c.broken == DEATH]
    others = [c for c in broken if homes.home[c.flow] != MORTAL]
    return Promise(
        DEATH,
        f"only connections of {MORTAL} break",
        len(broken) > 0 and not others,
        f"{len(broken) - len(others)} of its own, {len(others)} of others" + _reasons(others),
    )


def _return(conversations: Sequence[Conversation], homes: Homes) -> Promise:
    """Without tracking, the flows of a returning member go back to it at once, also those that
    were begun elsewhere meanwhile."""
    lent = [
        c
        for c in conversations
        if c.lasting
        and homes.home[c.flow] == MORTAL
        and c.backend not in ("", MORTAL)
        and c.broken not in (DEATH, OUT)
    ]
    kept = [c for c in lent if c.broken != RETURN]
    broken = [c for c in conversations if c.broken == RETURN]
    others = [c for c in broken if homes.home[c.flow] != MORTAL or c.backend == MORTAL]
    return Promise(
        RETURN,
        f"only connections that others held for {MORTAL} break, and all of those",
        len(lent) > 0 and not kept and not others,
        f"{len(broken) - len(others)} of these, {len(others)} others; {len(kept)} did not"
        + _reasons(others),
    )


def _kill(conversations: Sequence[Conversation]) -> Promise:
    """A conversation stays at one backend or counts as broken, so answers tell both."""
    broken = [c for c in conversations if c.broken in (KILL, GONE)]
    standing = [c for c in conversations if c.lasting and c.answered[AGAIN] and not c.broken]
    gone_on = [c for c in standing if c.answered[GONE]]
    return Promise(
        KILL,
        "connections move and keep their backend",
        len(standing) > 0 and len(gone_on) == len(standing) and not broken,
        f"{len(gone_on)} of {len(standing)} went on, {len(broken)} broken" + _reasons(broken),
    )


def _reasons(broken: Sequence[Conversation]) -> str:
    reasons = sorted({c.reason for c in broken})
    return f" ({'; '.join(reasons)})" if reasons else ""
