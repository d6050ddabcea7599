"""turnout split diff, as a person runs it."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from turnout.cli import main


def run(*arguments: str, input: str | None = None) -> Result:
    return CliRunner().invoke(main, ["split", *arguments], input=input)


def owners(rules: list[dict[str, str]]) -> list[str]:
    """The target of each address, by the patterns alone: most bits win."""
    width = len(rules[0]["pattern"])
    found = []
    for address in range(1 << width):
        bits = f"{address:0{width}b}"
        matching = [
            rule
            for rule in rules
            if all(p in ("*", b) for p, b in zip(rule["pattern"], bits, strict=True))
        ]
        found.append(min(matching, key=lambda rule: rule["pattern"].count("*"))["target"])
    return found


def apply(
    rules: list[dict[str, str]], step: dict[str, list[dict[str, str]]]
) -> list[dict[str, str]]:
    assert all(rule in rules for rule in [*step["removed"], *step["kept"]])
    after = [rule for rule in rules if rule not in step["removed"]] + step["added"]
    assert len(after) == len(step["kept"]) + len(step["added"])
    return after


def moved(old: list[str], new: list[str]) -> int:
    return sum(a != b for a, b in zip(old, new, strict=True))


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A table of a, b and c as JSON, and one of c, a and d as CSV, both of 8 bits."""
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text(run("a=3", "b=5", "c=11", "--width", "8", "-o", "json").stdout)
    new.write_text(run("c=9", "a=4", "d=5", "--width", "8", "--rules", "6", "-o", "csv").stdout)
    return str(old), str(new)


