"""Steps from plan to plan: complete, and make before break."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.plan.fleets import KEYS, fleets, observations
from turnout import plan
from turnout.plan import (
    PlannedMember,
    PlannedService,
    PlannedTable,
    PlannedVip,
    Step,
    diff,
    to_json,
)

RANK = {PlannedMember: 0, PlannedTable: 1, PlannedService: 2, PlannedVip: 3}
LAST = 4


def rank_of(step: Step) -> int:
    """Its place among the steps that make, or among those that remove."""
    item = step.item
    if step.action == "change" and isinstance(item, PlannedMember) and not item.takes_flows:
        return LAST
    return RANK[type(item)]


def name(item: Any) -> Any:
    return item.key if isinstance(item, PlannedTable) else item.number


@given(st.data())
@settings(max_examples=50)
def test_steps_lead_from_one_to_the_other(data: st.DataObject) -> None:
    one, other = data.draw(fleets()), data.draw(fleets())
    old = plan.compile(one, "lb", data.draw(observations(one)), None, KEYS)
    new = plan.compile(other, "lb", data.draw(observations(other)), old, KEYS)
    state = {
        (type(item), name(item)): item
        for item in (*old.members, *old.tables, *old.services, *old.vips)
    }
    removing = False
    rank = 0
    for step in diff(old, new):
        key = type(step.item), name(step.item)
        if step.action == "remove":
            rank = rank if removing else LAST
            removing = True
            assert rank_of(step) <= rank
            assert state.pop(key) == step.item
        else:
            assert not removing
            assert rank_of(step) >= rank
            assert (key in state) == (step.action == "change")
            assert state.get(key) != step.item
            state[key] = step.item
        rank = rank_of(step)
        assert str(step).startswith(step.action)
    assert state == {
        (type(item), name(item)): item
        for item in (*new.members, *new.tables, *new.services, *new.vips)
    }


@given(st.data())
@settings(max_examples=30)
def test_nothing_to_do_is_no_step(data: st.DataObject) -> None:
    fleet = data.draw(fleets())
    observed = data.draw(observations(fleet))
    made = plan.compile(fleet, "lb", observed, None, KEYS)
    assert diff(made, plan.compile(fleet, "lb", observed, made, KEYS)) == ()


@given(st.data())
@settings(max_examples=30)
def test_json_accounts_for_all_slots_and_keeps_secrets(data: st.DataObject) -> None:
    fleet = data.draw(fleets())
    made = plan.compile(fleet, "lb", data.draw(observations(fleet)), None, KEYS)
    document = to_json(made)
    for table in document["tables"]:
        assert sum(member["slots"] for member in table["members"]) == table["size"]
    for key in KEYS.values():
        assert key.hex() not in repr(document)
        assert repr(key) not in repr(made)
