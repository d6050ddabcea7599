"""Packets of a capture in pcapng (draft-ietf-opsawg-pcapng): each interface of each section has a link
type of its own, and dpkt looks at the first alone."""

from collections.abc import Iterator
from struct import unpack_from
from typing import BinaryIO

SECTION = bytes.fromhex("0a0d0d0a")
"""The type of the block that a section, and so a file, begins with; the same in both byte orders."""

ORDERS = {bytes.fromhex("4d3c2b1a"): "<", bytes.fromhex("1a2b3c4d"): ">"}

INTERFACE, PACKET, SIMPLE_PACKET, ENHANCED_PACKET = 1, 2, 3, 6


def packets(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """(link type, frame) of each, as far as the file goes. Raises ValueError for what is no
    pcapng."""
    order = ""
    links: list[int] = []
    while len(head := file.read(12)) == 12:
        if head[:4] == SECTION:
            order, links = ORDERS.get(head[8:], ""), []
        if not order:
            raise ValueError("a section without a byte order")
        kind, size = unpack_from(f"{order}II", head)
        # Type and length are before the body, the length again behind it.
        if size < 12 or size % 4:
            raise ValueError(f"a block of {size} bytes")
        body = head[8:] + file.read(size - 12)
        if len(body) < size - 8:
            return
        body = body[:-4]
        interface, start, end = 0, 20, None
        if kind == INTERFACE and len(body) >= 8:
            links.append(unpack_from(f"{order}H", body)[0])
            continue
        if kind == ENHANCED_PACKET and len(body) >= 20:
            interface, length = unpack_from(f"{order}I8xI", body)
            end = start + length
        elif kind == PACKET and len(body) >= 20:
            interface, length = unpack_from(f"{order}H10xI", body)
            end = start + length
        elif kind == SIMPLE_PACKET:
            start = 4
        else:
            continue
        if interface >= len(links):
            raise ValueError(f"a packet of interface {interface}, of which nothing is said")
        yield links[interface], body[start:end]
