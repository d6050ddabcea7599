"""Networks of namespaces, used by the demo, the tests and whoever wants to look around."""

from turnout.lab.machines import LabError, Machines
from turnout.lab.oracle import Oracle
from turnout.lab.programs import Lab
from turnout.lab.promises import Carried, Promise
from turnout.lab.record import HOME, Record, find
from turnout.lab.story import Outcome, Step, Story
from turnout.lab.topology import PORT, ROUTER, VIP4, VIP6, Host, Link, Topology

__all__ = [
    "HOME",
    "PORT",
    "ROUTER",
    "VIP4",
    "VIP6",
    "Carried",
    "Host",
    "Lab",
    "LabError",
    "Link",
    "Machines",
    "Oracle",
    "Outcome",
    "Promise",
    "Record",
    "Step",
    "Story",
    "Topology",
    "find",
]
