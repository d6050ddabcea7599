"""Lower bounds on the number of rules that anyone can check, where trying everything takes too long.

Seen from level l, target i of a partition has p_i >> l units of 2^l or one more: s = 0 or 1 says which.
Where that number is odd the target takes part in a transaction of 2^l, at half a rule, and then
either may follow; where it is even, nothing changes. All targets together always have the whole:
the sum of s is fixed on each level. So the fewest rules, twice, less the match-all rule, are the
least of a linear function of s over such chains, one for each target, bound together by one sum a
level (a totally unimodular program, so that its relaxation has whole solutions).

Whatever is paid for each s of a level, the cheapest chain of every target alone, less what is paid
in all, is a lower bound. It takes one price a level to state it, and whole numbers to check it;
where the prices come from does not matter. They come from HiGHS.
"""

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from tests.split.brute import fewest_rules
from turnout.split import count, evaluate, exact

Numbers = NDArray[np.int64]
INFINITE = 1 << 40


def above(partition: Numbers, width: int) -> Numbers:
    """How many targets have one more, on the levels 1..width."""
    return np.array(
        [(1 << width - level) - int((partition >> level).sum()) for level in range(1, width + 1)]
    )


def program(partition: Numbers, width: int) -> tuple[float, Numbers]:
    """The least of the relaxation, and the prices at which it is met, rounded."""
    targets = len(partition)
    places = np.arange(width * targets).reshape(width, targets)
    bits = partition >> np.arange(width)[:, None] & 1
    # s of level l + 1 is at places[l]; on level 0 all are 0, and odd is where the bit is 1. Further
    # up it is where s is not the bit: s - bit * (2 s - 1).
    cost = np.zeros_like(bits)
    cost[:-1] = 1 - 2 * bits[1:]
    constant = int(bits.sum())
    # An even number of units forces what follows: s' <= s at a bit of 0, s' >= s at a bit of 1.
    before, after = places[:-1].ravel(), places[1:].ravel()
    sign = (1 - 2 * bits[1:]).ravel()
    rows = np.arange(len(before))
    chains = csr_array(
        (
            np.concatenate((-sign, sign)),
            (np.concatenate((rows, rows)), np.concatenate((before, after))),
        ),
        shape=(len(rows), places.size),
    )
    levels = csr_array(
        (np.ones(places.size), (np.repeat(np.arange(width), targets), places.ravel())),
        shape=(width, places.size),
    )
    most = np.ones((width, targets))
    most[0] = bits[0]
    found = linprog(
        cost.ravel(),
        A_ub=chains,
        b_ub=np.zeros(len(rows)),
        A_eq=levels,
        b_eq=above(partition, width),
        bounds=np.column_stack((np.zeros(places.size), most.ravel())),
        method="highs",
    )
    assert found.status == 0, found.message
    return found.fun + constant, np.rint(found.eqlin.marginals).astype(np.int64)


def bound(partition: Numbers, width: int, prices: Numbers) -> int:
    """What twice the rules but the match-all one cannot be less than, in whole numbers throughout."""
    # The cheapest way of each target to s = 0 and to s = 1.
    low, high = np.zeros_like(partition), np.full_like(partition, INFINITE)
    for level, price in enumerate(prices.tolist()):
        bit = partition >> level & 1
        # A bit of 0 is odd at s = 1, a bit of 1 at s = 0.
        odd, even = np.where(bit, low, high) + 1, np.where(bit, high, low)
        low = np.where(bit, odd, np.minimum(odd, even))
        high = np.where(bit, np.minimum(odd, even), odd) - price
    return int(np.minimum(low, high).sum()) + int(prices @ above(partition, width))


def composition(random: Random, targets: int, width: int) -> list[int]:
    """A partition into `targets` parts of at least 1, each equally likely."""
    cuts = sorted(random.sample(range(1, 1 << width), targets - 1))
    return [b - a for a, b in pairwise([0, *cuts, 1 << width])]


def certify(partition: list[int], width: int) -> None:
    rules = exact(partition, width)
    assert evaluate(rules, width, len(partition)) == partition
    assert count(partition, width) == len(rules)
    parts = np.array(partition, np.int64)
    least, prices = program(parts, width)
    assert least == pytest.approx(2 * (len(rules) - 1), abs=1e-4)
    assert bound(parts, width, prices) == 2 * (len(rules) - 1)


def test_a_thousand_targets_and_32_bits() -> None:
    certify(composition(Random(1), 1000, 32), 32)


@given(st.integers(1, 30), st.integers(1, 40), st.randoms(use_true_random=False))
def test_random_partitions(width: int, targets: int, random: Random) -> None:
    certify(composition(random, min(targets, 1 << width), width), width)


@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_no_prices_prove_too_much(width: int, targets: int, data: st.DataObject) -> None:
    """The bound holds at any prices, with zeros in the partition too."""
    cuts = st.lists(st.integers(0, 1 << width), min_size=targets - 1, max_size=targets - 1)
    ends = [0, *sorted(data.draw(cuts)), 1 << width]
    partition = [b - a for a, b in pairwise(ends)]
    prices = data.draw(st.lists(st.integers(-3, 3), min_size=width, max_size=width))
    least = fewest_rules(width, targets)[tuple(partition)]
    assert bound(np.array(partition), width, np.array(prices)) <= 2 * (least - 1)
