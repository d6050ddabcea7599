"""turnout split, as a person runs it."""

import csv
import json
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from turnout.cli import check
from turnout.cli.split import command
from turnout.split import Rule, approximate, evaluate, listing
from turnout.switch import FIELDS, nft, openflow

FLEET = Path(__file__).parents[2] / "examples" / "dual-stack.yaml"


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
        (["a b=1", "--width", "1", "-o", "nft"], "target: 'a b': expected letters"),
        (["1", "--width", "1", "-o", "nft", "--field", "reg0"], "field: reg0: expected one that"),
        (["1:2", "--width", "33", "-o", "openflow"], "width: 33: expected at most 32"),
        (["1:2", "--width", "3", "--curve", "-o", "nft"], "--curve: expected without -o nft"),
        (["1:2", "--max-error", "1%", "--rules", "3"], "--max-error: expected without --rules"),
    ],
)
def test_what_is_wrong_is_said_and_is_status_2(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    "text",
    [
        "a,3\nb,5\nc,11\n",
        "target,weight\r\na, 3\r\n\r\nb,5.0\r\nc,22/2\r\n",
        '{"a": 3, "b": 5.0, "c": "11"}',
        '\n {"a": 0.3, "b": 0.5, "c": 1.1}',
    ],
)
def test_weights_from_a_file_are_those_of_the_command_line(text: str, tmp_path: Path) -> None:
    said = run("a=3", "b=5", "c=11", "--width", "9", "--rules", "4", "-o", "json")
    (tmp_path / "weights").write_text(text)
    options = ["--width", "9", "--rules", "4", "-o", "json"]
    for source, typed in ((str(tmp_path / "weights"), None), ("-", text)):
        result = CliRunner().invoke(command, ["--from", source, *options], input=typed)
        assert (result.exit_code, result.stdout) == (0, said.stdout)


@pytest.mark.parametrize("text", ["3\n5\n11\n", "weight\n3\n5\n11\n", "[3, 5, 11]"])
def test_weights_without_names_are_numbered(text: str) -> None:
    result = CliRunner().invoke(command, ["--from", "-", "--width", "9", "-o", "json"], input=text)
    assert result.stdout == run("3:5:11", "--width", "9", "-o", "json").stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,3\nb,x\n", "weights.csv:2: weight: 'x': expected a number of 0 or more"),
        ("a,3\n\nb\n", "weights.csv:3: 'b': expected target,weight"),
        ("a,3,4\n", "weights.csv:1: 'a,3,4': expected target,weight"),
        ("3\na,4\n", "weights.csv:2: 'a,4': expected one weight"),
        ("a,3\na,4\n", "weights.csv:2: target 'a' twice: expected each once"),
        ("", "weights.csv: no weights: expected target,weight a line, or JSON"),
        ("target,weight\n", "weights.csv: no weights"),
        ('{"a": 3,', "weights.csv: line 1, column 9: "),
        ('{"a": NaN}', "weights.csv: weight a: 'NaN': expected a number"),
        ('{"a": -1}', "weights.csv: weight a: '-1': expected a number"),
        ('{"a": true}', "weights.csv: weight a: 'True': expected a number"),
        ('{"a": 1, "a": 2}', "weights.csv: 'a' twice: expected each name once"),
        ("[" * 100_000, "weights.csv: too deep: expected an object or a list"),
        ("1" * 200_000, "weights.csv: field larger than field limit"),
        ("[" + "1" * 5000 + "]", "weights.csv: weight 0: '1111"),
        ("[]", "targets: 0: expected 1 to 2"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_line(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("weights.csv").write_text(text)
    result = run("--from", "weights.csv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_weights_come_from_one_place() -> None:
    fleet = ["--fleet", str(FLEET), "--pool", "web"]
    for arguments in (
        [],
        ["1:2", "--from", "-"],
        ["1:2", "--batch", "-"],
        ["1:2", *fleet],
        ["--from", "-", *fleet],
        ["--batch", "-", *fleet],
    ):
        result = run(*arguments)
        assert result.exit_code == 2
        assert "expected one of WEIGHTS, --from, --batch and --fleet" in result.stderr


def test_of_a_fleet_one_pool_or_service_is_asked_for() -> None:
    for arguments in (
        ["--fleet", str(FLEET)],
        ["--fleet", str(FLEET), "--pool", "web", "--service", "www"],
        ["1:2", "--pool", "web"],
        ["1:2", "--service", "www"],
    ):
        result = run(*arguments)
        assert result.exit_code == 2
        assert "expected --pool or --service with --fleet, and only with it" in result.stderr


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (["--pool", "web"], ["web1=2", "web3=1"]),  # web2 drains
        (["--pool", "dns"], ["dns1=1", "dns2=1"]),
        (["--pool", "everything"], ["web1=2", "web3=1", "dns1=1", "dns2=1"]),
        (["--service", "www"], ["lb1=1", "lb2=1"]),
        (["--service", "sticky"], ["lb1=1", "lb2=1"]),
    ],
)
def test_weights_of_a_fleet_are_those_of_the_command_line(
    asked: list[str], words: list[str]
) -> None:
    for options in (["-o", "json"], ["--width", "8", "--rules", "3", "-o", "nft"]):
        result = run("--fleet", str(FLEET), *asked, *options)
        assert (result.exit_code, result.stdout) == (0, run(*words, *options).stdout)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            ["--pool", "wed"],
            "no pool is named 'wed': expected one of web, dns, everything\n",
        ),
        (
            ["--service", "web"],
            "no service is named 'web': expected one of www, www6, dns, sticky\n",
        ),
    ],
)
def test_a_pool_or_service_that_is_not_there_is_one_error(asked: list[str], message: str) -> None:
    result = run("--fleet", str(FLEET), *asked)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", message)


