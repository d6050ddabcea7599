from dataclasses import replace
from pathlib import Path

from tests.api.example import before_the_first_pass, example
from turnout.api import documents
from turnout.core import reasons


def test_status(tmp_path: Path) -> None:
    status = documents.status(example(tmp_path).snapshot)
    assert (status.instance, status.generation, status.applied_generation) == ("lb1", 3, 3)
    assert (status.started, status.uptime_s) == ("1970-01-01T00:16:40Z", 75.0)
    assert status.interfaces == (documents.Interface("eth0", "native"),)
    assert status.announced == ("192.0.2.10", "192.0.2.20")


def test_services_carry_their_own_counts(tmp_path: Path) -> None:
    known = example(tmp_path)
    www, other = documents.services(known.snapshot, known.counters)
    assert (www.name, www.port, www.encapsulation) == ("www", 80, "gue")
    assert (www.members_up, www.members, www.announced) == (1, 2, True)
    assert (www.packets, www.bytes, www.new_flows) == (10, 1000, 4)
    assert (other.name, other.port, other.encapsulation) == ("other", None, "ipip")
    assert (other.members_up, other.members) == (1, 3)
    assert (other.packets, other.bytes, other.new_flows) == (7, 700, 0)


def test_backends_say_why_and_what_share(tmp_path: Path) -> None:
    known = example(tmp_path)
    web1, web2, web3 = documents.backends(known.snapshot, known.counters)
    assert (web1.pool, web1.backend, web1.address) == ("web", "web1", "10.0.2.11")
    assert (web1.state, web1.served, web1.weight) == ("up", True, 3)
    assert (web2.state, web2.served, web2.reason) == ("down", False, "connection refused")
    assert (web3.pool, web3.state, web3.reason) == ("all", "draining", "drain: true")
    assert web1.since == "1970-01-01T00:16:50Z"
    assert abs(web1.shares["web"] - 0.75) < 1e-4
    assert abs(web1.shares["all"] - 0.6) < 1e-4
    assert set(web3.shares) == {"all"}
    assert (web1.packets, web2.packets, web3.packets) == (12, 5, 0)


def test_a_member_served_by_the_floor_says_so(tmp_path: Path) -> None:
    known = example(tmp_path)
    plan = known.snapshot.plan
    assert plan is not None
    all_serve = replace(plan, members=tuple(replace(m, state="up") for m in plan.members))
    _, web2, _ = documents.backends(replace(known.snapshot, plan=all_serve), known.counters)
    assert (web2.state, web2.served) == ("down", True)
    assert web2.reason == "connection refused; served: pool below its floor"


def test_a_member_without_next_hop_says_so(tmp_path: Path) -> None:
    known = example(tmp_path)
    plan = known.snapshot.plan
    assert plan is not None
    lost = replace(plan, members=tuple(replace(m, next_hop=None) for m in plan.members))
    web1, *_ = documents.backends(replace(known.snapshot, plan=lost), known.counters)
    assert web1.reason == "no next hop: its packets are dropped"


def test_before_the_first_pass_there_is_nothing_to_count(tmp_path: Path) -> None:
    known = example(tmp_path)
    snapshot = before_the_first_pass(known)
    assert documents.status(snapshot).applied_generation == 0
    assert documents.services(snapshot, known.counters) == ()
    assert documents.backends(snapshot, known.counters) == ()


def test_every_reason_is_there_with_its_meaning(tmp_path: Path) -> None:
    rows = documents.counted(example(tmp_path).counters)
    assert [row.reason for row in rows] == [reason.name for reason in reasons()]
    packets = {row.reason: row.packets for row in rows}
    assert (packets["forwarded"], packets["not_service"], packets["no_member"]) == (17, 1234, 0)
    assert all(row.meaning for row in rows)
    assert {row.verdict for row in rows} <= {"PASS", "TX", "REDIRECT", "DROP"}
