"""Tables: time to build and to hand over, slots that move. python -m bench.maglev [-o json]

Each time is the median of rounds in which everything is measured in turn, and is given as a ratio
to the reference of the same round.
"""

import ctypes
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from bench.maglev.baselines import POINTS, rendezvous, ring
from turnout import maglev
from turnout.cli.output import output_option, print_json, table
from turnout.kernel.bpf import MAP_ARRAY, Map
from turnout.plan import PlannedTable
from turnout.xdp.tables import inner_map, rows

ROUNDS = 9
SIZE = 65_537


def timed(*actions: Callable[[], Any]) -> list[list[float]]:
    """Milliseconds of each action in each round."""
    found: list[list[float]] = [[] for _ in actions]
    for _ in range(ROUNDS):
        for times, action in zip(found, actions, strict=True):
            begin = time.perf_counter()
            action()
            times.append((time.perf_counter() - begin) * 1e3)
    return found


def compare(case: str, ours: list[float], reference: list[float]) -> dict[str, Any]:
    ratios = [a / b for a, b in zip(ours, reference, strict=True)]
    return {
        "case": case,
        "ms_median": round(statistics.median(ours), 4),
        "reference_ms_median": round(statistics.median(reference), 4),
        "ratio_median": round(statistics.median(ratios), 4),
    }


def builds(folder: Path) -> list[dict[str, Any]]:
    """Exact build against the paper's loop in C."""
    library = folder / "reference.so"
    source = Path(__file__).with_name("reference.c")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    paper = ctypes.CDLL(str(library)).paper_table
    found = []
    for members, size in ((10, 65_537), (100, 65_537), (1000, 65_537), (1000, 655_373)):
        names = [f"backend-{i}" for i in range(members)]
        preferences = np.array([maglev.preference(n, size) for n in sorted(names)], np.uint32)
        offsets, skips = (np.ascontiguousarray(column) for column in preferences.T)
        entry = np.empty(size, np.int32)

        def reference(
            offsets: Any = offsets, skips: Any = skips, entry: Any = entry, members: int = members
        ) -> None:
            pointers = (ctypes.c_void_p(a.ctypes.data) for a in (offsets, skips))
            paper(*pointers, members, len(entry), ctypes.c_void_p(entry.ctypes.data))

        for kind, weights in (
            ("equal", [1] * members),
            ("1..10", [1 + i % 10 for i in range(members)]),
        ):

            def ours(names: Any = names, weights: Any = weights, size: int = size) -> None:
                maglev.build(names, weights, size)

            times = timed(ours, reference)
            found.append(compare(f"build, {members} members, {size} slots, weights {kind}", *times))
        order = sorted(range(members), key=names.__getitem__)
        built = maglev.build(names, [1] * members, size)
        assert [order[i] for i in entry] == built.tolist(), "not the paper's table"
    return found


def hand_over() -> list[dict[str, Any]]:
    """A whole table as rows of an inner map against a batch of as many u32 entries."""
    size, members = SIZE, 100
    names = tuple(f"backend-{i}" for i in range(members))
    numbers = tuple(range(1, members + 1))
    indices = maglev.build(names, [1] * members, size)
    planned = PlannedTable("web", size, names, (1,) * members, numbers, indices)
    flat = Map.create("reference", MAP_ARRAY, 4, 4, size)
    keys = np.arange(size, dtype=np.uint32).tobytes()
    values = indices.astype(np.uint32).tobytes()
    content = rows(planned)
    with inner_map(planned) as inner:
        row_keys = np.arange(len(content), dtype=np.uint32).tobytes()
        raw = content.tobytes()
        times = timed(
            lambda: inner.update_batch(row_keys, raw, len(content)),
            lambda: flat.update_batch(keys, values, size),
        )

    def whole() -> None:
        with inner_map(planned):
            pass

    made = timed(whole, lambda: flat.update_batch(keys, values, size))
    flat.close()
    return [
        compare(f"hand-over, {size} slots: copy into an unreferenced inner map", *times),
        compare("the same with making rows and map", *made),
    ]


def moves() -> list[dict[str, Any]]:
    """Flows (or slots) that move needlessly, and how far shares are off what is due."""
    found = []
    for members in (100, 1000):
        names = [f"backend-{i}" for i in range(members)]
        for down, word in ((1, "one down"), (members // 10, "10 % down")):
            case = f"{members} members, {word}"
            found.append({"case": f"second tries, {case}"} | second_tries(names, down))
            for name, build in (
                ("Maglev rebuilt", rebuilt),
                (f"ring, {POINTS} points a member", ring),
                ("rendezvous", rendezvous),
            ):
                old, new = build(names, SIZE), build(names[down:], SIZE)
                d = maglev.disruption(old, names, new, names[down:])
                shares = np.bincount(new, minlength=members - down)
                found.append({"case": f"{name}, {case}"} | row(d.moved, d.excess, shares))
    return found


def rebuilt(names: Sequence[str], size: int) -> NDArray[np.uint16]:
    return maglev.build(names, [1] * len(names), size)


def second_tries(names: Sequence[str], down: int) -> dict[str, Any]:
    """Flows evenly over all slots, so many that what chance does to shares is small beside a slot."""
    base = rebuilt(names, SIZE)
    everybody = np.ones(len(names), bool)
    usable = np.arange(len(names)) >= down
    random = np.random.default_rng(1)
    moved = excess = returned = 0
    shares = np.zeros(len(names), np.int64)
    for begin in range(0, 1 << 26, 1 << 22):
        h = np.arange(begin, begin + (1 << 22), dtype=np.uint64) << np.uint64(6)
        hashes = (h + random.integers(0, 64, len(h), np.uint64)) << np.uint64(32)
        before = maglev.lookup(base, hashes, everybody)
        after = maglev.lookup(base, hashes, usable)
        moved += int((before != after).sum())
        excess += int(((before != after) & usable[before]).sum())
        returned += int((maglev.lookup(base, hashes, everybody) != before).sum())
        shares += np.bincount(after, minlength=len(names))
    return row(moved, excess, shares[down:]) | {"moved_after_return": returned}


def row(moved: int, excess: int, shares: NDArray[np.int64]) -> dict[str, Any]:
    total = int(shares.sum())
    off = 100 * (shares * len(shares) / total - 1)
    return {
        "moved_percent": round(100 * moved / total, 3),
        "excess_percent": round(100 * excess / total, 3),
        "most_over_due_percent": round(float(off.max()), 2),
        "most_under_due_percent": round(float(off.min()), 2),
    }


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@output_option
def command(output: str) -> None:
    """Tables: time to build and to hand over, and what moves when members go. Needs root."""
    with tempfile.TemporaryDirectory() as folder:
        times = builds(Path(folder)) + hand_over()
    disruptions = moves()
    if output == "json":
        print_json({"times": times, "moves": disruptions})
        return
    for found in (times, disruptions):
        head = list(found[0])
        print(table([name.upper() for name in head], [[r.get(n) for n in head] for r in found]))
        print()


if __name__ == "__main__":
    command()
