"""The board asks for what a daemon exports, and Grafana can take it.

Grafana checks little at an import: a panel that is wrong stays empty, or covers another.
"""

import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.monitoring.promql import Exported, labels

FILE = Path(__file__).parents[2] / "monitoring" / "board.json"
BOARD: dict[str, Any] = json.loads(FILE.read_text())
PANELS: list[dict[str, Any]] = BOARD["panels"]
GRAPHS = [panel for panel in PANELS if panel["type"] != "row"]
VARIABLES: list[dict[str, Any]] = BOARD["templating"]["list"]
OF_GRAFANA = {"__rate_interval": "5m"}
"""Its own variables, and what they could be."""
COLUMNS = {"Time", "Value", "__name__"}
"""Of a table, beside the labels."""
COLUMNS_OF_THE_GRID = 24

each_panel = pytest.mark.parametrize("panel", GRAPHS, ids=lambda panel: panel["title"])


def filled_in(expression: str) -> str:
    """With a value for each variable, as Grafana sends it to Prometheus."""
    return re.sub(r"\$(\w+)", lambda found: OF_GRAFANA.get(found[1], ".*"), expression)


@each_panel
def test_its_queries_and_the_labels_that_it_tells(
    panel: dict[str, Any], metrics: dict[str, Exported]
) -> None:
    assert panel["targets"]
    for target in panel["targets"]:
        found = labels(filled_in(target["expr"]), metrics)
        assert found is not None
        told = set(re.findall(r"{{\s*(\w+)\s*}}", target.get("legendFormat", "")))
        assert told <= found
        for organized in panel.get("transformations", ()):
            for columns in organized["options"].values():
                assert set(columns) <= set(found) | COLUMNS


@each_panel
def test_its_series_have_names(panel: dict[str, Any], metrics: dict[str, Exported]) -> None:
    """Labels that tell series apart are in the legend; a job is chosen, so it is none of them."""
    if panel["type"] in ("stat", "table"):
        return
    for target in panel["targets"]:
        found = labels(filled_in(target["expr"]), metrics) or set()
        assert found - {"job"} == set(re.findall(r"{{(\w+)}}", target["legendFormat"]))


@each_panel
def test_it_is_of_the_chosen_datasource_fleet_and_instances(panel: dict[str, Any]) -> None:
    for asked in (panel, *panel["targets"]):
        assert asked["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
    for target in panel["targets"]:
        for selector in re.findall(r"turnout_\w+({[^}]*})?", target["expr"]):
            assert selector.startswith('{job="$job", instance=~"$instance"')
    assert panel["title"]
    assert panel["description"]


def test_variables_are_defined_before_they_are_used() -> None:
    names = [variable["name"] for variable in VARIABLES]
    assert names[:3] == ["datasource", "job", "instance"]
    assert len(names) == len(set(names))
    for number, variable in enumerate(VARIABLES):
        assert _used(variable) <= set(names[:number])
    assert _used(PANELS) == set(names)


def _used(part: object) -> set[str]:
    found = re.findall(r"\$(?:{(\w+)}|(\w+))", json.dumps(part))
    return {braced or plain for braced, plain in found} - OF_GRAFANA.keys() - {"__all"}


def test_variables_ask_for_labels_that_there_are(metrics: dict[str, Exported]) -> None:
    for variable in VARIABLES[1:]:
        asked = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
        assert asked
        assert asked[2] in (labels(filled_in(asked[1]), metrics) or set())
        assert variable["definition"] == variable["query"]["query"]


def test_ids_are_unique() -> None:
    assert max(Counter(panel["id"] for panel in PANELS).values()) == 1
    for panel in GRAPHS:
        assert max(Counter(target["refId"] for target in panel["targets"]).values()) == 1


def test_panels_lie_in_the_grid_side_by_side() -> None:
    boxes = [panel["gridPos"] for panel in PANELS]
    for box in boxes:
        assert min(box["x"], box["y"]) >= 0
        assert min(box["w"], box["h"]) >= 1
        assert box["x"] + box["w"] <= COLUMNS_OF_THE_GRID
    for one, other in combinations(boxes, 2):
        apart = (
            one["x"] + one["w"] <= other["x"]
            or other["x"] + other["w"] <= one["x"]
            or one["y"] + one["h"] <= other["y"]
            or other["y"] + other["h"] <= one["y"]
        )
        assert apart, (one, other)


def test_rows_are_open_and_in_the_order_of_the_file() -> None:
    """A collapsed row holds its panels itself; in an open one they follow."""
    places = [(panel["gridPos"]["y"], panel["gridPos"]["x"]) for panel in PANELS]
    assert places == sorted(places)
    for panel in PANELS:
        if panel["type"] == "row":
            assert (panel["collapsed"], panel["panels"]) == (False, [])
            assert panel["gridPos"]["w"] == COLUMNS_OF_THE_GRID


def test_every_metric_is_shown(metrics: dict[str, Exported]) -> None:
    shown = set(re.findall(r"turnout_\w+", json.dumps(PANELS)))
    assert set(metrics) - shown == {"turnout_member_draining"}, "it is among the members by state"
