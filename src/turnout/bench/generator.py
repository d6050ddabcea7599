"""Time of a program alone, behind a generator of flows (bpf/bench.bpf.c)."""

import ctypes
import statistics
import struct
from types import TracebackType
from typing import Self

from turnout.core import native
from turnout.kernel.bpf import Object, Program

SHORT, LONG = 64, 96
"""Bytes of a frame, IPv4 and IPv6."""

WINDOW, WINDOWS = 1024, 1024
"""Frames between two readings of the clock, and how many windows are kept."""


class _Bench(ctypes.LittleEndianStructure):
    """struct bench."""

    _fields_ = [
        ("frame", ctypes.c_uint8 * LONG),
        ("length", ctypes.c_uint32),
        ("flow_mask", ctypes.c_uint32),
        ("vip_mask", ctypes.c_uint32),
        ("vip", ctypes.c_uint32),
        ("client", ctypes.c_uint32),
        ("port", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("served", ctypes.c_uint32),
        ("begin", ctypes.c_uint64),
        ("windows", ctypes.c_uint64 * WINDOWS),
    ]


class Generator:
    """Frames that differ in client, client port and VIP, in scattered order."""

    def __init__(self) -> None:
        """Load. Raises BpfError."""
        self._object = Object(native("bench.bpf.o"))
        self._program = self._object.programs["generator"]
        self._stub = self._object.programs["stub"]
        self._memory = self._object.maps[".data.bench"].memory()
        self._bench = _Bench.from_buffer(self._memory)
        self._frame = b""

    def offer(self, frame: bytes, flows: int, vips: int) -> None:
        """What is sent from now on: `frame` with the addresses that follow its own.

        `flows` (at most 2^24) and `vips` are powers of two. The frame is SHORT or LONG bytes.
        """
        end_of_source = 14 + (16 if len(frame) == SHORT else 24)
        size = 4 if len(frame) == SHORT else 16
        (client,) = struct.unpack_from(">I", frame, end_of_source - 4)
        vip, _, port = struct.unpack_from(">IHH", frame, end_of_source + size - 4)
        bench = self._bench
        bench.frame = (ctypes.c_uint8 * LONG)(*frame)
        bench.length = len(frame)
        bench.flow_mask, bench.vip_mask = flows - 1, vips - 1
        bench.vip, bench.client, bench.port, bench.served = vip, client, port, 0
        self._frame = frame

    def time(self, program: Program, packets: int) -> float:
        """ns a packet of the generator with the program behind it: the median window of a run of
        `packets`, at least 2 * WINDOW and at most WINDOW * WINDOWS."""
        timed = self._object.maps["timed"]
        timed.update(struct.pack("=I", 0), struct.pack("=I", program.fd))
        self._bench.served = 0
        self._program.run(self._frame, repeat=packets)
        # The first reading of the clock begins the first window, and ends none.
        windows: list[int] = self._bench.windows[1 : packets // WINDOW]
        return statistics.median(windows) / WINDOW

    def frame(self) -> bytes:
        """The next frame, as the program would meet it."""
        timed = self._object.maps["timed"]
        timed.update(struct.pack("=I", 0), struct.pack("=I", self._stub.fd))
        return self._program.run(self._frame).data

    def net(self, program: Program, packets: int, runs: int) -> tuple[float, float]:
        """ns a packet of the program alone, least and median: of runs of the program and of the
        stub in turn, the one's less the other's."""
        pairs = [(self.time(program, packets), self.time(self._stub, packets)) for _ in range(runs)]
        ours, stub = zip(*pairs, strict=True)
        return min(ours) - min(stub), statistics.median(ours) - statistics.median(stub)

    def close(self) -> None:
        del self._bench
        self._memory.close()
        self._object.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
