"""What must hold on a backend: a pure function of the fleet file."""

from dataclasses import dataclass

from turnout.config import Address, Fleet
from turnout.plan import largest_mss, overhead


@dataclass(frozen=True, slots=True)
class Listener:
    """A TCP service as its backend sees it."""

    vip: Address
    port: int | None
    """None: all ports."""
    overhead: int
    """Bytes that encapsulation adds to what the client sends."""

    def largest_mss(self, mtu: int) -> int:
        """Bytes of payload that a segment may have to come in encapsulated by a link of `mtu`."""
        return largest_mss(mtu - self.overhead, self.vip.version)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What must hold on one backend."""

    backend: str
    address: Address
    instances: tuple[Address, ...]
    """Who may send it encapsulated packets."""
    vips: tuple[Address, ...]
    listeners: tuple[Listener, ...]


def wanted(fleet: Fleet, backend: str) -> Wanted:
    """What must hold on `backend`. Raises ValueError for one that the fleet does not have."""
    if backend not in fleet.backends:
        known = ", ".join(fleet.backends)
        raise ValueError(f"no backend is named {backend!r}: expected one of {known}")
    address = fleet.backends[backend].address
    services = [
        service
        for service in fleet.services.values()
        if any(member.backend == backend for member in fleet.pools[service.pool].members)
    ]
    return Wanted(
        backend=backend,
        address=address,
        instances=tuple(
            source
            for instance in fleet.instances.values()
            if (source := instance.source(address.version)) is not None
        ),
        vips=tuple(dict.fromkeys(service.vip for service in services)),
        listeners=tuple(
            Listener(service.vip, service.port, overhead(service.encapsulation, address.version))
            for service in services
            if service.protocol == "tcp"
        ),
    )
