"""What a sample of packets says of a split, in words."""

from collections.abc import Sequence
from pathlib import Path

from turnout.split import Split
from turnout.switch import Field, sample


def warnings(split: Split, names: Sequence[str], field: Field, path: Path) -> list[str]:
    """A line for each target whose share of the packets in the file is far from what the split gives
    it; none where the address bits are uniform enough.

    Raises ValueError and OSError as `sample.read` does.
    """
    counts = sample.got(split, sample.read(path, field))
    total = sum(counts)
    lines = [
        f"{path}: {names[target]} would get {counts[target] / total:.2%} of {total} packets, "
        f"not {split.partition[target] / (1 << split.width):.2%}"
        for target in sample.far(split, counts)
    ]
    if lines:
        bits = "bit of" if split.width == 1 else f"{split.width} bits of"
        are = f"{field.name} {'is' if split.width == 1 else 'are'} far from uniform"
        lines.append(f"{path}: the lowest {bits} {are}: expected another field, or a hash")
    return lines
