from hypothesis import given
from hypothesis import strategies as st

from turnout.health import State, advance

RESULTS = st.lists(st.booleans(), max_size=60)
COUNTS = st.integers(1, 5)


def states(results: list[bool], rise: int, fall: int) -> list[State]:
    """After each result."""
    seen = [State()]
    for good in results:
        seen.append(advance(seen[-1], None if good else "refused", rise, fall))
    return seen[1:]


def oracle(results: list[bool], rise: int, fall: int) -> bool | None:
    """The verdict after all results, by looking back for the last run that was long enough."""
    for end in range(len(results), 0, -1):
        for good, length in ((True, rise), (False, fall)):
            if end >= length and set(results[end - length : end]) == {good}:
                return good
    return None


@given(RESULTS, COUNTS, COUNTS)
def test_the_verdict_is_the_last_run_that_was_long_enough(
    results: list[bool], rise: int, fall: int
) -> None:
    for n, state in enumerate(states(results, rise, fall), 1):
        assert (state.up if state.known else None) == oracle(results[:n], rise, fall)


@given(RESULTS, COUNTS, COUNTS)
def test_a_member_is_not_up_before_it_is_known(results: list[bool], rise: int, fall: int) -> None:
    assert all(state.known or not state.up for state in states(results, rise, fall))


@given(RESULTS.filter(bool), COUNTS, COUNTS)
def test_streak_and_reason_are_of_the_last_results(
    results: list[bool], rise: int, fall: int
) -> None:
    last = states(results, rise, fall)[-1]
    alike = next(
        (n for n, good in enumerate(reversed(results)) if good != results[-1]), len(results)
    )
    assert last.streak == (alike if results[-1] else -alike)
    assert last.reason == ("" if results[-1] else "refused")


def test_misses_spread_over_days_never_add_up() -> None:
    daily = ([True] * 1000 + [False, False]) * 30
    assert all(state.up for state in states(daily, 2, 3)[1:])
