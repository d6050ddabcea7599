"""The partition in any box low <= x <= high that needs the fewest rules (Problem 5 of "Optimal
Weighted Load Balancing in TCAMs", which leaves boxes of all kinds open)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral

import numpy as np

from turnout.split import lifting
from turnout.split.exact import NO_LIMIT, needed, rules_of
from turnout.split.layers import Layers
from turnout.split.model import Ints, Rule, checked_targets, checked_width


def box(low: Sequence[int], high: Sequence[int], width: int) -> list[Rule] | None:
    """A table of fewest rules that gives each target at least its `low` addresses and at most its
    `high`, the longest prefix first; None where there is none.

    Raises ValueError for a width outside 0..62, sides of different lengths, more targets than
    addresses, and numbers that are no integers >= 0.
    """
    checked_width(width)
    checked_targets(len(low), width)
    if len(low) != len(high):
        raise ValueError(f"high: {len(high)} targets: expected {len(low)}, as many as low has")
    for name, side in (("low", low), ("high", high)):
        for place, end in enumerate(side):
            if isinstance(end, bool) or not isinstance(end, Integral) or end < 0:
                raise ValueError(f"{name}[{place}]: {end!r}: expected an integer >= 0")
    whole = 1 << width
    if any(bottom > min(top, whole) for bottom, top in zip(low, high, strict=True)):
        return None
    # No target has more than all addresses.
    ends = np.array(low, np.int64), np.array([min(top, whole) for top in high], np.int64)
    found = Boxes(width).cheapest(*ends)
    return None if found is None else rules_of(found, width)


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes of 2^width addresses, and what was learned from those asked for: prices of one box are
    good ones for another that is near it, and refute most that are too small without a solver."""

    width: int
    limit: int = NO_LIMIT
    """More rules than that are of no use."""
    prices: list[Ints] = field(default_factory=list)

    def refuted(self, low: Ints, high: Ints) -> bool:
        """Whether the box is known to hold no partition of at most `limit` rules."""
        try:
            found = lifting.cheapest(low, high, self.width)
            return found is None or found[1] > self.limit
        except lifting.UnsolvedError:
            return self._bound(Layers.of(low, high, self.width)) > self.limit

    def cheapest(self, low: Ints, high: Ints) -> Ints | None:
        """A partition in the box that needs the fewest rules; None where there is none, or where
        those are more than `limit`."""
        try:
            found = lifting.cheapest(low, high, self.width)
        except lifting.UnsolvedError:
            return self._by_layers(Layers.of(low, high, self.width))
        return None if found is None or found[1] > self.limit else found[0]

    def _bound(self, paths: Layers) -> int:
        return max((paths.bound(prices) for prices in self.prices), default=0)

    def _by_layers(self, paths: Layers) -> Ints | None:
        # Loading scipy takes longer than finding most splits, which do not need it.
        from turnout.split import program

        if self._bound(paths) > self.limit:
            return None
        least, prices = program.relaxed(paths)
        self.prices.append(prices)
        rules = max(least, self._bound(paths))
        while rules <= self.limit:
            found = program.cheapest(paths, paths.arcs(prices, rules))
            fewest = self.limit + 1 if found is None else needed(found, self.width, self.limit)
            # None needs `rules` or less but what was found.
            if fewest <= rules + 1:
                return found if fewest <= self.limit else None
            rules = rules + 1 if found is None else fewest - 1
        return None
