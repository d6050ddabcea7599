"""Drawings, as SVG. Needs matplotlib, which the extra `plot` brings."""

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure


def save(figure: Figure, path: Path) -> None:
    """Writes `figure` as an SVG: text as text, and the same bytes for the same figure. Raises
    OSError where it cannot be written."""
    with matplotlib.rc_context({"svg.hashsalt": "turnout", "svg.fonttype": "none"}):
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
