"""All benchmarks, one after the other: python -m bench."""

from bench.maglev.__main__ import main as maglev
from turnout.cli.bench import command

if __name__ == "__main__":
    maglev([])
    command(["forwarder"])
