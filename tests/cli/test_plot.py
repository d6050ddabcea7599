"""turnout split --plot, as a person runs it and as XML."""

import json
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

import turnout.cli
from turnout.cli import plot
from turnout.cli.split import command
from turnout.split import NORMS, Norm, approximate, request

TEXT = "{http://www.w3.org/2000/svg}text"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, list(arguments))


def texts(path: Path) -> list[str]:
    return ["".join(text.itertext()) for text in ElementTree.parse(path).iter(TEXT)]


@pytest.mark.parametrize(
    ("weights", "width"),
    [("3:5:11", 8), ("a=12 b=11 c=9", 5), ("1", 0), ("1:0", 3), ("7:1:1:4:2", 32)],
)
def test_every_rule_is_drawn_with_its_target_and_share(
    weights: str, width: int, tmp_path: Path
) -> None:
    arguments = [*weights.split(), "--width", str(width)]
    said = run(*arguments)
    drawn = run(*arguments, "--plot", str(tmp_path / "split.svg"))
    assert (drawn.exit_code, drawn.stdout, drawn.stderr) == (0, said.stdout, "")
    lines = [line.split() for line in said.stdout.split("\n\n")[1].splitlines()[1:]]
    found = texts(tmp_path / "split.svg")
    assert lines
    assert sorted(lines) == sorted(text.split() for text in found if text.split() in lines)
    assert f"{len(lines)} rules" in found


def test_the_same_split_is_the_same_bytes_and_has_no_date(tmp_path: Path) -> None:
    for name in ("one", "other"):
        run("3:5:11", "--width", "8", "--plot", str(tmp_path / name))
    one = (tmp_path / "one").read_bytes()
    assert one == (tmp_path / "other").read_bytes()
    assert b"date" not in one


@pytest.mark.parametrize("output", ["json", "openflow"])
def test_what_is_printed_is_as_without(output: str, tmp_path: Path) -> None:
    arguments = ("3:5:11", "--width", "6", "-o", output)
    result = run(*arguments, "--plot", str(tmp_path / "split.svg"))
    assert result.stdout == run(*arguments).stdout
    assert texts(tmp_path / "split.svg")


def test_names_are_written_as_they_are(tmp_path: Path) -> None:
    names = ["$a_b$", "<&>", "日本", "_a"]
    asked = json.dumps(dict.fromkeys(names, 1))
    path = tmp_path / "split.svg"
    result = CliRunner().invoke(command, ["--from", "-", "--plot", str(path)], input=asked)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = [text.split() for text in texts(path)]
    drawn = {line[1] for line in lines if len(line) == 3 and set(line[0]) <= set("01*")}
    assert drawn == set(names)


def test_of_many_rules_and_points_it_says_what_is_not_drawn(tmp_path: Path) -> None:
    weights = [str(7 + n * n) for n in range(60)]
    result = run(":".join(weights), "--width", "16", "-o", "csv", "--plot", str(tmp_path / "s.svg"))
    patterns = [line.partition(",")[0] for line in result.stdout.splitlines()[1:]]
    found = texts(tmp_path / "s.svg")
    assert f"the 64 shortest of {len(patterns)} rules" in found
    assert sorted(patterns[-64:]) == sorted(
        t.split()[0] for t in found if t.endswith("%") and "*" in t
    )
    last, points = plot.curve(approximate([*map(int, weights)], 16))
    assert last > len(points) == 100
    assert (points[0][0], points[-1][0]) == (1, last)
    assert f"number of rules (100 of {last} numbers)" in found


def test_the_curve_of_many_targets_has_fewer_points() -> None:
    last, points = plot.curve(approximate([1 + n % 7 for n in range(4000)], 14))
    assert len(points) == 50
    assert (points[0][0], points[-1][0]) == (1, last)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=8).filter(any), st.sampled_from(NORMS))
def test_the_curve_ends_at_the_fewest_rules_of_the_least_error(
    weights: list[int], norm: Norm
) -> None:
    least = approximate(weights, 6, None, norm)
    last, points = plot.curve(least)
    assert [n for n, _ in points] == [*range(1, last + 1)]
    for n, error in points:
        best = approximate(weights, 6, n, norm)
        assert error == float(request.share(best.error, norm, 6))
        assert (best.error == least.error) == (n == last)
    assert all(more >= less for (_, more), (_, less) in pairwise(points))


def test_the_end_of_the_curve_says_whether_it_is_exact(tmp_path: Path) -> None:
    for weights, said in (("12:11:9", "5 rules: exact"), ("1:2", "4 rules: least error, 1.04%")):
        run(weights, "--width", "5", "--plot", str(tmp_path / "split.svg"))
        assert said in texts(tmp_path / "split.svg")


def test_a_file_that_cannot_be_written_is_said_and_nothing_is_printed(tmp_path: Path) -> None:
    for path, why in (
        (tmp_path / "none" / "split.svg", "No such file or directory"),
        (tmp_path, "Is a directory"),
    ):
        for output in ("table", "nft"):
            result = run("1:2", "--plot", str(path), "-o", output)
            assert (result.exit_code, result.stdout) == (2, "")
            assert result.stderr == f"--plot: {path}: {why}\n"


def test_a_batch_is_not_drawn(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        command, ["--batch", "-", "--plot", str(tmp_path / "split.svg")], input='{"weights": [1]}'
    )
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--plot: expected without --batch" in result.stderr


def test_without_matplotlib_it_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "turnout.cli.plot")
    monkeypatch.delattr(turnout.cli, "plot")
    result = run("1:2", "--plot", str(tmp_path / "split.svg"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert (
        result.stderr == "--plot: the package matplotlib is missing: pip install 'turnout[plot]'\n"
    )
    assert run("1:2").exit_code == 0
