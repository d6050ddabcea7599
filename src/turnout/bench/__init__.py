"""Speed of the programs, by themselves: no network card, no driver, no interrupts."""

from turnout.bench.forwarder import CASES, Figure, forwarder

__all__ = ["CASES", "Figure", "forwarder"]
