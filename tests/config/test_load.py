"""What a file that is right becomes, and that nothing but ConfigError is ever raised."""

import json
import os
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnout import config
from turnout.core import is_prime

EXAMPLES = Path(__file__).parents[2] / "examples"
VALIDATOR = jsonschema.Draft202012Validator(config.schema())
BASE = (Path(__file__).parent / "base.yaml").read_text()


def load(text: str | bytes) -> config.Fleet:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "fleet.yaml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return config.load(path)


def test_defaults_are_filled_in() -> None:
    fleet = load(BASE)
    assert fleet.instances["lb1"] == config.Instance(
        "lb1", ("eth0",), "auto", (ip_address("10.0.1.1"),), (ip_address("10.0.1.254"),)
    )
    check = config.Check("http", 80, "/healthz", (200, 399), 2.0, 1.0, 2, 3)
    members = tuple(config.Member("web", name, 1, False, check) for name in ("web1", "web2"))
    assert fleet.pools == {"web": config.Pool("web", members, check, 0.0, "default")}
    assert fleet.services["www"] == config.Service(
        "www", ip_address("192.0.2.10"), "tcp", 80, "web", "maglev", 65_537, "gue", "5-tuple"
    )
    assert fleet.announcement == config.Announcement(174, 74, 65_001, 65_000)
    assert fleet.key_file is None


def test_values_are_taken_as_written() -> None:
    fleet = config.load(EXAMPLES / "dual-stack.yaml")
    assert fleet.instances["lb2"].source(6) == ip_address("fd00:1::2")
    assert fleet.instances["lb2"].mode == "native"
    web = fleet.pools["web"]
    assert [(m.backend, m.weight, m.drain) for m in web.members] == [
        ("web1", 2, False),
        ("web2", 2, True),
        ("web3", 1, False),
    ]
    assert web.check is not None
    assert web.check.status == (200, 299)
    assert web.min_up == 0.25
    sticky = fleet.services["sticky"]
    assert (sticky.port, sticky.table_size, sticky.hash) == (None, 131_071, "client-address")
    assert {s.encapsulation for s in fleet.services.values()} == {"gue", "ipip", "gre"}


def test_included_pools_keep_their_own_check() -> None:
    fleet = config.load(EXAMPLES / "dual-stack.yaml")
    everything = fleet.pools["everything"]
    assert [(m.pool, m.backend) for m in everything.members] == [
        ("web", "web1"),
        ("web", "web2"),
        ("web", "web3"),
        ("dns", "dns1"),
        ("dns", "dns2"),
    ]
    assert {m.pool: m.check for m in everything.members} == {
        "web": fleet.pools["web"].check,
        "dns": fleet.pools["dns"].check,
    }


def test_a_pool_that_two_included_pools_include_counts_once() -> None:
    fleet = load(
        BASE.replace(
            "services:",
            "  a: {include: [web]}\n  b: {include: [web]}\n  c: {include: [a, b]}\nservices:",
        )
    )
    assert [m.backend for m in fleet.pools["c"].members] == ["web1", "web2"]


def test_names_that_are_quoted_may_be_anything() -> None:
    text = BASE.replace("web1:", '"yes":').replace("web2:", '"22":')
    assert list(load(text).backends) == ["yes", "22", "web3"]


def test_the_port_of_a_check_is_that_of_its_services() -> None:
    included = BASE.replace(", pool: web}", ", pool: all}").replace(
        "services:", "  all: {include: [web]}\nservices:"
    )
    for text in (BASE, included):
        check = load(text).pools["web"].check
        assert check is not None
        assert check.port == 80


def test_a_small_table_where_that_is_said() -> None:
    text = BASE.replace("pool: web}", "pool: web, table_size: 7, allow_small_table: true}")
    assert load(text).services["www"].table_size == 7


def test_warnings_have_a_place() -> None:
    fleet = load(BASE.replace("web1: {},", "web1: {drain: true},"))
    assert [(w.line, w.column, w.field) for w in fleet.warnings] == [
        (1, 1, "key_file"),
        (12, 29, "pools.web.members.web1.drain"),
    ]
    assert "aim" in fleet.warnings[0].message
    assert "established flows move" in fleet.warnings[1].message


KEY = "00112233445566778899aabbccddeeff" * 2


def test_a_key_is_read_relative_to_the_file(tmp_path: Path) -> None:
    key = tmp_path / "hash.key"
    key.write_text(KEY + "\n")
    key.chmod(0o600)
    (tmp_path / "fleet.yaml").write_text("key_file: hash.key\n" + BASE)
    fleet = config.load(tmp_path / "fleet.yaml")
    assert fleet.key_file == key
    assert fleet.warnings == ()
    assert config.read_key(key) == bytes.fromhex(KEY)


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        (KEY, 0o644, "has mode 0644: expected 0600"),
        (KEY, 0o620, "has mode 0620: expected 0600"),
        (KEY[:-1], 0o600, "does not hold a key: expected 64 hexadecimal digits"),
        (KEY + "0", 0o600, "does not hold a key"),
        ("g" * 64, 0o400, "does not hold a key"),
        ("", 0o600, "does not hold a key"),
    ],
)
def test_a_key_file_that_is_wrong(text: str, mode: int, said: str, tmp_path: Path) -> None:
    key = tmp_path / "hash.key"
    key.write_text(text)
    key.chmod(mode)
    (tmp_path / "fleet.yaml").write_text("key_file: hash.key\n" + BASE)
    with pytest.raises(config.ConfigError) as caught:
        config.load(tmp_path / "fleet.yaml")
    (error,) = caught.value.errors
    assert (error.line, error.column, error.field) == (1, 11, "key_file")
    assert error.message.startswith(f"{key} {said}")
    assert KEY not in error.message


