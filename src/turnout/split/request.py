"""Weights as a person writes them: 3:5:11, or a=3 b=5 c=11."""

from collections.abc import Sequence
from fractions import Fraction

from turnout.split.model import Norm


def parse(words: Sequence[str]) -> dict[str, Fraction]:
    """Target names to weights, in order; targets without names are called 0, 1, 2 ...

    Weights are decimal numbers or fractions (3, 0.3, 1/3), taken exactly. Raises ValueError with
    the place, what was found and what would be right.
    """
    named = any("=" in word for word in words)
    parts = list(words) if named else [part for word in words for part in word.split(":")]
    weights: dict[str, Fraction] = {}
    for place, part in enumerate(parts):
        name, equals, text = part.partition("=")
        if not named:
            name, text = str(place), part
        elif not (equals and name):
            raise ValueError(f"weight {place + 1}: {part!r}: expected NAME=WEIGHT as in the others")
        if name in weights:
            raise ValueError(f"weight {place + 1}: {name!r} twice: expected each target once")
        weights[name] = number(text, f"weight {place + 1}")
    return weights


def number(text: str, what: str) -> Fraction:
    """A decimal number or fraction >= 0, also in percent. Raises ValueError that begins with
    `what`."""
    digits, percent = (text[:-1], 100) if text.endswith("%") else (text, 1)
    try:
        # Fraction would take 1e999999999 too, and build it.
        if len(digits) > 100 or not set(digits) <= set("0123456789./"):
            raise ValueError
        return Fraction(digits) / percent
    except (ValueError, ZeroDivisionError):
        shown = text if len(text) <= 40 else text[:37] + "..."
        raise ValueError(
            f"{what}: {shown!r}: expected a number of 0 or more, as 3, 0.3 or 1/3"
        ) from None


def share(error: Fraction, norm: Norm, width: int) -> Fraction:
    """An error as a share: of all addresses, or of what was asked for where the norm is
    relative."""
    return error if norm == "linf_plus_rel" else error / (1 << width)
