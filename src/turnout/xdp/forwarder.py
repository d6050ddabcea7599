"""The XDP data plane: applies plans to the forwarder's maps, attaches it, counts."""

import contextlib
import ctypes
import struct
from collections.abc import Mapping, Sequence

import numpy as np

from turnout.config import Mode
from turnout.core import least_prime, native, reasons, service_key
from turnout.kernel.bpf import BpfError, Link, Map, Object
from turnout.plan import (
    Counters,
    Plan,
    PlannedMember,
    PlannedService,
    PlannedTable,
    PlannedVip,
    Tally,
)
from turnout.xdp import layout
from turnout.xdp.attachment import attach, detach, lost, modes_in_force, require_kernel
from turnout.xdp.errors import DataPlaneError
from turnout.xdp.layout import Member, Service
from turnout.xdp.services import ServiceTable, TableFullError
from turnout.xdp.tables import Tables


class Forwarder:
    """One loaded forwarder. Until `attach` it sees no packet."""

    def __init__(self) -> None:
        """Load. Raises DataPlaneError on a kernel too old, without rights, or where the built
        object is not the one that this code knows."""
        require_kernel()
        try:
            self._object = Object(native("forwarder.bpf.o"))
        except (BpfError, FileNotFoundError) as error:
            raise DataPlaneError(f"load the forwarder: {error}") from error
        self.program = self._object.programs["forwarder"]
        self.maps = self._object.maps
        for name, size in layout.VALUE_SIZES.items():
            if self.maps[name].value_size != size:
                found = self.maps[name].value_size
                self._object.close()
                raise DataPlaneError(f"map {name} has values of {found} bytes, expected {size}")
        self._memory = [
            self.maps[name].memory()
            for name in (".data.buckets", ".data.services", ".data.members", ".data.filter")
        ]
        self._services = ServiceTable(self._memory[0], self._memory[1], self._memory[3])
        self._members = (Member * layout.MAX_MEMBERS).from_buffer(self._memory[2])
        self._tables = Tables(self.maps["tables"], self.maps["large_tables"])
        self._links: dict[str, Link] = {}
        self._mode: Mode = "auto"
        self._plan: Plan | None = None
        self._slots: dict[tuple[str, int], int] = {}
        self._records: dict[int, tuple[int, bytes]] = {}
        """What was put, by number: key and record."""
        self._egress: set[int] = set()

    def attach(self, interfaces: Sequence[str], mode: Mode) -> None:
        """Let the forwarder see the packets of these interfaces, all or none.

        Raises DataPlaneError.
        """
        self._links = attach(self.program, interfaces, mode)
        self._mode = mode

    def restore(self) -> None:
        """Attach again where an interface was deleted and has come back.

        Raises DataPlaneError where one is there and cannot be attached to.
        """
        for name in lost(self._links):
            fresh = attach(self.program, [name], self._mode)
            detach({name: self._links[name]})
            self._links.update(fresh)

    def modes(self) -> Mapping[str, str]:
        """Interface name to the mode in force."""
        return modes_in_force(self._links)

    def apply(self, plan: Plan) -> None:
        """Make `plan` the content of every table; only what differs is written.

        Whatever can fail is done first and is invisible to packets. Then new members, services
        that are new, members and services that change, and what goes: make before break.
        Raises DataPlaneError; what was in force then still is.
        """
        old = self._plan
        tables = self._changed_tables(plan)
        try:
            self._open_egress(plan)
            fresh = self._tables.install(tables)
        except BpfError as error:
            raise DataPlaneError(f"apply: {error}") from error
        slots = {t.key: fresh.get(t.key) or self._slots[t.key] for t in plan.tables}
        records = self._records_of(plan, slots)

        before = {m.number for m in old.members} if old else set()
        for member in plan.members:
            if member.number not in before:
                self._write_member(member)
        added: list[int] = []
        try:
            for number in records.keys() - self._records.keys():
                self._clear(self.maps["service_counters"], number)
                self._services.put(number, *_unpacked(records[number]))
                added.append(number)
        except (TableFullError, BpfError) as error:
            for number in added:
                self._services.remove(number)
            with contextlib.suppress(BpfError):
                self._tables.release(fresh.values())
            raise DataPlaneError(f"apply: service table: {error}") from error

        for member in plan.members:
            if member.number in before:
                self._change_member(member)
        for number in records.keys() & self._records.keys():
            if records[number] != self._records[number]:
                self._services.put(number, *_unpacked(records[number]))
        for number in self._records.keys() - records.keys():
            self._services.remove(number)
        gone = before - {m.number for m in plan.members}
        for number in gone:
            self._members[number].state = 0
        stale = [slot for key, slot in self._slots.items() if slots.get(key) != slot]
        self._plan, self._slots, self._records = plan, slots, records
        # Memory alone is at stake: what cannot be given back now is given back at the next apply.
        with contextlib.suppress(BpfError):
            self._tables.release(stale)

    def _changed_tables(self, plan: Plan) -> list[PlannedTable]:
        old = {table.key: table for table in self._plan.tables} if self._plan else {}
        return [table for table in plan.tables if old.get(table.key) != table]

    def _records_of(
        self, plan: Plan, slots: Mapping[tuple[str, int], int]
    ) -> dict[int, tuple[int, bytes]]:
        members = {table.key: len(table.members) for table in plan.tables}
        items: tuple[PlannedService | PlannedVip, ...] = (*plan.services, *plan.vips)
        records = {}
        for item in items:
            if isinstance(item, PlannedVip):
                key, record = service_key(item.vip, 0, 0), layout.vip_record(item)
            else:
                protocol = layout.PROTOCOLS[item.protocol]
                key = service_key(item.vip, item.port or 0, protocol)
                count = members[item.table]
                record = layout.service_record(item, slots[item.table], count, least_prime(count))
            records[item.number] = (key, bytes(record))
        return records

    def _open_egress(self, plan: Plan) -> None:
        """Members may only refer to interfaces that the forwarder may send by."""
        wanted = {m.next_hop.ifindex for m in plan.members if m.next_hop}
        for ifindex in wanted - self._egress:
            word = struct.pack("=I", ifindex)
            self.maps["egress"].update(word, word)
            self._egress.add(ifindex)

    def _write_member(self, member: PlannedMember) -> None:
        """A whole record, under a number that no table refers to."""
        self._clear(self.maps["member_counters"], member.number)
        self._members[member.number] = layout.member_record(member)

    def _change_member(self, member: PlannedMember) -> None:
        """State and next hop of a member in use: its addresses stay. One store a word, and a next
        hop that goes takes its interface first, one that comes brings it last."""
        place, record = self._members[member.number], layout.member_record(member)
        if record.ifindex == 0:
            place.ifindex = 0
        _store_words(place, record, 2)
        place.ifindex = record.ifindex
        place.state = record.state

    @staticmethod
    def _clear(counters: Map, number: int) -> None:
        counters.update(struct.pack("=I", number), bytes(counters.stored_size))

    def counters(self) -> Counters:
        """Sums over all CPUs, of what is in force. Raises DataPlaneError."""
        plan = self._plan
        services = list(self._records)
        members = [m.number for m in plan.members] if plan else []
        try:
            counts = _sums(self.maps["reason_counters"], len(reasons()))
            return Counters(
                services=_tallies(self.maps["service_counters"], services),
                members=_tallies(self.maps["member_counters"], members),
                reasons={
                    reason.name: int(count[0])
                    for reason, count in zip(reasons(), counts, strict=True)
                },
            )
        except BpfError as error:
            raise DataPlaneError(f"read counters: {error}") from error

    def close(self) -> None:
        """Detach and unload."""
        detach(self._links)
        self._links = {}
        self._services.close()
        self._tables.close()
        del self._members
        for memory in self._memory:
            memory.close()
        self._memory = []
        self._object.close()


def _unpacked(put: tuple[int, bytes]) -> tuple[int, Service]:
    return put[0], Service.from_buffer_copy(put[1])


def _store_words(place: Member, record: Member, count: int) -> None:
    """The first `count` 8-byte words of a record, each by one store."""
    to = (ctypes.c_uint64 * count).from_buffer(place)
    for index, word in enumerate((ctypes.c_uint64 * count).from_buffer_copy(record)):
        to[index] = word


def _sums(counters: Map, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
    """Entries 0..count-1 summed over CPUs, shape (count, words)."""
    words = -(-counters.value_size // 8)
    raw = np.frombuffer(counters.lookup_batch(0, count), np.uint64)
    sums: np.ndarray[tuple[int, int], np.dtype[np.uint64]] = raw.reshape(count, -1, words).sum(1)
    return sums


def _tallies(counters: Map, numbers: Sequence[int]) -> dict[int, Tally]:
    if not numbers:
        return {}
    sums = _sums(counters, max(numbers) + 1)
    return {number: Tally(*(int(word) for word in sums[number])) for number in numbers}
