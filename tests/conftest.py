"""Hypothesis looks for new examples on a person's machine, and repeats the same ones in CI: what it
finds there should be the fault of the change at hand."""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