def test_a_pool_in_which_all_drain_has_no_split(tmp_path: Path) -> None:
    file = tmp_path / "turnout.yaml"
    text = FLEET.read_text()
    file.write_text(
        text.replace("{dns1: {}, dns2: {}}", "{dns1: {drain: true}, dns2: {drain: true}}")
    )
    result = run("--fleet", str(file), "--pool", "dns")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "pool dns: every member drains: expected one that does not\n"


def test_a_fleet_with_errors_is_refused_as_check_does(tmp_path: Path) -> None:
    file = tmp_path / "turnout.yaml"
    file.write_text(FLEET.read_text().replace("weight: 2", "weight: 0"))
    said = CliRunner().invoke(check.command, [str(file)]).stderr.splitlines()
    result = run("--fleet", str(file), "--pool", "web")
    assert (result.exit_code, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 2
    assert result.stderr.splitlines() == said[:-1]  # the last line counts them
    missing = run("--fleet", str(tmp_path / "none.yaml"), "--pool", "web")
    assert missing.exit_code == 2
    assert "none.yaml:1:1: cannot read: No such file" in missing.stderr


def test_a_batch_answers_every_line_whatever_is_in_the_others() -> None:
    lines: list[str | bytes] = [
        '{"weights": {"a": 3, "b": 5, "c": 11}, "width": 16, "rules": 8, "norm": "linf_plus"}',
        "{",
        "",
        "7",
        '{"width": 4}',
        '{"weights": "1:2", "widht": 4}',
        '{"weights": [1, -2]}',
        '{"weights": [1, 2], "width": "4"}',
        '{"weights": [1, 2], "width": 4, "rules": true}',
        '{"weights": [1, 2], "width": 4, "norm": []}',
        '{"weights": [1, 2], "max_error": "1%", "rules": 2}',
        '{"weights": [1e400, 2]}',
        '{"weights": "12:11:9", "width": 5, "max_error": "1/32"}',
        b'{"weights": {"\xff": 1}}',
        '{"weights": null}',
        '{"weights": [1], "width": ' + "9" * 5000 + "}",
    ]
    text = b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines)
    result = CliRunner().invoke(command, ["--batch", "-"], input=text)
    assert result.exit_code == 2
    answers = {answer["line"]: answer for answer in map(json.loads, result.stdout.splitlines())}
    assert sorted(answers) == [1, 2, *range(4, 17)]
    asked = ("a=3", "b=5", "c=11", "--width", "16", "--rules", "8", "--norm", "linf_plus")
    assert answers[1] == {"line": 1, **json.loads(run(*asked, "-o", "json").stdout)}
    assert len(answers[13]["rules"]) == 4
    for line, message in (
        (2, "request: line 1, column 2"),
        (4, "request: '7': expected an object"),
        (5, "weights: missing"),
        (6, "widht: not known: expected one of weights, width, rules, norm, max_error"),
        (7, "weight 1: '-2': expected a number"),
        (8, "width: '4': expected an integer"),
        (9, "budget: True: expected an integer >= 1"),
        (10, "norm: []: expected one of linf"),
        (11, "max_error: expected without rules"),
        (12, "weight 0: '1e400': expected a number"),
        (14, "request: byte 14: expected text in UTF-8"),
        (15, "weights: None: expected an object, a list or text"),
        (16, "width: '9999"),
    ):
        assert message in answers[line]["refused"]
        assert answers[line].keys() == {"line", "refused"}


def test_a_batch_without_errors_ends_well() -> None:
    result = CliRunner().invoke(command, ["--batch", "-"], input='{"weights": [1, 2]}')
    assert (result.exit_code, len(result.stdout.splitlines())) == (0, 1)


