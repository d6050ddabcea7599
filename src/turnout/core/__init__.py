"""The C library that Python calls, and where the built files lie.

What kernel and Python must agree on is written once, in headers under bpf/, and met here.
"""

from turnout.core.flow import TCP, UDP, Flow, flow_hash, flow_hashes
from turnout.core.library import library
from turnout.core.native import native
from turnout.core.primes import is_prime, least_prime
from turnout.core.reasons import Reason, agent_reasons, reasons
from turnout.core.services import service_bucket, service_filter_bit, service_key

__all__ = [
    "TCP",
    "UDP",
    "Flow",
    "Reason",
    "agent_reasons",
    "flow_hash",
    "flow_hashes",
    "is_prime",
    "least_prime",
    "library",
    "native",
    "reasons",
    "service_bucket",
    "service_filter_bit",
    "service_key",
]
