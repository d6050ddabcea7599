"""Networks of namespaces, used by the demo, the tests and whoever wants to look around."""

from turnout.lab.machines import LabError, Machines
from turnout.lab.record import HOME, Record, find
from turnout.lab.topology import PORT, ROUTER, VIP4, VIP6, Host, Link, Topology

__all__ = [
    "HOME",
    "PORT",
    "ROUTER",
    "VIP4",
    "VIP6",
    "Host",
    "LabError",
    "Link",
    "Machines",
    "Record",
    "Topology",
    "find",
]
