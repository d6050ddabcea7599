"""Whatever was in force before: after a reload things are as after a fresh start with that file,
and what the checks knew is still known."""

import asyncio
import json
import tempfile
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from tests.daemon.fakes import HOP, FakeVerdict, World, configuration
from tests.daemon.virtual import run
from turnout.daemon import Daemon, read
from turnout.daemon.loop import COALESCE_S
from turnout.plan import MemberKey, Plan

BACKENDS = {f"web{n}": {"address": f"10.0.2.{n}"} for n in range(1, 5)}
KEYS: list[MemberKey] = [(pool, backend) for pool in ("one", "two") for backend in BACKENDS]
MEMBER = st.fixed_dictionaries({}, optional={"weight": st.integers(1, 3), "drain": st.just(True)})
POOL = st.fixed_dictionaries(
    {
        "members": st.dictionaries(st.sampled_from(sorted(BACKENDS)), MEMBER, min_size=1),
        "min_up": st.sampled_from(["0%", "50%", "100%"]),
        "check": st.just({"type": "tcp", "port": 80}),
    }
)
SERVICE = st.fixed_dictionaries(
    {
        "pool": st.sampled_from(["one", "two"]),
        "encapsulation": st.sampled_from(["gue", "ipip"]),
        "table_size": st.sampled_from([401, 409]),
    }
)


@st.composite
def fleets(draw: st.DrawFn) -> str:
    services = draw(st.dictionaries(st.integers(1, 4), SERVICE, min_size=1))
    return json.dumps(
        {
            "instances": {"lb1": {"interfaces": ["eth0"], "addresses": ["10.0.1.1"]}},
            "backends": BACKENDS,
            "pools": {"one": draw(POOL), "two": draw(POOL)},
            "services": {
                f"s{n}": {"vip": f"192.0.2.{n % 3}", "protocol": "tcp", "port": 80 + n, **service}
                for n, service in services.items()
            },
        }
    )


def meaning(plan: Plan) -> dict[str, Any]:
    """The plan without numbers, which history may decide."""
    keys = {member.number: member.key for member in plan.members}
    tables = {table.key: table for table in plan.tables}
    return {
        "members": {m.key: (m.address, m.source, m.state, m.next_hop) for m in plan.members},
        "services": {
            s.name: (
                *(s.vip, s.protocol, s.port, s.encapsulation, s.hash_key),
                [keys[tables[s.table].members[i]] for i in tables[s.table].indices],
            )
            for s in plan.services
        },
        "vips": {(vip.vip, vip.protocols) for vip in plan.vips},
        "announced": set(plan.announced),
    }


async def settled(world: World, directory: Path, texts: list[str]) -> None:
    """Start with the first text, reload the others, let the checks say what they know."""
    verdicts = dict(world.verdict)
    start = configuration(directory, texts[0])
    daemon = Daemon(start, world.effects(), partial(read, start.fleet.path, "lb1"))
    stopping = asyncio.Event()
    running = asyncio.create_task(daemon.run(stopping))
    await asyncio.sleep(COALESCE_S)
    for generation, text in enumerate(texts[1:], start=2):
        configuration(directory, text)
        daemon.reload()
        await asyncio.sleep(3 * COALESCE_S)
        assert daemon.snapshot().applied == generation
    # Members that are new have been asked by now.
    world.verdict |= {key: verdicts[key] for key in world.followed}
    world.health_changed()
    await asyncio.sleep(3 * COALESCE_S)
    stopping.set()
    await running


@settings(max_examples=40)
@given(first=fleets(), second=fleets(), up=st.sets(st.sampled_from(KEYS)))
def test_a_reload_ends_where_a_fresh_start_ends(
    first: str, second: str, up: set[MemberKey]
) -> None:
    reloaded, fresh = (
        World(
            verdict={key: FakeVerdict(key in up) for key in KEYS},
            hops={ip_address(backend["address"]): HOP for backend in BACKENDS.values()},
        )
        for _ in range(2)
    )
    with tempfile.TemporaryDirectory() as name, capture_logs():
        run(settled(reloaded, Path(name), [first, second]))
        run(settled(fresh, Path(name), [second]))
    assert meaning(reloaded.plans[-1]) == meaning(fresh.plans[-1])
