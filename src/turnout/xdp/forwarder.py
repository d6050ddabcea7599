"""The XDP data plane: applies plans to the forwarder's maps, attaches it, counts."""

import contextlib
import ctypes
import struct
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from turnout.config import Mode
from turnout.core import least_prime, native, reasons, service_key
from turnout.kernel.bpf import BpfError, Link, Map, Object
from turnout.plan import (
    Counters,
    Plan,
    PlannedMember,
    PlannedService,
    PlannedVip,
    Tally,
)
from turnout.xdp import layout
from turnout.xdp.attachment import attach, detach, lost, modes_in_force, require_kernel
from turnout.xdp.errors import DataPlaneError, FullError
from turnout.xdp.layout import Member, Service
from turnout.xdp.services import ServiceTable
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
            found = self.maps[name].value_size if name in self.maps else 0
            if found != size:
                self._object.close()
                raise DataPlaneError(
                    f"map {name} has values of {found} bytes, expected {size}: "
                    "the forwarder is of another build; install again"
                )
        self._memory = [
            self.maps[name].memory()
            for name in (".data.buckets", ".data.services", ".data.members", ".data.filter")
        ]
        self._services = ServiceTable(self._memory[0], self._memory[1], self._memory[3])
        self._members = (Member * layout.MAX_MEMBERS).from_buffer(self._memory[2])
        self._tables = Tables(self.maps["tables"], self.maps["large_tables"])
        self._links: dict[str, Link] = {}
        self._mode: Mode = "auto"
        self._plan = Plan("", (), (), (), (), ())
        """What is in force, with the outer slots of its tables and, by number, the keys and records
        of its services and VIPs."""
        self._slots: dict[tuple[str, int], int] = {}
        self._records: dict[int, tuple[int, bytes]] = {}

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

        Whatever can fail is done first, where no packet in service can tell: egress, tables, new
        members, new services. Then members come up and services change; when no packet is on its
        old way any more, members cease to take flows and what is not wanted goes.
        Raises DataPlaneError; what was in force then still is.
        """
        was = {member.number: member for member in self._plan.members}
        tables = {table.key: table for table in self._plan.tables}
        fresh: dict[tuple[str, int], int] = {}
        added: list[int] = []
        try:
            self._open_egress(plan)
            fresh = self._tables.install(t for t in plan.tables if tables.get(t.key) != t)
            for member in plan.members:
                if member.number not in was:
                    self._write_member(member)
            slots = {t.key: fresh.get(t.key) or self._slots[t.key] for t in plan.tables}
            records = self._records_of(plan, slots)
            for number in records.keys() - self._records.keys():
                self._clear(self.maps["service_counters"], number)
                self._put(number, records[number])
                added.append(number)
        except (BpfError, FullError) as error:
            for number in added:
                self._services.remove(number)
            with contextlib.suppress(BpfError):
                self._tables.release(fresh.values())
            raise DataPlaneError(f"apply: {error}") from error

        changed = [m for m in plan.members if m.number in was and was[m.number] != m]
        come = [member for member in changed if member.takes_flows]
        cease = [member for member in changed if not member.takes_flows]
        gone = was.keys() - {member.number for member in plan.members}
        replaced = [n for n, old in self._records.items() if records.get(n, old) != old]
        removed = self._records.keys() - records.keys()
        stale = [slot for key, slot in self._slots.items() if slots.get(key) != slot]
        self._plan, self._slots, self._records = plan, slots, records

        self._change_members(come)
        for number in replaced:
            self._put(number, records[number])
        if (come or added or replaced) and (replaced or cease or removed or gone):
            self._tables.settle()
        self._change_members(cease)
        for number in removed:
            self._services.remove(number)
        for number in gone:
            self._members[number].state = 0
        # Memory alone is at stake: what cannot be given back now is at the next change.
        with contextlib.suppress(BpfError):
            if removed or stale:
                self._tables.release(stale)
            self._close_egress(plan)

    def _records_of(
        self, plan: Plan, slots: Mapping[tuple[str, int], int]
    ) -> dict[int, tuple[int, bytes]]:
        """Key and record of each number; those of what has not changed are taken over."""
        was: dict[int, PlannedService | PlannedVip] = {}
        was |= {service.number: service for service in self._plan.services}
        was |= {vip.number: vip for vip in self._plan.vips}
        members = {table.key: len(table.members) for table in plan.tables}
        records = {}
        for s in plan.services:
            slot = slots[s.table]
            same = was.get(s.number) == s and self._slots[s.table] == slot
            records[s.number] = (
                self._records[s.number] if same else _service(s, slot, members[s.table])
            )
        for v in plan.vips:
            same = was.get(v.number) == v
            records[v.number] = self._records[v.number] if same else _vip(v)
        return records

    def _put(self, number: int, put: tuple[int, bytes]) -> None:
        key, record = put
        self._services.put(number, key, Service.from_buffer_copy(record))

    def _open_egress(self, plan: Plan) -> None:
        """Members may only refer to interfaces that the forwarder may send by. The kernel takes out
        those that go, so it is asked each time."""
        for word in _interfaces(plan) - set(self.maps["egress"].keys()):
            self.maps["egress"].update(word, word)

    def _close_egress(self, plan: Plan) -> None:
        for word in set(self.maps["egress"].keys()) - _interfaces(plan):
            self.maps["egress"].delete(word)

    def _write_member(self, member: PlannedMember) -> None:
        """A whole record, under a number that no table refers to."""
        self._clear(self.maps["member_counters"], member.number)
        self._members[member.number] = layout.member_record(member)

    def _change_members(self, members: Iterable[PlannedMember]) -> None:
        """State and next hop of members in use: their addresses stay. One store a word, and a next
        hop that goes takes its interface first, one that comes brings it last."""
        for member in members:
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
        services = list(self._records)
        members = [member.number for member in self._plan.members]
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


def _service(service: PlannedService, slot: int, members: int) -> tuple[int, bytes]:
    key = service_key(service.vip, service.port or 0, layout.PROTOCOLS[service.protocol])
    record = layout.service_record(service, slot, members, least_prime(members))
    return key, bytes(record)


def _vip(vip: PlannedVip) -> tuple[int, bytes]:
    return service_key(vip.vip, 0, 0), bytes(layout.vip_record(vip))


def _interfaces(plan: Plan) -> set[bytes]:
    """Keys of the egress map: the interfaces of all next hops."""
    return {struct.pack("=I", m.next_hop.ifindex) for m in plan.members if m.next_hop}


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
