"""The service table: whatever is put is found, as the forwarder looks it up."""

import ctypes
import mmap

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from turnout.core import service_bucket, service_filter_bit
from turnout.xdp.errors import FullError
from turnout.xdp.layout import (
    BUCKET_PROBES,
    BUCKET_WAYS,
    BUCKETS,
    FILTER_BITS,
    MAX_SERVICES,
    Entry,
    Service,
)
from turnout.xdp.services import ServiceTable

CROWDED = [key for key in range(4, 1_500_000) if service_bucket(key) in (7, 8)][:200]
"""Keys that begin in two neighbouring buckets: they fill them and probe on."""


class Memory:
    """What the forwarder would see."""

    def __init__(self) -> None:
        self.buckets = mmap.mmap(-1, BUCKETS * BUCKET_WAYS * ctypes.sizeof(Entry))
        self.records = mmap.mmap(-1, 2 * MAX_SERVICES * ctypes.sizeof(Service))
        self.filter = mmap.mmap(-1, FILTER_BITS // 8)
        self.table = ServiceTable(self.buckets, self.records, self.filter)

    def find(self, key: int) -> Service | None:
        """bpf/forwarder.bpf.c: find()."""
        entries = (Entry * (BUCKETS * BUCKET_WAYS)).from_buffer_copy(self.buckets)
        records = (Service * (2 * MAX_SERVICES)).from_buffer_copy(self.records)
        bit = service_filter_bit(key)
        if not self.filter[bit // 8] >> bit % 8 & 1:
            return None
        first = service_bucket(key)
        for probe in range(BUCKET_PROBES):
            at = (first + probe) % BUCKETS * BUCKET_WAYS
            for way in entries[at : at + BUCKET_WAYS]:
                if not way.key:
                    return None
                if way.key == key and way.record:
                    found: Service = records[way.record]
                    return found
        return None


class Puts(RuleBasedStateMachine):
    """Against a dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = Memory()
        self.expected: dict[int, tuple[int, int]] = {}

    @rule(number=st.integers(1, 60), key=st.sampled_from(CROWDED[:60]), port=st.integers(0, 65535))
    def put(self, number: int, key: int, port: int) -> None:
        if number in self.expected:
            key = self.expected[number][0]
        elif any(key == other for other, _ in self.expected.values()):
            return
        try:
            self.memory.table.put(number, key, Service(port=port))
        except FullError:
            return
        self.expected[number] = key, port

    @precondition(lambda self: self.expected)
    @rule(data=st.data(), heir=st.integers(61, 70), port=st.integers(0, 65535))
    def take_over(self, data: st.DataObject, heir: int, port: int) -> None:
        """The key goes to another number, and leads somewhere all the time."""
        owner = data.draw(st.sampled_from(sorted(self.expected)))
        key, before = self.expected[owner]
        if heir in self.expected:
            return
        try:
            self.memory.table.put(heir, key, Service(port=port))
        except FullError:
            return
        found = self.memory.find(key)
        assert found is not None
        assert found.port in (before, port)
        self.memory.table.remove(owner)
        del self.expected[owner]
        self.expected[heir] = key, port

    @rule(number=st.integers(1, 70))
    def remove(self, number: int) -> None:
        self.memory.table.remove(number)
        self.expected.pop(number, None)

    @invariant()
    def found_as_put(self) -> None:
        ports = dict(self.expected.values())
        for key in CROWDED[:60]:
            found = self.memory.find(key)
            assert (None if found is None else found.port) == ports.get(key)


Puts.TestCase.settings = settings(max_examples=10, stateful_step_count=40)
TestPuts = Puts.TestCase


def test_a_full_neighbourhood_is_refused_and_nothing_is_lost() -> None:
    memory = Memory()
    placed: list[tuple[int, int]] = []

    def fill() -> None:
        for number, key in enumerate(CROWDED, 1):
            memory.table.put(number, key, Service(port=number))
            placed.append((number, key))

    with pytest.raises(FullError):
        fill()
    assert len(placed) >= BUCKET_PROBES * BUCKET_WAYS
    for number, key in placed:
        found = memory.find(key)
        assert found is not None
        assert found.port == number


def test_a_change_is_written_beside_what_is_live() -> None:
    memory = Memory()
    memory.table.put(5, CROWDED[0], Service(port=1))
    before = memory.find(CROWDED[0])
    memory.table.put(5, CROWDED[0], Service(port=2))
    records = (Service * (2 * MAX_SERVICES)).from_buffer_copy(memory.records)
    assert before is not None
    assert sorted((records[10].port, records[11].port)) == [1, 2]
