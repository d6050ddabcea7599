"""What a daemon exports, read from its own /metrics as Prometheus would."""

from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from tests.api.example import example, served
from tests.monitoring.promql import Exported
from turnout.cli.client import UnixConnection

CLOSED = frozenset({"mode", "reason", "state", "verdict"})
MODES = {"native", "generic", "none"}


def scrape(folder: Path) -> dict[str, Exported]:
    """By the name of the series: labels of each and the values that they have."""
    with served(example(folder), folder / "turnout.sock") as path:
        connection = UnixConnection(path)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
    return exported(text)


def exported(text: str) -> dict[str, Exported]:
    """`text` in Prometheus's format."""
    found = {}
    for family in text_string_to_metric_families(text):
        for name in {sample.name for sample in family.samples}:
            series = [sample.labels for sample in family.samples if sample.name == name]
            values = {label: {one[label] for one in series} for label in series[0]}
            if "mode" in values:
                values["mode"] = MODES
            found[name] = Exported(family.type, values, CLOSED & values.keys())
    return found
