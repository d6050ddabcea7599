"""Tables: time to build and to hand over, slots that move. python -m bench.maglev [-o json]

Each time is the median of rounds in which everything is measured in turn, and is given as a ratio
to the reference of the same round.
"""

import ctypes
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.maglev.baselines import rendezvous, ring
from turnout import maglev
from turnout.cli.output import print_json, table
from turnout.kernel.bpf import MAP_ARRAY, Map
from turnout.plan import PlannedTable
from turnout.xdp.tables import inner_map, rows

ROUNDS = 9


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
    size, members = 65_537, 100
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
    flat.close()
    return [compare(f"hand-over, {size} slots: copy into an unreferenced inner map", *times)]


def moves() -> list[dict[str, Any]]:
    """Flows (or slots) that move needlessly, and how even the shares are."""
    members, size, count = 1000, 65_537, 1_000_000
    names = [f"backend-{i}" for i in range(members)]
    base = maglev.build(names, [1] * members, size)
    hashes = np.random.default_rng(1).integers(0, 2**64, count, np.uint64)
    everybody = np.ones(members, bool)
    before = maglev.lookup(base, hashes, everybody)
    found = []
    for case, down in (("one down", 1), ("10 % down", members // 10)):
        usable = np.arange(members) >= down
        after = maglev.lookup(base, hashes, usable)
        moved = before != after
        excess = int((moved & usable[before]).sum())
        share = np.bincount(after, minlength=members)[down:] / count * (members - down)
        back = maglev.lookup(base, hashes, everybody)
        found.append(
            row(f"second tries, {case}", int(moved.sum()), excess, count, share.max() - 1)
            | {"moved_after_return": int((back != before).sum())}
        )
        for name, build in (
            ("Maglev rebuilt", lambda n: maglev.build(n, [1] * len(n), size)),
            ("ring, 100 points a member", lambda n: ring(n, size)),
            ("rendezvous", lambda n: rendezvous(n, size)),
        ):
            old, new = build(names), build(names[down:])
            d = maglev.disruption(old, names, new, names[down:])
            share = np.bincount(new, minlength=members - down) / size * (members - down)
            found.append(row(f"{name}, {case}", d.moved, d.excess, size, share.max() - 1))
    return found


def row(case: str, moved: int, excess: int, total: int, over: float) -> dict[str, Any]:
    return {
        "case": case,
        "moved_percent": round(100 * moved / total, 3),
        "excess_percent": round(100 * excess / total, 3),
        "most_over_due_percent": round(100 * float(over), 2),
    }


def main(arguments: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        times = builds(Path(folder)) + hand_over()
    disruptions = moves()
    if list(arguments) == ["-o", "json"]:
        print_json({"times": times, "moves": disruptions})
        return
    for found in (times, disruptions):
        head = list(found[0])
        print(table([name.upper() for name in head], [[r.get(n) for n in head] for r in found]))
        print()


if __name__ == "__main__":
    main(sys.argv[1:])
