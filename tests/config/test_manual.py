"""The schema for editors and the manual's page come from the parser's own fields."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from turnout import config
from turnout.config import fields

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
BASE = (Path(__file__).parent / "base.yaml").read_text()
SCHEMA = config.schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.name for path in EXAMPLES])
def test_examples_load_and_are_valid(path: Path) -> None:
    assert config.load(path).services
    assert list(VALIDATOR.iter_errors(yaml.safe_load(path.read_text()))) == []


def test_schema_and_parser_know_the_same_fields() -> None:
    kinds = {kind.name: set(kind.fields) for kind in fields.KINDS}
    schema = {name: set(found["properties"]) for name, found in SCHEMA["$defs"].items()}
    schema["fleet"] = set(SCHEMA["properties"])
    assert schema == kinds


def test_the_parser_takes_each_field_of_the_schema(tmp_path: Path) -> None:
    """By its answer to a list where no list can be: that the value is wrong, not the field."""
    for name, found in (("fleet", SCHEMA), *SCHEMA["$defs"].items()):
        for field in found["properties"]:
            wrong = f"{field}: [[]]"
            text = {
                "fleet": wrong,
                "switch": f"switches: {{x: {{{wrong}}}}}",
                "split": f"switches: {{x: {{splits: {{y: {{{wrong}}}}}}}}}",
                "target": f"switches: {{x: {{splits: {{y: {{targets: {{z: {{{wrong}}}}}}}}}}}}}",
                "announcement": f"announcement: {{{wrong}}}",
                "member": f"pools: {{p: {{members: {{m: {{{wrong}}}}}}}}}",
                "check": f"pools: {{p: {{check: {{{wrong}}}}}}}",
            }.get(name, f"{name}s: {{x: {{{wrong}}}}}")
            (tmp_path / "fleet.yaml").write_text(text)
            with pytest.raises(config.ConfigError) as caught:
                config.load(tmp_path / "fleet.yaml")
            said = [e.message for e in caught.value.errors if e.field.split("[")[0].endswith(field)]
            assert any(message.startswith("found a list") for message in said), (name, field)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("port: 80", "port: 80, porto: 81"),
        ("protocol: tcp", "protocol: sctp"),
        ("port: 80", "port: 65536"),
        ("port: 80", "port: some"),
        ("protocol: tcp, ", ""),
        ("web1: {}", "web1: {weight: 0}"),
        ("web1: {}", "web1: {drain: 1}"),
        ("/healthz", "healthz"),
        ("/healthz", "/healthz, interval: 2"),
        ("/healthz", "/healthz, status: 99"),
        ("[eth0]", "[]"),
        ("[eth0]", "[eth0, eth0]"),
        ("[eth0]", "[eth0/1]"),
        ("pool: web", "pool: a/b"),
        ("  web2: {address", "  -web2: {address"),
        ("instances:", "announcement: {table: 254}\ninstances:"),
        *(
            ("instances:", f"switches: {{s: {text}}}\ninstances:")
            for text in (
                "{bridge: br0}",
                "{splits: {x: {width: 8, targets: {a: {port: 1}}}}}",
                "{bridge: -O, splits: {x: {width: 8, targets: {a: {port: 1}}}}}",
                "{bridge: br0, splits: {x: {targets: {a: {port: 1}}}}}",
                "{bridge: br0, splits: {x: {width: 8, targets: {a: {port: 0}}}}}",
                "{bridge: br0, splits: {x: {width: 8, targets: {a: {port: '7'}}}}}",
                "{bridge: br0, splits: {x: {width: 8, targets: {a: {port: 1, weight: -1}}}}}",
                "{bridge: br0, splits: {x: {width: 33, targets: {a: {port: 1}}}}}",
                "{bridge: br0, splits: {x: {width: 8, rules: 0, targets: {a: {port: 1}}}}}",
                "{bridge: br0, splits: {x: {width: 8, norm: l2, targets: {a: {port: 1}}}}}",
                "{bridge: br0, splits: {x: {width: 8, field: eth, targets: {a: {port: 1}}}}}",
                "{bridge: br0, splits: {x: {width: 8, table: 255, targets: {a: {port: 1}}}}}",
            )
        ),
    ],
)
def test_schema_and_parser_refuse_the_same(old: str, new: str, tmp_path: Path) -> None:
    text = BASE.replace(old, new, 1)
    assert text != BASE
    document: Any = yaml.safe_load(text)
    assert not VALIDATOR.is_valid(document)
    (tmp_path / "fleet.yaml").write_text(text)
    with pytest.raises(config.ConfigError):
        config.load(tmp_path / "fleet.yaml")


def test_every_field_has_a_row_in_the_manual_and_words_in_the_schema() -> None:
    page = config.reference()
    for kind in fields.KINDS:
        part = page.split(f"## {kind.name}\n")[1].split("\n## ")[0]
        assert kind.meaning in part
        for name, field in kind.fields.items():
            (row,) = [line for line in part.splitlines() if line.startswith(f"| `{name}` |")]
            assert field.meaning in row
            assert row.count(" | ") == 3, row
            found = SCHEMA if kind is fields.FLEET else SCHEMA["$defs"][kind.name]
            assert found["properties"][name]["description"] == field.meaning
