"""A backend's host, kept as it must be."""

from collections.abc import Iterator
from pathlib import Path

from turnout.agent.decapsulation import Decapsulation
from turnout.agent.errors import AgentError
from turnout.agent.settings import LOOPBACK, establish
from turnout.agent.wanted import Wanted
from turnout.kernel import addresses


class Host:
    """Programs, addresses and settings of one backend. `reconcile` makes them right, again and
    again: somebody may have taken a VIP away or changed a setting."""

    def __init__(self, state: Path) -> None:
        """Load the programs; `state` is where what was before is kept. Raises AgentError."""
        self._state = state
        self.decapsulation = Decapsulation()

    def reconcile(self, wanted: Wanted) -> Iterator[str]:
        """Make hold what must; yields a line for each thing that did not, and one for each reason
        why packets were dropped since the last time. Raises AgentError."""
        try:
            incoming = [name for name in _carrying(wanted) if name != LOOPBACK]
            # Answers may leave by another interface than packets come in by.
            leaving = [name for name in addresses.default_interfaces() if name != LOOPBACK]
            interfaces = {name: addresses.interface(name) for name in {*incoming, *leaving}}
            # An address on lo is reached by the interfaces that lead to the rest of the network.
            for name in incoming or leaving:
                if not interfaces[name].ethernet:
                    raise AgentError(f"{name} is no Ethernet interface: packets cannot be opened")
            ethernet = sorted(name for name, found in interfaces.items() if found.ethernet)
            if not ethernet:
                raise AgentError(f"no Ethernet interface leads to {wanted.address}")
            mtu = min(interfaces[name].mtu for name in incoming or leaving)
            self.decapsulation.allow(wanted, mtu)
            yield from establish(wanted, ethernet, self._state)
            # Last: what is opened must find its VIP.
            self.decapsulation.attach(ethernet)
            for reason, packets in self.decapsulation.dropped():
                yield f"dropped {packets} packets ({reason.name}): {reason.text}"
        except (OSError, ValueError) as error:
            raise AgentError(str(error)) from error

    def close(self) -> None:
        """Detach. Addresses and settings stay: established connections need them."""
        self.decapsulation.close()


def _carrying(wanted: Wanted) -> list[str]:
    found = addresses.interfaces_with(wanted.address)
    if not found:
        raise AgentError(
            f"no interface has {wanted.address}, the address of backend {wanted.backend}"
        )
    return found
