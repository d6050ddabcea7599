"""A backend's host, kept as it must be."""

from collections.abc import Iterator
from pathlib import Path

from turnout.agent.decapsulation import AgentError, Decapsulation
from turnout.agent.settings import establish
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
        """Make hold what must; yields a line for each thing that did not. Raises AgentError."""
        try:
            own = addresses.interfaces_with(wanted.address)
            if not own:
                raise AgentError(
                    f"no interface has {wanted.address}, the address of backend {wanted.backend}"
                )
            # Answers may leave by another interface than packets come in by.
            interfaces = sorted({*own, *addresses.default_interfaces()} - {"lo"})
            self.decapsulation.allow(wanted, min(addresses.mtu(name) for name in own))
            yield from establish(wanted, interfaces, self._state)
            # Last: what is opened must find its VIP.
            self.decapsulation.attach(interfaces)
        except (OSError, ValueError) as error:
            raise AgentError(str(error)) from error

    def close(self) -> None:
        """Detach. Addresses and settings stay: established connections need them."""
        self.decapsulation.close()
