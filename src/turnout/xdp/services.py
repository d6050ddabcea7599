"""The service table in the memory that the forwarder reads: entries in buckets, records in pairs.

One writer. Whatever a packet may meet is whole: a record is written while no entry refers to
it, then one 8-byte store makes it live.
"""

import ctypes
import mmap

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

_WAYS = BUCKETS * BUCKET_WAYS


class ServiceTable:
    """Services and VIPs by number. An owner of a number has one key and one live record."""

    def __init__(self, buckets: mmap.mmap, records: mmap.mmap, filter_: mmap.mmap) -> None:
        self._entries = (Entry * _WAYS).from_buffer(buckets)
        self._records = (Service * (2 * MAX_SERVICES)).from_buffer(records)
        self._filter = (ctypes.c_uint8 * (FILTER_BITS // 8)).from_buffer(filter_)
        self._where: dict[int, int] = {}
        """Number to the index of its entry."""

    def put(self, number: int, key: int, record: Service) -> None:
        """Make `record` what `key` leads to; a number keeps its key until it is removed.

        Where the key leads to another number's record already, either is found until the other is
        removed. Raises FullError and changes nothing where a new number finds no way.
        """
        at = self._where.get(number)
        if at is None:
            at, index = self._free(key), 2 * number
        else:
            index = self._entries[at].record ^ 1
        _store(self._records[index], record)
        # Bits stay when services go: a stranger's packet then takes the longer way to the same end.
        bit = service_filter_bit(key)
        self._filter[bit // 8] |= 1 << bit % 8
        # A way that was another's is dead until its record is set, so its key may go first.
        self._entries[at].key = key
        self._entries[at].record = index
        self._where[number] = at

    def remove(self, number: int) -> None:
        """Nothing leads to the number any more. Its key stays, so that probing goes on past it."""
        at = self._where.pop(number, None)
        if at is not None:
            self._entries[at].record = 0

    def _free(self, key: int) -> int:
        """The first way where a look-up of the key would come by."""
        first = service_bucket(key)
        for probe in range(BUCKET_PROBES):
            bucket = (first + probe) % BUCKETS
            for way in range(BUCKET_WAYS):
                at = bucket * BUCKET_WAYS + way
                if self._entries[at].record == 0:
                    return at
        raise FullError(f"service table: {BUCKET_PROBES} buckets in a row are full")

    def close(self) -> None:
        """Let go of the memory."""
        del self._entries, self._records, self._filter


def _store(place: Service, record: Service) -> None:
    ctypes.memmove(ctypes.addressof(place), ctypes.addressof(record), ctypes.sizeof(record))