def test_a_key_file_that_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(ValueError, match="no regular file"):
        config.read_key(tmp_path / "pipe")
    with pytest.raises(ValueError, match=r"cannot read|no regular file"):
        config.read_key(tmp_path)


def loads_or_refuses(text: str | bytes) -> None:
    """Load; nothing but ConfigError may be raised, with places in the file, each on one line."""
    try:
        holds(load(text))
    except config.ConfigError as error:
        problems = error.errors
    else:
        return
    assert problems
    for problem in problems:
        assert problem.line >= 1
        assert problem.column >= 1
        assert problem.message
        assert problem.at(Path("f")).isprintable()


def holds(fleet: config.Fleet) -> None:
    """What everything else relies on."""
    hosts = [b.address for b in fleet.backends.values()]
    hosts += [a for i in fleet.instances.values() for a in i.addresses]
    assert len(hosts) == len(set(hosts))
    keys = [(s.vip, s.protocol, s.port) for s in fleet.services.values()]
    assert len(keys) == len(set(keys))
    assert fleet.instances
    for pool in fleet.pools.values():
        names = [m.backend for m in pool.members]
        assert names
        assert len(names) == len(set(names))
        assert set(names) <= set(fleet.backends)
        assert all(1 <= m.weight <= 10_000 for m in pool.members)
        assert all(m.check == fleet.pools[m.pool].check for m in pool.members)
        assert pool.check is None or pool.check.timeout_s <= pool.check.interval_s
    for service in fleet.services.values():
        members = fleet.pools[service.pool].members
        assert service.vip not in hosts
        assert is_prime(service.table_size)
        assert service.table_size >= len(members)
        for instance in fleet.instances.values():
            for member in members:
                address = fleet.backends[member.backend].address
                assert instance.source(address.version) is not None


@given(st.binary(max_size=200))
def test_any_bytes(raw: bytes) -> None:
    loads_or_refuses(raw)


SYNTAX = "abz019 :,-[]{}&*!|>'\"%@`#?~=<\n\t\\.\0\u00e9\u2028\ufeff/"


@given(st.text(st.sampled_from(SYNTAX), max_size=60))
def test_any_text_of_yaml_syntax(text: str) -> None:
    loads_or_refuses(text)


@settings(max_examples=300)
@given(
    st.integers(0, len(BASE)),
    st.integers(0, 12),
    st.text(st.sampled_from(SYNTAX), max_size=6),
)
def test_a_fleet_with_a_piece_replaced(start: int, length: int, piece: str) -> None:
    loads_or_refuses(BASE[:start] + piece + BASE[start + length :])


TEXT = st.text(st.sampled_from(SYNTAX), max_size=3)
WORDS = ["vip", "protocol", "port", "pool", "members", "check", "weight", "address", "web", "tcp"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | TEXT,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(WORDS) | TEXT, inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["instances", "backends", "pools", "services"]), VALUES))
def test_any_document(document: object) -> None:
    loads_or_refuses(json.dumps(document))


def fleets() -> st.SearchStrategy[object]:
    """Documents of the right shape, with values that are often right together."""
    names = st.sampled_from("abc")
    number = st.integers(1, 99)

    def addresses(v4: str, v6: str) -> st.SearchStrategy[str]:
        return number.map(lambda n: f"{v4}.{n}") | number.map(lambda n: f"{v6}::{n}")

    def record(
        fields: dict[str, st.SearchStrategy[Any]], **more: st.SearchStrategy[Any]
    ) -> st.SearchStrategy[Any]:
        return st.fixed_dictionaries(fields, optional=more)

    member = record({}, weight=st.integers(1, 3), drain=st.booleans())
    check = record(
        {"type": st.sampled_from(["tcp", "http"]), "port": st.integers(1, 65_535)},
        interval=st.sampled_from(["3s", "2s", "500ms"]),
        rise=st.integers(1, 3),
    )
    own = number.map(lambda n: [f"10.1.0.{n}", f"fd01::{n}"])
    instance = record({"interfaces": st.just(["eth0"]), "addresses": own})
    backend = record({"address": addresses("10.0.0", "fd00")})
    pool = record(
        {"members": st.dictionaries(names, member, min_size=1, max_size=2)},
        check=check,
        include=st.lists(names, max_size=1),
        min_up=st.just("50%"),
    )
    service = record(
        {
            "vip": addresses("192.0.2", "fd02"),
            "protocol": st.sampled_from(["tcp", "udp"]),
            "port": st.integers(1, 3) | st.just("all"),
            "pool": names,
        },
        table_size=st.sampled_from([307, 65_537, 100_003]),
        hash=st.sampled_from(["5-tuple", "client-address"]),
    )
    every = "abc"
    return record(
        {
            "instances": st.dictionaries(names, instance, min_size=1),
            "backends": st.fixed_dictionaries(dict.fromkeys(every, backend)),
            "pools": st.fixed_dictionaries(dict.fromkeys(every, pool)),
            "services": st.dictionaries(names, service, min_size=1),
        }
    )


@settings(max_examples=300)
@given(fleets())
def test_documents_of_the_right_shape(document: object) -> None:
    loads_or_refuses(json.dumps(document))
    assert VALIDATOR.is_valid(document)
