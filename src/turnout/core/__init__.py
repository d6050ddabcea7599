"""The C library that Python calls where Python is too slow, and where the built files lie."""

from turnout.core.native import native

__all__ = ["native"]
