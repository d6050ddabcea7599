"""Hypothesis looks for new examples on a person's machine, and repeats the same ones in CI: what it
finds there should be the fault of the change at hand. How long an example takes is no fault."""

import os

from hypothesis import settings

settings.register_profile("person", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "person")
