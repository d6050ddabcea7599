"""Sums of signed powers of two: 57 = 64 - 8 + 1."""


def naf(x: int) -> list[int]:
    """The non-adjacent form of `x` >= 0: signed powers of two with sum x, the largest first, no
    two of neighbouring size, and no fewer possible (Reitwiesner 1960).

    Raises ValueError for x < 0.
    """
    if x < 0:
        raise ValueError(f"x: {x}: expected an integer >= 0")
    digits, power = [], 1
    while x:
        if x & 1:
            sign = 2 - (x & 3)
            digits.append(sign * power)
            x -= sign
        x >>= 1
        power <<= 1
    return digits[::-1]


def weight(x: int) -> int:
    """The fewest signed powers of two with sum `x` >= 0. Raises ValueError for x < 0."""
    if x < 0:
        raise ValueError(f"x: {x}: expected an integer >= 0")
    return (x ^ 3 * x).bit_count()
