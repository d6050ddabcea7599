"""Health of the members: probes, verdicts, and who is asked when."""

from turnout.health.checks import Checks, Question
from turnout.health.probes import Probes
from turnout.health.verdict import State, advance

__all__ = ["Checks", "Probes", "Question", "State", "advance"]