def test_files_are_compared_by_the_names_of_their_targets(files: tuple[str, str]) -> None:
    result = run("diff", *files, "--max-churn", "1/10", "-o", "json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    printed = json.loads(Path(files[0]).read_text())["rules"]
    old = [{"pattern": rule["pattern"], "target": rule["target"]} for rule in printed]
    new = apply(old, found["rules"])
    before, after = owners(old), owners(new)
    assert {target["target"] for target in found["targets"]} == {"a", "b", "c", "d"}
    for target in found["targets"]:
        assert before.count(target["target"]) == target["old"]
        assert after.count(target["target"]) == target["new"]
    assert found["churn"] == moved(before, after)
    least = sum(max(0, target["new"] - target["old"]) for target in found["targets"])
    assert Fraction(found["least_churn"]) == least
    assert found["front"] == []
    table = old
    for step in found["plan"]:
        was, table = owners(table), apply(table, step)
        assert step["churn"] == moved(was, owners(table)) <= 25
    assert sorted(map(str, table)) == sorted(map(str, new))
    assert len(found["plan"]) == -(-found["churn"] // 25)
    # CSV says the same as JSON.
    again = run("a=3", "b=5", "c=11", "--width", "8", "-o", "csv").stdout
    same = run("diff", "-", files[0], "-o", "json", input=again)
    assert json.loads(same.stdout)["churn"] == 0


def test_new_weights_have_a_front(files: tuple[str, str]) -> None:
    asked = ("diff", files[0], "a=4 c=9 d=5", "--max-error", "1%", "-o", "json")
    found = json.loads(run(*asked).stdout)
    front = found["front"]
    assert len(front) > 1
    assert [point["taken"] for point in front] == [True] + [False] * (len(front) - 1)
    assert found["churn"] == front[0]["churn"]
    assert all(Fraction(point["error"]) * 100 <= 256 for point in front)
    assert len(found["rules"]["added"] + found["rules"]["kept"]) == front[0]["rules"]
    # What goes in one step is taken, if anything does; else there is a plan for the fewest rules.
    share = str(Fraction(front[-1]["churn"], 256))
    last = json.loads(run(*asked, "--max-churn", share).stdout)
    assert [point["taken"] for point in last["front"]] == [False] * (len(front) - 1) + [True]
    assert len(last["plan"]) == 1
    planned = json.loads(run(*asked, "--max-churn", "1/256").stdout)
    assert len(planned["plan"]) == planned["churn"] == front[0]["churn"]


def test_weights_alone_and_a_budget() -> None:
    result = run("diff", "3:5:11", "3:6:10", "--width", "12", "--rules", "5", "-o", "json")
    found = json.loads(result.stdout)
    assert all(point["rules"] <= 5 for point in found["front"])
    assert sum(target["new"] for target in found["targets"]) == 1 << 12
    # Without a width, what the one that needs more bits needs.
    widths = {
        text: json.loads(run(text, "-o", "json").stdout)["width"] for text in ("1:1:2", "3:6:10")
    }
    found = json.loads(run("diff", "1:1:2", "3:6:10", "-o", "json").stdout)
    assert found["width"] == max(widths.values()) > min(widths.values())


def test_the_table_says_it_all(files: tuple[str, str]) -> None:
    result = run("diff", files[0], "a=4 c=9 d=5", "--max-error", "1%", "--max-churn", "20%")
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["width:", "8", "bits"]
    for head in (
        "TARGET OLD NEW",
        "RULE PATTERN TARGET",
        "RULES CHURN ERROR TAKEN",
        "STEP CHURN RULES CHANGE PATTERN TARGET",
    ):
        assert head.split() in lines
    assert ["a", "16.0156%"] in [line[:2] for line in lines]
    assert [line for line in lines if line[:1] == ["removed"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["1:2", "missing"],
            "'missing': neither a file nor weights: weight 1: 'missing': expected",
        ),
        (["1:2", "2:1", "--max-churn", "0"], "max_churn: 0: expected at least 1/64"),
        (["1:2", "2:1", "--max-churn", "much"], "--max-churn: 'much': expected a number"),
        (
            ["1:2", "2:1", "--max-churn", "2"],
            "max_churn: 2: expected an integer or Fraction, 0 to 1",
        ),
        (["1:2", "2:1", "--width", "63"], "width: 63: expected 0 to 62"),
        (["1:2", "2:1", "--rules", "0"], "budget: 0: expected"),
        (["1:2", "a=2"], "targets: 0, 1 and a: expected names in common"),
        (["1:2", "0:0"], "weights: all are zero"),
        (["old.csv", "1:2", "--width", "3"], "width: 2 and 3 bits: expected one"),
        (["old.csv", "wide.csv"], "width: 2 and 3 bits: expected one"),
        (
            ["1:2", "old.csv", "--rules", "3"],
            "--rules, --max-error: expected where NEW are weights",
        ),
        (["1:2", "gap.csv"], "gap.csv: rules: address 2 matches none"),
        (["1:2", "twice.csv"], "twice.csv: rule: prefix 0 of length 0 twice"),
        (["1:2", "mixed.csv"], "mixed.csv:2: pattern '0*1': expected 0 and 1, then *, 3 in all"),
        (["1:2", "weights.csv"], "weights.csv:1: 'a,3': expected rules as `turnout split -o csv`"),
        (["1:2", "empty.csv"], "empty.csv: no rules: expected rules as"),
        (["1:2", "list.json"], "list.json: no list `rules` in an object: expected"),
        (["1:2", "rule.json"], "rule.json: rules[0]: {'pattern': 7}: expected a pattern and a"),
        (["1:2", "broken.json"], "broken.json: line 1, column 2"),
        (["1:2", "bytes.csv"], "bytes.csv: byte 0: expected text in UTF-8"),
        (["1:2", "name.csv"], r"name.csv:2: target: 'a\n1': expected a name of printable"),
        (["1:2", "name.json"], r"name.json: rules[0]: target: '\ud800': expected a name of"),
        (["1:2", "strings.json"], r"strings.json: rules[0]: '\x1b': expected a pattern and a"),
        (["1:2", "a\x1b=1"], r"weight 1: 'a\x1b': expected a name of printable characters"),
        (["1:2"], "Missing argument 'NEW'"),
    ],
)
def test_what_is_wrong_is_said_and_is_status_2(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    head = "pattern,target,share\n"
    for name, content in {
        "old.csv": head + "0*,0,0.5\n1*,1,0.5\n",
        "wide.csv": head + "***,0,1\n",
        "gap.csv": head + "0*,0,0.5\n",
        "twice.csv": head + "**,0,0.5\n**,1,0.5\n",
        "mixed.csv": head + "0*1,0,1\n",
        "weights.csv": "a,3\n",
        "empty.csv": head,
        "list.json": "[1, 2]",
        "rule.json": '{"rules": [{"pattern": 7}]}',
        "broken.json": "{",
        "name.csv": head + '*,"a\n1",1\n',
        "name.json": '{"rules": [{"pattern": "*", "target": "\\ud800"}]}',
        "strings.json": '{"rules": ["\\u001b"]}',
    }.items():
        Path(name).write_text(content)
    Path("bytes.csv").write_bytes(b"\xff")
    result = run("diff", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_weights_may_be_longer_than_the_name_of_a_file() -> None:
    many = " ".join(f"target{n}=1" for n in range(64))
    result = run("diff", many, f"{many} one=0", "-o", "json")
    assert (result.exit_code, json.loads(result.stdout)["churn"]) == (0, 0)


def test_both_words_are_a_command_and_weights_are_as_before() -> None:
    assert run("3:5:11", "--width", "5").stdout.startswith("width: 5 bits")
    assert "Usage: turnout split diff [OPTIONS] OLD NEW" in run("diff", "--help").stdout.replace(
        "main", "turnout"
    )
    assert "split diff" in CliRunner().invoke(main, ["--help"]).stdout
