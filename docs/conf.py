"""Sphinx configuration. Reference pages are generated from the code at each build."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import generate
from sphinx.application import Sphinx

import turnout

project = "Turnout"
author = "the Turnout authors"
copyright = "2026, the Turnout authors"
release = turnout.__version__

extensions = ["myst_parser"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "Turnout"


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", lambda app: generate.write(Path(app.srcdir) / "reference"))
