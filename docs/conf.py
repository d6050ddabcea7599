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

# Page, name, what stands behind the dash, authors, section of the manual.
man_pages = [
    ("reference/commands", "turnout", "a layer-4 load balancer for Linux", author, 1),
    ("reference/configuration", "turnout.yaml", "the configuration of Turnout", author, 5),
]


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", lambda app: generate.write(Path(app.srcdir) / "reference"))
