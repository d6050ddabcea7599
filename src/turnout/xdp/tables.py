"""Lookup tables in the kernel: whole tables as inner maps, put in place in one batch."""

import contextlib
import struct
from collections.abc import Iterable, Iterator

import numpy as np

from turnout.kernel.bpf import F_INNER_MAP, MAP_ARRAY, Map
from turnout.plan import PlannedTable
from turnout.xdp.layout import MAX_TABLES, ROW_BYTES, ROW_ENTRIES

Key = tuple[str, int]


def rows(table: PlannedTable) -> np.ndarray[tuple[int, int], np.dtype[np.uint16]]:
    """Content of the inner map, shape (rows, 4096): the slots' member numbers, then from the next
    row on those of all members, for the walk."""
    numbers = np.array(table.members, np.uint16)
    slots = -(-table.size // ROW_ENTRIES) * ROW_ENTRIES
    members = -(-len(numbers) // ROW_ENTRIES) * ROW_ENTRIES
    content = np.zeros(slots + members, np.uint16)
    content[: table.size] = numbers[table.indices]
    content[slots : slots + len(numbers)] = numbers
    return content.reshape(-1, ROW_ENTRIES)


@contextlib.contextmanager
def inner_map(table: PlannedTable) -> Iterator[Map]:
    """An inner map that holds the table and that nothing refers to yet. Raises BpfError."""
    content = rows(table)
    inner = Map.create("turnout_table", MAP_ARRAY, 4, ROW_BYTES, len(content), F_INNER_MAP)
    try:
        keys = np.arange(len(content), dtype=np.uint32).tobytes()
        inner.update_batch(keys, content.tobytes(), len(content))
        yield inner
    finally:
        inner.close()


class Tables:
    """The outer map. Slot 0 is none; a table that changes moves to another slot, so that a service
    goes over to it by its record."""

    def __init__(self, outer: Map) -> None:
        self._outer = outer
        self._empty = Map.create("turnout_empty", MAP_ARRAY, 4, ROW_BYTES, 1, F_INNER_MAP)
        self._taken: set[int] = set()

    def install(self, tables: Iterable[PlannedTable]) -> dict[Key, int]:
        """Put tables into slots of their own, all in one batch (each update of an outer map waits
        for a grace period). Raises BpfError and changes nothing where the kernel refuses."""
        slots: dict[Key, int] = {}
        free = (slot for slot in range(1, MAX_TABLES) if slot not in self._taken)
        with contextlib.ExitStack() as stack:
            descriptors = []
            for table in tables:
                descriptors.append(stack.enter_context(inner_map(table)).fd)
                slots[table.key] = next(free)
            self._point(slots.values(), descriptors)
        self._taken.update(slots.values())
        return slots

    def release(self, slots: Iterable[int]) -> None:
        """Let go of tables that no service uses any more."""
        slots = list(slots)
        self._point(slots, [self._empty.fd] * len(slots))
        self._taken.difference_update(slots)

    def _point(self, slots: Iterable[int], descriptors: list[int]) -> None:
        count = len(descriptors)
        if count:
            keys = struct.pack(f"={count}I", *slots)
            self._outer.update_batch(keys, struct.pack(f"={count}I", *descriptors), count)

    def close(self) -> None:
        self._empty.close()


__all__ = ["Tables", "inner_map", "rows"]
