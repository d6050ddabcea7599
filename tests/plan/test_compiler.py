"""The plan as a function of configuration and observation."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.plan.fleets import CHECK, KEYS, address, fleet_of, fleets, observations
from turnout import maglev, plan
from turnout.config import Backend, Fleet, Member, Pool
from turnout.plan import Observed, Plan
from turnout.plan.compiler import _numbers


def compiled(fleet: Fleet, observed: Observed, previous: Plan | None = None) -> Plan:
    return plan.compile(fleet, "lb", observed, previous, KEYS)


def content(made: Plan) -> object:
    """Everything but numbers, which depend on what was before."""
    members = {m.number: m.key for m in made.members}
    return (
        {(m.key, m.address, m.source, m.state, m.next_hop) for m in made.members},
        {
            (t.key, t.weights, tuple(members[n] for n in t.members), t.indices.tobytes())
            for t in made.tables
        },
        {replace(s, number=0) for s in made.services},
        {replace(v, number=0) for v in made.vips},
        set(made.announced),
    )


@given(st.data())
@settings(max_examples=60)
def test_a_reload_is_a_fresh_start_but_for_numbers(data: st.DataObject) -> None:
    """A differential test over pairs of files: nothing but numbers comes from what was before."""
    old, new = data.draw(fleets()), data.draw(fleets())
    previous = compiled(old, data.draw(observations(old)))
    observed = data.draw(observations(new))
    assert content(compiled(new, observed, previous)) == content(compiled(new, observed))


@given(st.data())
@settings(max_examples=60)
def test_numbers_stay_with_their_owners_and_are_one_each(data: st.DataObject) -> None:
    old, new = data.draw(fleets()), data.draw(fleets())
    before = compiled(old, data.draw(observations(old)))
    after = compiled(new, data.draw(observations(new)), before)
    for kind in ("members", "services"):
        numbers = [item.number for item in getattr(after, kind)]
        assert len(set(numbers)) == len(numbers)
        assert all(number > 0 for number in numbers)
    taken = [s.number for s in after.services] + [v.number for v in after.vips]
    assert len(set(taken)) == len(taken)
    owner = {(m.key, m.address): m.number for m in before.members}
    for member in after.members:
        known = owner.get((member.key, member.address))
        assert member.number == known if known else member.number not in owner.values()


@given(st.data())
@settings(max_examples=60)
def test_a_vip_is_announced_where_some_service_of_it_can_be_served(data: st.DataObject) -> None:
    fleet = data.draw(fleets())
    observed = data.draw(observations(fleet))
    made = compiled(fleet, observed)
    usable = {m.number for m in made.members if m.state == "up" and m.next_hop}
    tables = {t.key: t for t in made.tables}
    for vip in {s.vip for s in fleet.services.values()}:
        served = any(usable & set(tables[s.table].members) for s in made.services if s.vip == vip)
        assert (vip in made.announced) == served


@given(st.data())
@settings(max_examples=60)
def test_states_follow_drain_health_and_floor(data: st.DataObject) -> None:
    fleet = data.draw(fleets())
    observed = data.draw(observations(fleet))
    for member in compiled(fleet, observed).members:
        owner = fleet.pools[member.key[0]]
        own = [m for m in owner.members if m.pool == owner.name]
        healthy = {m.backend: m.check is None or observed.up.get((m.pool, m.backend)) for m in own}
        below_floor = sum(map(bool, healthy.values())) / len(own) < owner.min_up
        drained = next(m.drain for m in own if m.backend == member.key[1])
        if drained:
            assert member.state == "draining"
        else:
            assert (member.state == "up") == bool(healthy[member.key[1]] or below_floor)


@given(st.data())
@settings(max_examples=25)
def test_health_is_not_membership(data: st.DataObject) -> None:
    """Whatever is up or down, the tables are the same arrays."""
    fleet = data.draw(fleets())
    one = compiled(fleet, data.draw(observations(fleet)))
    other = compiled(fleet, data.draw(observations(fleet)), one)
    for before, after in zip(one.tables, other.tables, strict=True):
        assert before.indices is after.indices
        expected = maglev.build(after.names, after.weights, after.size)
        assert np.array_equal(after.indices, expected)


@given(st.data())
@settings(max_examples=25)
def test_the_files_order_of_members_changes_no_choice(data: st.DataObject) -> None:
    """Neither the slots nor the walk after the second tries."""
    fleet = data.draw(fleets())
    turned = {n: replace(p, members=p.members[::-1]) for n, p in fleet.pools.items()}
    tables, others = (
        {t.key: (t.names, t.weights, t.indices.tobytes()) for t in compiled(f, Observed()).tables}
        for f in (fleet, replace(fleet, pools=turned))
    )
    assert tables == others


def _only(fleet: Fleet) -> Fleet:
    """The fleet with its first service and the pool of it alone."""
    service = next(iter(fleet.services.values()))
    return replace(fleet, services={service.name: service})


@given(st.data())
@settings(max_examples=25)
def test_a_backend_that_moves_is_another_member(data: st.DataObject) -> None:
    """Its record is written whole while nothing refers to it."""
    fleet = _only(data.draw(fleets()))
    before = compiled(fleet, Observed())
    moved = {n: replace(b, address=b.address + 100) for n, b in fleet.backends.items()}
    after = compiled(replace(fleet, backends=moved), Observed(), before)
    assert not {m.number for m in before.members} & {m.number for m in after.members}


def test_a_number_is_used_again_only_when_all_are() -> None:
    first = _numbers("abc", {}, 4, "members")
    assert first == {"a": 1, "b": 2, "c": 3}
    second = _numbers("acd", first, 4, "members")
    assert second == {"a": 1, "c": 3, "d": 4}
    # 2 is free; what is in force before the change is not touched.
    assert _numbers("acde", second, 4, "members")["e"] == 2
    assert _numbers("ae", second, 4, "members")["e"] == 2


def test_no_number_goes_from_one_to_another_at_once() -> None:
    with pytest.raises(
        ValueError, match=r"2 services are new and 1 numbers are free .*: change few"
    ):
        _numbers("axy", {"a": 1, "b": 2, "c": 4}, 4, "services")


@given(st.data())
@settings(max_examples=25)
def test_a_service_that_moves_is_another_service(data: st.DataObject) -> None:
    """Its entry and record are made beside the old ones."""
    fleet = _only(data.draw(fleets()))
    before = compiled(fleet, Observed())
    moved = {n: replace(s, port=(s.port or 0) + 1) for n, s in fleet.services.items()}
    after = compiled(replace(fleet, services=moved), Observed(), before)
    assert not {s.number for s in before.services} & {s.number for s in after.services}
    assert before.vips == after.vips


@pytest.mark.parametrize(
    ("members", "floor", "up", "all_serve"),
    [(100, 7, 7, False), (100, 7, 6, True), (3, 100, 3, False), (3, 0, 0, False), (3, 1, 0, True)],
)
def test_a_floor_that_is_just_met_is_met(
    members: int, floor: int, up: int, all_serve: bool
) -> None:
    backends = {f"b{i}": Backend(f"b{i}", address(i, 4)) for i in range(members)}
    own = tuple(Member("p", name, 1, False, CHECK) for name in backends)
    pool = Pool("p", own, CHECK, floor / 100, "default")
    fleet = replace(fleet_of(pool), backends=backends)
    seen = {("p", name): i < up for i, name in enumerate(backends)}
    states = [m.state for m in compiled(fleet, Observed(up=seen)).members]
    assert states.count("up") == (members if all_serve else up)


@given(fleets())
@settings(max_examples=1)
def test_an_unknown_instance_is_refused_with_the_known_ones(fleet: Fleet) -> None:
    with pytest.raises(ValueError, match="no instance is named 'lbx': expected one of lb"):
        plan.compile(fleet, "lbx", Observed(), None, KEYS)


def test_keys_of_pools_are_apart_and_depend_on_the_secret() -> None:
    keys = [plan.hash_key(m, n) for m in (b"", b"x" * 32) for n in ("default", "other")]
    assert len(set(keys)) == 4
    assert {len(key) for key in keys} == {16}
