"""All benchmarks, one after the other: python -m bench."""

from bench.maglev.__main__ import command as maglev
from turnout.cli.bench import command as packets

if __name__ == "__main__":
    packets(["forwarder"], standalone_mode=False)
    print()
    maglev([])
