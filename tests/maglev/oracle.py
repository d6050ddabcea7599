"""The table and the look-up in plain Python, straight from their definitions."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from turnout.maglev import preference


def permutation(name: str, size: int) -> Iterator[int]:
    """Slots in the order in which a member wants them."""
    offset, skip = preference(name, size)
    return ((offset + j * skip) % size for j in range(size))


def paper(preferences: Sequence[Sequence[int]], size: int) -> list[int]:
    """Maglev, figure 2 of section 3.4, over whole permutation lists."""
    following = [0] * len(preferences)
    entry = [-1] * size
    filled = 0
    while True:
        for i, wants in enumerate(preferences):
            while entry[wants[following[i]]] >= 0:
                following[i] += 1
            entry[wants[following[i]]] = i
            filled += 1
            if filled == size:
                return entry


def due(weights: Sequence[int], size: int) -> list[Fraction]:
    return [Fraction(size * weight, sum(weights)) for weight in weights]


def quotas(weights: Sequence[int], size: int) -> list[int]:
    """Largest remainder, ties in the order given."""
    shares = due(weights, size)
    slots = [int(share) for share in shares]
    by_remainder = sorted(range(len(weights)), key=lambda i: (slots[i] - shares[i], i))
    for i in by_remainder[: size - sum(slots)]:
        slots[i] += 1
    return slots


def build(names: Sequence[str], weights: Sequence[int], size: int) -> list[int]:
    """The table: turn k of member i in round ceil(k * heaviest / weight)."""
    order = sorted(range(len(names)), key=lambda i: names[i].encode())
    slots = quotas([weights[i] for i in order], size)
    turns = sorted(
        (-(-k * max(weights) // weights[i]), position)
        for position, i in enumerate(order)
        for k in range(1, slots[position] + 1)
    )
    wants = {position: permutation(names[i], size) for position, i in enumerate(order)}
    entry = [-1] * size
    for _, position in turns:
        slot = next(slot for slot in wants[position] if entry[slot] < 0)
        entry[slot] = order[position]
    return entry


def second_try(h: int, i: int) -> int:
    """bpf/flow.h: the 32-bit mix of a hash and the number of a try."""
    mask = 0xFFFFFFFF
    h = (h + i * 0x9E3779B9) & mask
    h = (h + 0x7ED55D16 + (h << 12)) & mask
    h = h ^ 0xC761C23C ^ (h >> 19)
    h = (h + 0x165667B1 + (h << 5)) & mask
    h = ((h + 0xD3A2646C) ^ (h << 9)) & mask
    h = (h + 0xFD7046C5 + (h << 3)) & mask
    return h ^ 0xB55A4F09 ^ (h >> 16)


def lookup(table: Sequence[int], hash_: int, usable: Sequence[bool]) -> int:
    """The data path's rule."""
    h, size, members = hash_ >> 32, len(table), len(usable)
    tries = [h, *(second_try(h, i) for i in range(1, 9))]
    for attempt in tries:
        member = table[attempt * size >> 32]
        if usable[member]:
            return member
    prime = next(p for p in range(max(members, 2), 2 * members + 3) if _prime(p))
    at = second_try(h, 9) * prime >> 32
    step = 1 + (second_try(h, 10) * (prime - 1) >> 32)
    for j in range(prime):
        place = (at + j * step) % prime
        if place < members and usable[place]:
            return place
    return -1


def _prime(number: int) -> bool:
    return number > 1 and all(number % d for d in range(2, int(number**0.5) + 1))
