"""Lookup tables in the kernel: whole tables as inner maps, put in place in one batch."""

import contextlib
import struct
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from turnout.kernel.bpf import F_INNER_MAP, MAP_ARRAY, BpfError, Map
from turnout.plan import PlannedTable
from turnout.xdp.errors import FullError
from turnout.xdp.layout import COMMON_ROWS, COMMON_SIZE, MAX_TABLES, ROW_BYTES, ROW_ENTRIES

Key = tuple[str, int]


def rows(table: PlannedTable) -> np.ndarray[tuple[int, int], np.dtype[np.uint16]]:
    """Content of the inner map, shape (rows, 4096): the slots' member numbers, then from the next
    row on those of all members, for the walk."""
    numbers = np.array(table.members, np.uint16)
    slots = -(-table.size // ROW_ENTRIES) * ROW_ENTRIES
    members = -(-len(numbers) // ROW_ENTRIES) * ROW_ENTRIES
    common = COMMON_ROWS * ROW_ENTRIES if table.size <= COMMON_SIZE else 0
    content = np.zeros(max(slots + members, common), np.uint16)
    content[: table.size] = numbers[table.indices]
    content[slots : slots + len(numbers)] = numbers
    return content.reshape(-1, ROW_ENTRIES)


@contextlib.contextmanager
def inner_map(table: PlannedTable) -> Iterator[Map]:
    """An inner map that holds the table and that nothing refers to yet. Raises BpfError."""
    content = rows(table)
    inner = _array(len(content), table.size > COMMON_SIZE)
    try:
        keys = np.arange(len(content), dtype=np.uint32).tobytes()
        inner.update_batch(keys, content.tobytes(), len(content))
        yield inner
    finally:
        inner.close()


def _array(count: int, large: bool) -> Map:
    """An array of rows, of any number of them where it is for large tables."""
    flags = F_INNER_MAP if large else 0
    return Map.create("turnout_table", MAP_ARRAY, 4, ROW_BYTES, count, flags)


class Tables:
    """The outer maps, of common and of large tables, with slots of one numbering. A table that changes
    moves to another slot, so that a service goes over to it by its record. Slot 0 is no table's: it
    is written for the wait alone."""

    def __init__(self, common: Map, large: Map) -> None:
        self._outer = {False: common, True: large}
        self._empty = {False: _array(COMMON_ROWS, False), True: _array(1, True)}
        self._taken: dict[int, bool] = {}
        """Slot to whether its table is a large one."""
        self._stale: set[int] = set()
        """Slots to be released that the kernel has refused to."""

    def install(self, tables: Iterable[PlannedTable]) -> dict[Key, int]:
        """Put tables into slots of their own, all of a kind in one batch (each update of an outer
        map waits for a grace period). Raises BpfError or FullError and takes no slot then."""
        slots: dict[Key, int] = {}
        taken: dict[int, bool] = {}
        free = (slot for slot in range(1, MAX_TABLES) if slot not in self._taken)
        with contextlib.ExitStack() as stack:
            descriptors = {}
            for table in tables:
                if (slot := next(free, None)) is None:
                    raise FullError(f"more than {MAX_TABLES - 1} tables at a time")
                slots[table.key] = slot
                descriptors[slot] = stack.enter_context(inner_map(table)).fd
                taken[slot] = table.size > COMMON_SIZE
            self._point(descriptors, taken)
        self._taken |= taken
        return slots

    def settle(self) -> None:
        """Wait until the packets that are being handled now are done, so that none still holds what
        has been replaced. Where the kernel refuses there is no wait."""
        with contextlib.suppress(BpfError):
            self._point({0: self._empty[False].fd}, {0: False})

    def release(self, slots: Iterable[int]) -> None:
        """Let go of tables that no service uses any more, and settle. Raises BpfError; what it could
        not let go of then goes with the next call."""
        self._stale.update(slots)
        gone = {slot: self._taken[slot] for slot in self._stale}
        kinds = {0: False} | gone
        self._point({slot: self._empty[large].fd for slot, large in kinds.items()}, kinds)
        for slot in gone:
            del self._taken[slot]
        self._stale.clear()

    def _point(self, descriptors: Mapping[int, int], kinds: Mapping[int, bool]) -> None:
        for large, outer in self._outer.items():
            slots = [slot for slot in descriptors if kinds[slot] == large]
            if slots:
                count = len(slots)
                to = struct.pack(f"={count}I", *(descriptors[slot] for slot in slots))
                outer.update_batch(struct.pack(f"={count}I", *slots), to, count)

    def close(self) -> None:
        for empty in self._empty.values():
            empty.close()


__all__ = ["Tables", "inner_map", "rows"]
