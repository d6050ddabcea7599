"""From results to a verdict: consecutive means consecutive."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class State:
    """What the checks of one member have said so far.

    It comes up after `rise` successes in a row and goes down after `fall` failures in a row. A
    result of the other kind begins the count anew, so misses spread over days never add up.
    """

    up: bool = False
    known: bool = False
    """Whether there have been enough results for a verdict."""
    streak: int = 0
    """Successes in a row, or failures in a row as a negative number."""
    reason: str = ""
    """Of the last result: why it failed, empty for a success."""


def advance(state: State, failure: str | None, rise: int, fall: int) -> State:
    """The state after one more result; `failure` is None for a success."""
    streak = max(state.streak, 0) + 1 if failure is None else min(state.streak, 0) - 1
    decided = streak >= rise or -streak >= fall
    return State(
        up=streak > 0 if decided else state.up,
        known=state.known or decided,
        streak=streak,
        reason=failure or "",
    )
