import pytest

from turnout.cli.output import print_json, table


def test_columns_are_aligned_numbers_to_the_right() -> None:
    assert table(
        ["name", "packets", "up"],
        [["www", 5, True], ["a-longer-name", 12345, False], ["none", None, None]],
    ).splitlines() == [
        "name           packets  up",
        "www                  5  yes",
        "a-longer-name    12345  no",
        "none                 -  -",
    ]


def test_a_column_with_words_stands_to_the_left() -> None:
    assert table(["port"], [[80], ["all"]]).splitlines() == ["port", "80", "all"]


def test_without_rows_the_head_remains() -> None:
    assert table(["name", "vip"], []) == "name  vip"


def test_no_cell_is_cut_short() -> None:
    long = "x" * 300
    assert long in table(["reason"], [[long]])


def test_json_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"services": []})
    assert capsys.readouterr().out == '{\n  "services": []\n}\n'
