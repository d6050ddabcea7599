"""The backend's side: VIPs on lo, kernel settings, decapsulation, MSS."""

from turnout.agent.decapsulation import Decapsulation
from turnout.agent.errors import AgentError
from turnout.agent.host import Host
from turnout.agent.settings import alone, establish, state_file, undo
from turnout.agent.wanted import Listener, Wanted, wanted

__all__ = [
    "AgentError",
    "Decapsulation",
    "Host",
    "Listener",
    "Wanted",
    "alone",
    "establish",
    "state_file",
    "undo",
    "wanted",
]
