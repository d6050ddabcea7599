"""How long packets become, and so how long they may be: arithmetic over the fleet file.

"Inner" is the client's packet, "outer" is that packet encapsulated. Lengths are of IP packets in
bytes unless they are called frames. A VLAN tag lengthens the frame and never the packet.
"""

from dataclasses import dataclass

from turnout.config import Encapsulation, Fleet

_SHIM = {"gue": 8, "gre": 4, "ipip": 0}
_IP_HEADER = {4: 20, 6: 40}
_TCP_HEADER = 20
_ETHERNET_HEADER = 14
_TAG = 4

LOWEST_MTU = 1280
"""No IPv6 link may have less (RFC 8200, 5); a usual floor for IPv4 too."""
HIGHEST_MTU = 65_535


@dataclass(frozen=True, slots=True)
class Room:
    """What one service needs and leaves, towards its backends of one address family."""

    service: str
    encapsulation: Encapsulation
    inner: int
    """IP version of the VIP."""
    outer: int
    """IP version of the backends."""
    overhead: int
    largest_inner: int
    """The longest packet of a client that is forwarded."""
    mss: int
    """What a SYN-ACK may announce at most, so that no segment is longer than that."""
    link_mtu: int
    """What links to the backends need so that clients' packets of the given MTU all pass."""
    frame: int
    """Length of the longest Ethernet frame then, without its check sequence."""
    tagged_frame: int


def overhead(encapsulation: Encapsulation, outer: int) -> int:
    """Bytes that an encapsulation adds, outer IP header of version `outer` included."""
    return _SHIM[encapsulation] + _IP_HEADER[outer]


def largest_inner(mtu: int, encapsulation: Encapsulation, outer: int) -> int:
    """The longest inner packet that a link of `mtu` takes."""
    return mtu - overhead(encapsulation, outer)


def largest_mss(packet: int, inner: int) -> int:
    """The MSS whose full segments are packets of `packet` bytes and IP version `inner`, without
    options."""
    return packet - _IP_HEADER[inner] - _TCP_HEADER


def rooms(fleet: Fleet, link_mtu: int = 1500, client_mtu: int = 1500) -> list[Room]:
    """Every service of `fleet`, once for each address family of its backends.

    `link_mtu` is of the links between instances and backends, `client_mtu` of the clients' ways.
    Raises ValueError where one of them is below LOWEST_MTU or above HIGHEST_MTU.
    """
    for name, value in (("link MTU", link_mtu), ("client MTU", client_mtu)):
        if not LOWEST_MTU <= value <= HIGHEST_MTU:
            raise ValueError(f"{name}: {value}: expected {LOWEST_MTU} to {HIGHEST_MTU} bytes")
    found = []
    for service in fleet.services.values():
        addresses = [fleet.backends[m.backend].address for m in fleet.pools[service.pool].members]
        for outer in sorted({address.version for address in addresses}):
            added = overhead(service.encapsulation, outer)
            packet = largest_inner(link_mtu, service.encapsulation, outer)
            frame = client_mtu + added + _ETHERNET_HEADER
            found.append(
                Room(
                    service.name,
                    service.encapsulation,
                    service.vip.version,
                    outer,
                    added,
                    packet,
                    largest_mss(packet, service.vip.version),
                    client_mtu + added,
                    frame,
                    frame + _TAG,
                )
            )
    return found
