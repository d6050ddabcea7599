"""turnout split, as a person runs it."""

import csv
import json
from fractions import Fraction

import pytest
from click.testing import CliRunner, Result

from turnout.cli.split import command
from turnout.split import Rule, evaluate


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, list(arguments))


def test_the_table_says_it_all() -> None:
    result = run("a=3", "b=5", "c=11", "--width", "5", "--rules", "3")
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines() if line]
    assert lines[0] == ["width:", "5", "bits"]
    assert ["PATTERN", "TARGET", "SHARE"] in lines
    rules = [line for line in lines if set(line[0]) <= set("01*")]
    assert len(rules) == 3
    assert rules[-1][:2] == ["*****", "c"]
    assert sum(float(line[2].rstrip("%")) for line in rules) == 100
    achieved = {line[0]: int(line[3]) for line in lines if line[0] in "abc" and len(line) == 4}
    assert sum(achieved.values()) == 32
    assert ["error,", "l1:"] in [line[:2] for line in lines]


def test_json_is_exact_and_its_rules_do_what_it_says() -> None:
    result = run("3:5:11", "--width", "16", "--rules", "8", "--norm", "linf_plus", "-o", "json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    rules = [Rule(r["prefix"], r["length"], int(r["target"])) for r in document["rules"]]
    assert len(rules) == 8
    got = evaluate(rules, 16, 3)
    assert got == [target["addresses"] for target in document["targets"]]
    wanted = [Fraction(target["requested"]) for target in document["targets"]]
    assert wanted == [Fraction(w * 65536, 19) for w in (3, 5, 11)]
    assert Fraction(document["error"]) == max(g - w for g, w in zip(got, wanted, strict=True))
    assert document["error"] == document["errors"]["linf_plus"]
    assert document["exact_rules"] is None


def test_csv_has_the_rules() -> None:
    result = run("12:11:9", "--width", "5", "-o", "csv")
    assert result.exit_code == 0
    rows = list(csv.DictReader(result.stdout.splitlines()))
    assert len(rows) == 5
    assert sum(Fraction(row["share"]) for row in rows if row["target"] == "0") == Fraction(12, 32)


def test_without_a_width_the_fewest_bits_below_one_percent() -> None:
    result = run("1:2")
    assert result.stdout.splitlines()[0] == "width: 6 bits, the fewest that will do"
    for bits, near in ((5, False), (6, True)):
        document = json.loads(run("1:2", "--width", str(bits), "-o", "json").stdout)
        assert (Fraction(document["error"]) / 2**bits < Fraction(1, 100)) == near


def test_the_curve_ends_where_more_rules_no_longer_help() -> None:
    result = run("12:11:9", "--width", "5", "--curve", "-o", "json")
    assert [row["error"] for row in json.loads(result.stdout)] == ["20", "9", "4", "1", "0"]
    assert "    5    0.0  0.000000000" in run("12:11:9", "--width", "5", "--curve").stdout


def test_an_error_that_may_be_made_saves_rules() -> None:
    document = json.loads(
        run("12:11:9", "--width", "5", "--max-error", "1/32", "-o", "json").stdout
    )
    assert (len(document["rules"]), document["exact_rules"], document["error"]) == (4, 5, "1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["1:x"], "weight 2: 'x': expected a number of 0 or more"),
        (["1:-2"], "weight 2: '-2': expected a number"),
        (["1:nan"], "weight 2: 'nan': expected a number"),
        (["1:1e9"], "weight 2: '1e9': expected a number"),
        (["1:1/0"], "weight 2: '1/0': expected a number"),
        (["1:" + "9" * 101], "weight 2: '9999999"),
        (["1::2"], "weight 2: '': expected a number"),
        (["a=1", "a=2"], "weight 2: 'a' twice: expected each target once"),
        (["a=1", "2"], "weight 2: '2': expected NAME=WEIGHT"),
        (["0:0"], "weights: all are zero"),
        (["1:2", "--width", "63"], "width: 63: expected 0 to 62"),
        (["1:2", "--width", "-1"], "width: -1: expected 0 to 62"),
        (["1:2:3", "--width", "1"], "targets: 3: expected 1 to 2 for width 1"),
        (["1:2", "--rules", "0"], "budget: 0: expected an integer >= 1"),
        (["1:2", "--rules", "many"], "'many' is not a valid integer"),
        (["1:2", "--norm", "any"], "'any' is not one of 'linf'"),
        (["1:1:1", "--rules", "2"], "--rules: the error stays at 33.3333%"),
        (["1:2", "--max-error", "0"], "--max-error: the error stays at"),
        (
            ["1:2", "--width", "4", "--max-error", "0.1%"],
            "--max-error: 0.1000%: expected at least 2.0833%",
        ),
        (["1:2", "--width", "4", "--max-error", "little"], "--max-error: 'little': expected"),
        (["1:2", "--max-error", "1%", "--rules", "3"], "--max-error: expected without --rules"),
    ],
)
def test_what_is_wrong_is_said_and_is_status_2(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""
