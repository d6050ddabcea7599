"""The experiments on splits, at sizes at which they take no time."""

from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import split
from bench.split import error, excess, memory, reference, relative, times, truncation, weights
from bench.split.__main__ import EXPERIMENTS
from turnout.split import Transaction, count, evaluate, from_transactions


def test_every_partition_is_as_likely_as_another() -> None:
    found = Counter(map(tuple, split.partitions(9_000, 3, 3)))
    assert len(found) == 45  # 10 over 2
    assert all(sum(partition) == 8 and min(partition) >= 0 for partition in found)
    # 200 each, deviation 14.
    assert all(130 < drawn < 270 for drawn in found.values())


def test_instances_are_the_same_each_time() -> None:
    for make in (split.pareto, split.bimodal):
        assert make(3, 10) == make(3, 10)
        assert all(weight >= 0 for made in make(3, 10) for weight in made)
    assert split.partitions(3, 10, 8) == split.partitions(3, 10, 8)


@settings(max_examples=60)
@given(st.integers(1, 9), st.integers(4, 12))
def test_the_reference_induces_the_partition_with_as_few_rules(targets: int, width: int) -> None:
    for partition in split.partitions(3, targets, width):
        steps = reference.transactions(partition, width)
        assert len(steps) + 1 == count(partition, width)
        left = list(partition)
        for level, giver, taker in steps:
            left[giver] -= 1 << level
            left[taker] += 1 << level
        root = left.index(1 << width)
        table = [Transaction(width - level, giver, taker) for level, giver, taker in steps]
        rules = from_transactions([*table, Transaction(0, root, None)])
        assert evaluate(rules, width, targets) == partition


def test_the_error_falls_with_rules_and_is_what_the_tables_say() -> None:
    rows = {(row["k"], row["W"], row["n"]): row for row in error.measure(10)}
    for cases in (error.RULES, error.RATIO):
        for one, other in pairwise(cases):
            if one[:2] == other[:2]:
                assert rows[one]["mean"] >= rows[other]["mean"]
    assert 0.009 < rows[10, 16, 10]["mean"] < 0.017
    assert all(row["variance"] >= 0 for row in rows.values())


def test_the_excess_is_no_larger_than_the_error() -> None:
    assert all(row["linf_plus"] <= row["linf"] for row in excess.measure(4))


def test_each_kind_of_weights_gets_better_with_rules() -> None:
    rows = weights.measure(5)
    assert [row["weights"] for row in rows[:: len(weights.RULES)]] == [
        "uniform",
        "Pareto",
        "bimodal",
    ]
    for one, other in pairwise(rows):
        assert one["weights"] != other["weights"] or one["mean"] > other["mean"]
    assert all(row["one in ten below"] <= row["one in ten above"] for row in rows)


def test_no_truncation_is_better_than_the_optimum() -> None:
    for row in truncation.measure(5):
        assert row["optimum"] <= min(row["Niagara"], row["Bit Matcher"])
        assert row["Niagara, worst ratio"] >= 1
        assert row["Bit Matcher, worst ratio"] >= 1


def test_no_relative_error_is_below_the_optimum_and_more_rules_lower_it() -> None:
    rows = relative.measure(2, (10,))
    assert all(row["optimum"] <= row["Niagara"] for row in rows)
    assert all(more["optimum"] < fewer["optimum"] for fewer, more in pairwise(rows))


def test_rules_are_better_than_as_many_entries() -> None:
    for row in memory.measure(2):
        assert row["rules, linf"] < row["WCMP, linf"]
        assert row["rules, relative excess"] < row["WCMP, relative excess"]


def test_times_have_a_row_for_each_number_of_targets_and_what_is_timed() -> None:
    rows = times.measure(1, (2, 20))
    assert [row["k"] for row in rows] == [2] * 6 + [20] * 6
    assert [row["ratio"] for row in rows if row["what"] == "reference"] == [1, 1]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_the_command_prints_the_table_and_draws(
    experiment: split.Experiment, tmp_path: Path
) -> None:
    small_ones = {
        "times": partial(times.measure, 1, (3, 9)),
        "relative": partial(relative.measure, 1, (3, 9)),
    }
    rows = small_ones.get(experiment.name, partial(experiment.measure, 2))()
    small = split.Experiment(experiment.name, lambda samples: rows[:samples], experiment.draw, 999)
    result = CliRunner().invoke(split.command_of(small), ["--out", str(tmp_path / "new")])
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    path = tmp_path / "new" / f"split-{experiment.name}.svg"
    assert lines[0].split()[0] == next(iter(rows[0])).upper()
    assert lines[len(rows) + 1] == f"drawn: {path}"
    assert ElementTree.parse(path).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    drawn = path.read_bytes()
    split.run(small, tmp_path)
    assert drawn == (tmp_path / path.name).read_bytes()
