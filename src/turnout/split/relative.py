"""The least relative error that a number of rules allows.

Errors are rationals of many denominators, but only finitely many count: those at which a target may
have one address more, or one less.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from turnout.split.box import Boxes
from turnout.split.evaluate import evaluate
from turnout.split.model import Ints, Shares
from turnout.split.niagara import niagara
from turnout.split.transactions import from_transactions


@dataclass(frozen=True, slots=True)
class Windows:
    """What each target may have within a relative error."""

    wanted: Shares
    width: int
    two_sided: bool

    def at(self, error: Fraction) -> tuple[Ints, Ints]:
        """The least and the most addresses of each target."""
        below, above = error.denominator - error.numerator, error.denominator + error.numerator
        divisor, whole = self.wanted.scale * error.denominator, 1 << self.width
        high = [min(whole, part * above // divisor) for part in self.wanted.parts]
        low = [0] * len(high)
        if self.two_sided and below > 0:
            low = [-(-part * below // divisor) for part in self.wanted.parts]
        return np.array(low, np.int64), np.array(high, np.int64)

    def least(self, error: Fraction) -> Fraction:
        """The least error with the windows of `error`."""
        low, high = (side.tolist() for side in self.at(error))
        return max(Fraction(0), *self._short(low), *self._over(high))

    def error(self, partition: list[int]) -> Fraction:
        """Of a partition that gives nothing to who should have nothing."""
        return max(Fraction(0), *self._short(partition), *self._over(partition))

    def next(self, error: Fraction) -> Fraction:
        """The least error with wider windows than those of `error`, which have room for more."""
        low, high = (side.tolist() for side in self.at(error))
        wider = self._over(most + 1 if most < 1 << self.width else None for most in high)
        return min(*wider, *self._short(least - 1 if least else None for least in low))

    def _over(self, high: Iterable[int | None]) -> Iterator[Fraction]:
        scale = self.wanted.scale
        for part, most in zip(self.wanted.parts, high, strict=True):
            if part and most is not None:
                yield Fraction(scale * most - part, part)

    def _short(self, low: Iterable[int | None]) -> Iterator[Fraction]:
        scale = self.wanted.scale
        for part, least in zip(self.wanted.parts, low, strict=True):
            if self.two_sided and part and least is not None:
                yield Fraction(part - scale * least, part)


def narrowest(wanted: Shares, width: int, limit: int, two_sided: bool) -> Ints:
    """The partition of at most `limit` >= 1 rules of least relative excess, or of least relative
    error either way where `two_sided`.

    What was learned from some windows refutes most others at once; only those that it does not are
    solved, from the least error up.
    """
    windows, boxes = Windows(wanted, width, two_sided), Boxes(width, limit)

    def partition(error: Fraction) -> Ints | None:
        return boxes.cheapest(*windows.at(error))

    def possible(error: Fraction) -> bool:
        return not boxes.refuted(*windows.at(error))

    def first(holds: Callable[[Fraction], bool], refuted: Fraction, known: Fraction) -> Fraction:
        """The least error above `refuted` where `holds`, which it does at `known`."""
        while (following := windows.next(refuted)) < known:
            middle = max(following, windows.least((refuted + known) / 2))
            if holds(middle):
                known = middle
            else:
                refuted = middle
        return known

    # Where there is room, the prices are those of transactions; where there is next to none, of
    # addresses, and worth little elsewhere.
    known = windows.error(_truncated(wanted, width, limit))
    error = windows.least(known / 4)
    if partition(error) is not None:
        known, error = error, Fraction(0)
    while (found := partition(error)) is None:
        if error and possible(error):
            # The bound is below the fewest rules: from here on, each error is solved.
            error = first(lambda error: partition(error) is not None, error, known)
        else:
            error = first(possible, error, known)
    return found


def _truncated(wanted: Shares, width: int, limit: int) -> list[int]:
    """A good partition of at most `limit` rules, the best where errors count by their sum."""
    rules = from_transactions(niagara(wanted.parts, wanted.scale, width, limit))
    return evaluate(rules, width, len(wanted))
