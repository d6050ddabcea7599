"""Every kind of error, with its message and place: errors.json changes base.yaml in one place each."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from turnout import config
from turnout.config import tree

HERE = Path(__file__).parent
BASE = (HERE / "base.yaml").read_text()
CASES: list[dict[str, Any]] = json.loads((HERE / "errors.json").read_text())


def errors(text: str | bytes, folder: Path) -> list[str]:
    """The lines that a file of this text is refused with, none if it is not."""
    path = folder / "fleet.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    try:
        config.load(path)
    except config.ConfigError as error:
        return str(error).replace(f"{folder}/", "").split("\n")
    return []


def changed(case: dict[str, Any]) -> str:
    old, new = case["replace"], case["by"]
    assert isinstance(old, str)
    assert isinstance(new, str)
    assert old in BASE
    return BASE.replace(old, new, 1)


def test_the_base_has_no_error(tmp_path: Path) -> None:
    assert errors(BASE, tmp_path) == []


def test_there_are_many_kinds() -> None:
    assert len({message for case in CASES for message in case["errors"]}) > 100


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_error(case: dict[str, Any], tmp_path: Path) -> None:
    assert errors(changed(case), tmp_path) == case["errors"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_parser_in_python_finds_the_same(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "_Parser", yaml.SafeLoader)
    found = errors(changed(case), tmp_path)
    if "not YAML" in case["errors"][0]:  # of what is no YAML each parser says its own
        assert len(found) == 1
        assert "not YAML" in found[0]
    elif "found nothing" in case["errors"][0]:  # nor do they agree where nothing stands
        assert [line.split(": ", 1)[1] for line in found] == [
            line.split(": ", 1)[1] for line in case["errors"]
        ]
    else:
        assert found == case["errors"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1:1: found nothing: expected a map with instances, backends, pools and services"),
        ("# nothing\n", "1:1: found nothing: expected a map"),
        ("\n- a\n", "2:1: found a list: expected a map"),
        ("fleet", "1:1: found 'fleet': expected a map"),
        ("pools: [", "2:1: not YAML"),
        (b"\xef\xbb\xbf# first\na: \xff", "2:4: byte 0xff is not UTF-8: save the file as UTF-8"),
        (BASE.encode("utf-16"), "1:1: byte 0xff is not UTF-8"),
        (b"#" * ((4 << 20) + 1), "1:1: more than 4194304 bytes: a fleet file may have as many"),
        ("[" * 1_000_000, "1:1001: not YAML"),
        ("{a: " * 100_000, "1:65: nested deeper than 16 levels"),
        ("- " * 100_000, "1:33: nested deeper than 16 levels"),
        ("? " * 100_000, "1:3: a map as a key"),
        ("[" + "a," * 300_000 + "]", "1:600000: more than 300000 values"),
        ("".join(f"k{n}:\n" for n in range(1200)), "1:1: k0: no such field in a fleet"),
    ],
)
def test_a_file_that_is_no_fleet(text: str | bytes, said: str, tmp_path: Path) -> None:
    assert errors(text, tmp_path)[0].startswith(f"fleet.yaml:{said}")


def test_a_byte_order_mark_at_the_beginning_is_no_error(tmp_path: Path) -> None:
    assert errors(b"\xef\xbb\xbf" + BASE.encode(), tmp_path) == []


def test_after_a_thousand_errors_it_says_that_there_may_be_more(tmp_path: Path) -> None:
    found = errors("".join(f"k{n}:\n" for n in range(1200)), tmp_path)
    assert len(found) == 1001
    assert found[-1] == (
        "fleet.yaml:1000:1: 1000 errors: there may be more, here or elsewhere in the file"
    )


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(config.ConfigError, match=r":1:1: cannot read: No such file"):
        config.load(tmp_path / "none.yaml")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(config.ConfigError, match=r":1:1: cannot read: a pipe"):
        config.load(tmp_path / "pipe")
    with pytest.raises(config.ConfigError, match=r":1:1: cannot read: Is a directory"):
        config.load(tmp_path)


def section(kind: str, records: str) -> str:
    """The base with more records of a kind."""
    return BASE.replace(f"{kind}:\n", f"{kind}:\n{records}", 1)


def test_limits_of_pools(tmp_path: Path) -> None:
    each = "".join(f"  p{n}: {{members: {{b{n}: }}}}\n" for n in range(65))
    backends = "".join(f"  b{n}: {{address: 10.9.0.{n}}}\n" for n in range(65))
    some, all_ = (", ".join(f"p{n}" for n in range(count)) for count in (64, 65))
    text = section("backends", backends).replace(
        "pools:\n", f"pools:\n{each}  all: {{include: []}}\n"
    )
    assert errors(text.replace("[]", f"[{some}]"), tmp_path) == []
    assert [
        line.split(": ", 1)[1] for line in errors(text.replace("[]", f"[{all_}]"), tmp_path)
    ] == ["pools.all.include: more than 64 pools, with those that they include: expected fewer"]


def test_limits_of_members(tmp_path: Path) -> None:
    backends = "".join(f"  b{n}: {{address: 10.9.{n >> 8}.{n & 255}}}\n" for n in range(4097))
    members = ", ".join(f"b{n}: " for n in range(4096))
    pools = "".join(f"  p{n}: {{members: {{{members}}}}}\n" for n in range(4))
    text = section("backends", backends).replace("pools:\n", f"pools:\n{pools}")
    assert [line.split(": ", 1)[1] for line in errors(text, tmp_path)] == [
        "pools: 16386 members in all: expected at most 16383"
    ]
    pool = f"  p0: {{members: {{{members}, b4096: }}}}\n"
    text = section("backends", backends).replace("pools:\n", f"pools:\n{pool}")
    assert [line.split(": ", 1)[1] for line in errors(text, tmp_path)] == [
        "pools.p0.members: 4097 members: expected at most 4096"
    ]


def test_limit_of_services(tmp_path: Path) -> None:
    def services(count: int) -> str:
        return BASE.replace("path: /healthz", "path: /healthz, port: 80") + "".join(
            f"  s{n}: {{vip: 192.0.2.11, protocol: tcp, port: {n + 1}, pool: web}}\n"
            for n in range(count)
        )

    assert errors(services(4092), tmp_path) == []
    assert [line.split(": ", 1)[1] for line in errors(services(4093), tmp_path)] == [
        "services: 4094 services and 2 VIPs: expected at most 4095 in all"
    ]


def test_a_name_that_would_break_its_line_is_escaped_wherever_it_is_repeated(
    tmp_path: Path,
) -> None:
    """A wrong name is also suggested, listed as known, and named by those that refer to it."""
    file = tmp_path / "fleet.yaml"
    file.write_text(
        "instances: {lb1: {interfaces: [eth0], addresses: [10.0.1.1]}}\n"
        "backends: {we1: {address: 10.0.2.1}, we2: {address: 10.0.2.1}}\n"
        'pools: {"w\\teb": {members: {web: {}, "we\\n1": {}}}, "x\\x1b": {include: ["x\\x1b"]}}\n'
        "services:\n"
        '  "s\\r1": {vip: 192.0.2.1, protocol: tcp, port: 80, pool: web}\n'
        "  s2: {vip: 192.0.2.1, protocol: tcp, port: 80, pool: web}\n"
    )
    with pytest.raises(config.ConfigError) as caught:
        config.load(file)
    said = str(caught.value)
    assert "did you mean w\\teb?" in said
    assert len(said.splitlines()) == len(caught.value.errors)
    assert all(line.isprintable() for line in said.split("\n"))
