"""The manual names what there is, all of it and nothing else."""

import re
from dataclasses import fields
from pathlib import Path

from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from tests.api.example import example
from turnout.api import documents
from turnout.api.metrics import registry

DOCS = Path(__file__).parents[2] / "docs"


def rows(text: str) -> list[list[str]]:
    """The names in backticks in the first column of each row of a table."""
    return [
        re.findall(r"`([^`]+)`", line.split("|")[1])
        for line in text.splitlines()
        if line.startswith("| `")
    ]


def test_every_field_of_every_document() -> None:
    sections = (DOCS / "api.md").read_text().split("\n## ")
    by_title = {section.partition("\n")[0].strip("`"): section for section in sections}
    for title, record in (
        ("/v1/status", documents.Status),
        ("/v1/services", documents.Service),
        ("/v1/backends", documents.Backend),
        ("/v1/counters", documents.Reason),
    ):
        named = [name for row in rows(by_title[title]) for name in row]
        assert sorted(named) == sorted(field.name for field in fields(record)), title


def test_every_metric(tmp_path: Path) -> None:
    known = example(tmp_path)
    text = generate_latest(registry(lambda: known.snapshot, lambda: known.counters)).decode()
    exported = {
        sample.name for family in text_string_to_metric_families(text) for sample in family.samples
    }
    named = [name for row in rows((DOCS / "metrics.md").read_text()) for name in row]
    assert sorted(named) == sorted(exported)


def test_every_event() -> None:
    source = Path(documents.__file__).parents[1] / "daemon" / "loop.py"
    logged = set(re.findall(r'_log\.\w+\(\s*"(\w+)"', source.read_text()))
    logged |= {f"member_{state}" for state in ("up", "draining", "down", "unknown")}
    section = (DOCS / "api.md").read_text().partition("## Log events")[2]
    assert sorted(name for row in rows(section) for name in row) == sorted(logged)
