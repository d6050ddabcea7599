"""BPF objects, maps, programs and links, each owning its file descriptor."""

import ctypes
import mmap
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from turnout.kernel.libbpf import (
    BpfError,
    LinkCreateOpts,
    LinkInfo,
    MapCreateOpts,
    TestRunOpts,
    XdpQueryOpts,
    check,
    libbpf,
    page,
)

MAP_HASH = 1
MAP_ARRAY = 2
MAP_PERCPU_ARRAY = 6
MAP_ARRAY_OF_MAPS = 12
F_MMAPABLE = 1 << 10
F_INNER_MAP = 1 << 12

XDP_ABORTED, XDP_DROP, XDP_PASS, XDP_TX, XDP_REDIRECT = range(5)

ATTACH_XDP = 37
ATTACH_TCX_INGRESS = 46
ATTACH_TCX_EGRESS = 47
XDP_FLAGS_SKB_MODE = 1 << 1
XDP_FLAGS_DRV_MODE = 1 << 2


def possible_cpus() -> int:
    """CPUs for which per-CPU maps hold a value."""
    return check(libbpf().libbpf_num_possible_cpus(), "count CPUs")


class Map:
    """A map of the kernel. Keys and values are bytes; a per-CPU value is one padded value a CPU."""

    def __init__(
        self, fd: int, name: str, kind: int, key_size: int, value_size: int, max_entries: int
    ) -> None:
        self.fd = fd
        self.name = name
        self.kind = kind
        self.key_size = key_size
        self.value_size = value_size
        self.max_entries = max_entries

    @classmethod
    def create(
        cls, name: str, kind: int, key_size: int, value_size: int, max_entries: int, flags: int = 0
    ) -> Self:
        """A new map that belongs to no object."""
        options = MapCreateOpts(sz=ctypes.sizeof(MapCreateOpts), map_flags=flags)
        fd = libbpf().bpf_map_create(
            kind, name.encode(), key_size, value_size, max_entries, ctypes.byref(options)
        )
        return cls(check(fd, f"create map {name}"), name, kind, key_size, value_size, max_entries)

    @property
    def stored_size(self) -> int:
        """Bytes that one look-up yields."""
        if self.kind == MAP_PERCPU_ARRAY:
            return -(-self.value_size // 8) * 8 * possible_cpus()
        return self.value_size

    def lookup(self, key: bytes) -> bytes | None:
        value = ctypes.create_string_buffer(self.stored_size)
        if libbpf().bpf_map_lookup_elem(self.fd, key, value) < 0:
            check(0, "")
            return None
        return value.raw

    def lookup_batch(self, start: int, count: int) -> bytes:
        """Values of `count` entries of an array from index `start`, end to end."""
        keys = ctypes.create_string_buffer(4 * count)
        values = ctypes.create_string_buffer(self.stored_size * count)
        after = ctypes.c_uint(0)
        before = ctypes.c_uint(start - 1)
        got = ctypes.c_uint(count)
        check(
            libbpf().bpf_map_lookup_batch(
                self.fd,
                ctypes.byref(before) if start else None,
                ctypes.byref(after),
                keys,
                values,
                ctypes.byref(got),
                None,
            ),
            f"read map {self.name}",
        )
        return values.raw[: self.stored_size * got.value]

    def update(self, key: bytes, value: bytes, flags: int = 0) -> None:
        check(libbpf().bpf_map_update_elem(self.fd, key, value, flags), f"write map {self.name}")

    def update_batch(self, keys: bytes, values: bytes, count: int) -> None:
        """`count` entries in one system call."""
        done = ctypes.c_uint(count)
        check(
            libbpf().bpf_map_update_batch(self.fd, keys, values, ctypes.byref(done), None),
            f"write map {self.name}",
        )

    def delete(self, key: bytes) -> None:
        check(libbpf().bpf_map_delete_elem(self.fd, key), f"delete from map {self.name}")

    def keys(self) -> Iterator[bytes]:
        key = ctypes.create_string_buffer(self.key_size)
        following = ctypes.create_string_buffer(self.key_size)
        before = None
        while libbpf().bpf_map_get_next_key(self.fd, before, following) == 0:
            yield following.raw
            key.raw = following.raw
            before = key

    def memory(self) -> mmap.mmap:
        """The values of an array made with F_MMAPABLE (global data is), shared with the kernel."""
        size = page(-(-self.value_size // 8) * 8 * self.max_entries)
        return mmap.mmap(self.fd, size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


@dataclass(frozen=True, slots=True)
class TestRun:
    """What BPF_PROG_TEST_RUN answered."""

    __test__ = False
    verdict: int
    data: bytes
    duration_ns: int
    """Mean of the repetitions."""


class Program:
    """A loaded program. Its file descriptor belongs to the object that it came in."""

    def __init__(self, fd: int, name: str) -> None:
        self.fd = fd
        self.name = name

    def run(self, data: bytes, repeat: int = 1, room: int = 256, context: bytes = b"") -> TestRun:
        """Run on `data` without sending anything; `room`: bytes by which the output may grow.

        With `repeat` the program meets its own output from the second pass on. `context` is a
        struct xdp_md (or __sk_buff). Raises BpfError, for instance where `data` is shorter than
        an Ethernet header.
        """
        out = ctypes.create_string_buffer(len(data) + room)
        source = ctypes.create_string_buffer(data, len(data))
        given = ctypes.create_string_buffer(context, len(context)) if context else None
        options = TestRunOpts(
            sz=ctypes.sizeof(TestRunOpts),
            data_in=ctypes.addressof(source),
            data_out=ctypes.addressof(out),
            data_size_in=len(data),
            data_size_out=len(out),
            ctx_in=ctypes.addressof(given) if given else None,
            ctx_size_in=len(context),
            repeat=repeat,
        )
        check(libbpf().bpf_prog_test_run_opts(self.fd, ctypes.byref(options)), f"run {self.name}")
        return TestRun(options.retval, out.raw[: options.data_size_out], options.duration)


class Object:
    """A loaded BPF object file; closes its maps and programs with itself."""

    def __init__(self, path: Path, max_entries: Mapping[str, int] | None = None) -> None:
        """Open and load. `max_entries` resizes maps by name.

        Raises BpfError with the verifier's words where the kernel refuses.
        """
        library = libbpf()
        handle = library.bpf_object__open_file(str(path).encode(), None)
        check(0 if handle else None, f"open {path.name}")
        self._handle: int | None = handle
        try:
            for name, entry in self._each("map"):
                if max_entries and name in max_entries:
                    check(
                        library.bpf_map__set_max_entries(entry, max_entries[name]),
                        f"resize map {name}",
                    )
            check(library.bpf_object__load(handle), f"load {path.name}")
        except BpfError:
            self.close()
            raise
        self.maps = {
            name: Map(
                library.bpf_map__fd(entry),
                name,
                library.bpf_map__type(entry),
                library.bpf_map__key_size(entry),
                library.bpf_map__value_size(entry),
                library.bpf_map__max_entries(entry),
            )
            for name, entry in self._each("map")
        }
        self.programs = {
            name: Program(library.bpf_program__fd(entry), name)
            for name, entry in self._each("program")
        }

    def _each(self, kind: str) -> Iterator[tuple[str, int]]:
        library = libbpf()
        following = getattr(library, f"bpf_object__next_{kind}")
        name = getattr(library, f"bpf_{kind}__name")
        entry = following(self._handle, None)
        while entry:
            yield name(entry).decode(), entry
            entry = following(self._handle, entry)

    def close(self) -> None:
        if self._handle:
            libbpf().bpf_object__close(self._handle)
            self._handle = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Link:
    """A program attached by bpf_link: the kernel detaches it when the link is closed, and
    refuses to let anyone else replace it."""

    def __init__(self, program: Program, ifindex: int, attach_type: int, flags: int = 0) -> None:
        """Attach to an interface of the calling thread's network namespace. Raises BpfError."""
        options = LinkCreateOpts(sz=ctypes.sizeof(LinkCreateOpts), flags=flags)
        self.fd = check(
            libbpf().bpf_link_create(program.fd, ifindex, attach_type, ctypes.byref(options)),
            f"attach {program.name} to interface {ifindex}",
        )

    def update(self, program: Program) -> None:
        """Put `program` in the place of the attached one, without a gap."""
        check(libbpf().bpf_link_update(self.fd, program.fd, None), f"replace by {program.name}")

    def attached(self) -> tuple[int, int]:
        """(interface, program id) as the kernel says; interface 0 where it has gone."""
        info = LinkInfo()
        size = ctypes.c_uint(ctypes.sizeof(info))
        check(
            libbpf().bpf_obj_get_info_by_fd(self.fd, ctypes.byref(info), ctypes.byref(size)),
            "query link",
        )
        return int(info.ifindex), int(info.prog_id)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def xdp_attached(ifindex: int) -> tuple[str, int] | None:
    """(mode, program id) of the XDP program on an interface of the calling thread's namespace; None
    where there is none. The mode is native, generic or offloaded."""
    options = XdpQueryOpts(sz=ctypes.sizeof(XdpQueryOpts))
    check(libbpf().bpf_xdp_query(ifindex, 0, ctypes.byref(options)), f"query interface {ifindex}")
    for mode, number in (
        ("native", options.drv_prog_id),
        ("generic", options.skb_prog_id),
        ("offloaded", options.hw_prog_id),
    ):
        if number:
            return mode, int(number)
    return None


__all__ = [
    "ATTACH_TCX_EGRESS",
    "ATTACH_TCX_INGRESS",
    "ATTACH_XDP",
    "F_INNER_MAP",
    "F_MMAPABLE",
    "MAP_ARRAY",
    "MAP_ARRAY_OF_MAPS",
    "MAP_HASH",
    "MAP_PERCPU_ARRAY",
    "XDP_ABORTED",
    "XDP_DROP",
    "XDP_FLAGS_DRV_MODE",
    "XDP_FLAGS_SKB_MODE",
    "XDP_PASS",
    "XDP_REDIRECT",
    "XDP_TX",
    "BpfError",
    "Link",
    "Map",
    "Object",
    "Program",
    "TestRun",
    "possible_cpus",
    "xdp_attached",
]
