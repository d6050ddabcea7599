import json
from typing import Any

import pytest
from click.testing import CliRunner

from turnout import bench
from turnout.bench.forwarder import Case, Figure, first_frame, forwarder
from turnout.bench.generator import WINDOW, Generator
from turnout.cli.bench import command

FEW = 4 * WINDOW


def test_figures_of_the_reference_and_of_each_case() -> None:
    cases = (bench.CASES[0], bench.CASES[-1])
    figures = list(forwarder(runs=1, packets=FEW, flows=(256,), cases=cases))
    names = ["reference", "ipip", "not a service"]
    assert [(f.case, f.flows) for f in figures] == [(name, 256) for name in names]


def test_a_case_that_does_anything_else_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Case, "reason", "no_member")
    with pytest.raises(RuntimeError, match=r"gue: expected every packet to be no_member"):
        list(forwarder(runs=1, packets=FEW, flows=(1,), cases=(Case("gue"),)))


def test_the_generator_sends_every_flow_once_in_each_round() -> None:
    with Generator() as generator:
        generator.offer(first_frame(Case("gue")), 256, 64)
        flows = {generator.frame()[26:36] for _ in range(256)}
        again = {generator.frame()[26:36] for _ in range(256)}
    assert len(flows) == 256
    assert again == flows
    assert len({flow[4:8] for flow in flows}) == 64


def test_command_prints_json(monkeypatch: pytest.MonkeyPatch) -> None:
    def figures(**_: Any) -> list[Figure]:
        return [Figure("gue", 16384, 20.25, 21.5, 1.5)]

    monkeypatch.setattr("turnout.cli.bench.forwarder", figures)
    result = CliRunner().invoke(command, ["forwarder", "-o", "json"])
    assert result.exit_code == 0
    (case,) = json.loads(result.output)["cases"]
    assert case == {
        "case": "gue",
        "flows": 16384,
        "net_ns_min": 20.25,
        "net_ns_median": 21.5,
        "ratio": 1.5,
    }
    text = CliRunner().invoke(command, ["forwarder"])
    assert text.output.splitlines()[1].split() == ["gue", "16384", "20.2", "21.5", "1.5"]
