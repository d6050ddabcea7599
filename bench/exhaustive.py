"""Every partition of up to 32 addresses over up to 4 targets, held to the search over all maps of
addresses: python -m bench.exhaustive. The tests do so up to 16 addresses."""

from fractions import Fraction

from tests.split.brute import error, fewest_over, fewest_rules
from turnout.split import NORMS, approximate, count, evaluate, exact, over_defaults

WIDEST, MOST_TARGETS = 5, 4
EACH = 37
"""Of the partitions, one in so many is asked for in every norm with every budget."""


def main() -> None:
    """Raises AssertionError at the first partition that is not as found by trying everything."""
    for width in range(WIDEST + 1):
        for targets in range(1, min(MOST_TARGETS, 1 << width) + 1):
            sizes = fewest_rules(width, targets)
            for partition, least in sizes.items():
                assert count(partition, width) == least, partition
                for method in ("bit_matcher", "niagara", "super_states"):
                    rules = exact(partition, width, method)
                    assert len(rules) == least, (partition, method)
                    assert evaluate(rules, width, targets) == list(partition), (partition, method)
            asked = sum(_budgets(width, wanted, sizes) for wanted in [*sizes][::EACH])
            print(f"W={width} k={targets}: {len(sizes)} partitions, {asked} optima", flush=True)
    for width, targets, power in ((WIDEST, MOST_TARGETS, 1), (WIDEST, MOST_TARGETS, 2), (3, 8, 3)):
        over = fewest_over(width, targets, power)
        for partition, least in over.items():
            assert len(over_defaults(partition, width, power)) == least, (partition, power)
        print(f"W={width} k={targets}: {len(over)} over {1 << power} default rules", flush=True)


def _budgets(width: int, wanted: tuple[int, ...], sizes: dict[tuple[int, ...], int]) -> int:
    for norm in NORMS:
        errors = {part: error(norm, part, [*map(Fraction, wanted)]) for part in sizes}
        for budget in range(1, max(sizes.values()) + 1):
            least = min(e for part, e in errors.items() if e is not None and sizes[part] <= budget)
            assert approximate(wanted, width, budget, norm).error == least, (wanted, norm, budget)
    return len(NORMS) * max(sizes.values())


if __name__ == "__main__":
    main()