def test_flows_and_rulesets_are_those_of_the_split() -> None:
    split = approximate([3, 5, 11], 8, 6)
    options = ("--width", "8", "--rules", "6", "-o")
    flows = run("p1=3", "p2=5", "7=11", *options, "openflow")
    made = openflow.flows(split, ["p1", "p2", "7"], FIELDS["nw_src"])
    assert flows.stdout.splitlines() == [*map(str, made)]
    rules = run("a=3", "b=5", "c=11", *options, "nft", "--field", "ipv6_src")
    assert rules.stdout == nft.ruleset(split, "abc", FIELDS["ipv6_src"]) + "\n"


def test_without_names_the_targets_are_the_first_ports() -> None:
    lines = run("3:5:11", "--width", "8", "-o", "openflow").stdout.splitlines()
    assert {line.rpartition(":")[2] for line in lines} == {"1", "2", "3"}


def test_many_names_are_read_once_each() -> None:
    text = json.dumps({"weights": {str(n): 1 for n in range(1 << 16)}, "width": 16, "rules": 3})
    result = CliRunner().invoke(command, ["--batch", "-"], input=text)
    assert result.exit_code == 0
    assert len(json.loads(result.stdout)["targets"]) == 1 << 16


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "weights").write_bytes(b"a,1\n\xff,2\n")
    result = run("--from", str(tmp_path / "weights"))
    assert result.exit_code == 2
    assert "weights: byte 4: expected text in UTF-8" in result.stderr


names = st.text(st.characters(exclude_categories=()), min_size=1, max_size=4)


@pytest.mark.parametrize("name", ["\ud800", "a\nb", "\x00", "\x1b[31m", "\u202e", "\u2028", "a\r"])
def test_a_name_that_cannot_be_printed_is_refused(name: str) -> None:
    message = f"{name!r}: expected a name of printable characters\n"
    result = run(f"{name}=1", "b=2")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"weight 1: {message}"
    document = json.dumps({name: 1, "b": 2})
    result = CliRunner().invoke(command, ["--from", "-"], input=document)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"<stdin>: weights: {message}"
    result = CliRunner().invoke(command, ["--batch", "-"], input=f'{{"weights": {document}}}')
    assert result.exit_code == 2
    assert json.loads(result.stdout) == {"line": 1, "refused": f"weights: {message[:-1]}"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"a\nb",1\n', r"<stdin>:1: target: 'a\nb': expected a name of printable characters"),
        ("a,1\n\x1b[31m,2\n", r"<stdin>:2: target: '\x1b[31m': expected a name of printable"),
        (",1\n", "<stdin>:1: target: '': expected a name of printable characters"),
        ('{"": 1}', "<stdin>: weights: '': expected a name of printable characters"),
        ('{"weights": "a\\u0001=1"}', r"<stdin>: weight weights: 'a\x01=1': expected a number"),
    ],
)
def test_a_name_in_a_file_is_refused_with_its_place(text: str, message: str) -> None:
    result = CliRunner().invoke(command, ["--from", "-"], input=text)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


@given(names)
def test_a_name_is_printed_as_it_is_or_refused_in_a_line(name: str) -> None:
    document = json.dumps({name: 3, "other": 5})
    for output in ("table", "csv", "json", "openflow", "nft"):
        options = ["--from", "-", "--width", "4", "-o", output]
        result = CliRunner().invoke(command, options, input=document)
        if output in ("table", "csv", "json"):
            assert result.exit_code == (0 if name.isprintable() else 2)
        if result.exit_code:
            assert (result.exit_code, result.stdout) == (2, "")
            assert result.stderr[:-1].isprintable()
            assert repr(name)[1:-1] in result.stderr
        elif output in ("csv", "json"):
            table = listing.read(result.stdout, output)
            assert set(table.names) == {name, "other"}
            assert evaluate(table.rules, 4, 2) in ([6, 10], [10, 6])
        else:
            assert name in result.stdout


def test_a_sample_that_is_far_from_uniform_is_told_beside_the_answer(tmp_path: Path) -> None:
    sample = tmp_path / "seen.csv"
    sample.write_text("client\n" + "".join(f"10.0.0.{2 * n}\n" for n in range(128)) * 20)
    words = ("1:1", "--width", "8", "-o", "csv")
    plain, told = run(*words), run(*words, "--sample", str(sample))
    assert told.stdout == plain.stdout
    assert plain.stderr == ""
    # Half of the addresses, by the highest of the 8 bits: that is fair. By the lowest it is not.
    assert told.stderr == ""
    one = run("1:1", "--width", "1", "--sample", str(sample))
    assert one.stderr.splitlines() == [
        f"{sample}: 0 would get 100.00% of 2560 packets, not 50.00%",
        f"{sample}: 1 would get 0.00% of 2560 packets, not 50.00%",
        f"{sample}: the lowest bit of nw_src is far from uniform: expected another field, or a hash",
    ]
    missing = run("1:1", "--sample", str(tmp_path / "none"))
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert str(tmp_path / "none") in missing.stderr
