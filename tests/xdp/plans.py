"""Plans of one service, the flows that they may serve, and what should and does become of each."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, ip_address

from scapy.compat import raw
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet

from tests.plan.fleets import CHECK, KEYS, address, fleet_of
from turnout import core, maglev, plan
from turnout.config import Address, Backend, Member, Pool, Protocol
from turnout.kernel.bpf import XDP_TX
from turnout.plan import NextHop, Plan
from turnout.xdp import Forwarder

LOOPBACK = 1
HOP = NextHop(LOOPBACK, 0, b"\2\0\0\0\0\1", b"\2\0\0\0\0\2", 1500)
CLIENTS: dict[int, list[Address]] = {
    4: [IPv4Address("198.51.100.1") + i for i in range(3)],
    6: [IPv6Address("2001:db8::1") + i for i in range(3)],
}
NOTHING = Plan("lb", (), (), (), (), ())


VIPS = (address(200, 4), address(201, 4), address(200, 6))
"""Those of random fleets."""


def flows() -> list[core.Flow]:
    """To every VIP and port that random fleets may serve, and to one that none does."""
    return [
        core.Flow(client, vip, 40_000 + n, 1000 + port, protocol)
        for vip in VIPS
        for port in range(6)
        for protocol in (6, 17)
        for n, client in enumerate(CLIENTS[vip.version])
    ]


FLOWS = flows()


def frame(flow: core.Flow) -> bytes:
    l4 = TCP if flow.protocol == 6 else UDP
    return _frame(flow.source, flow.vip, l4(sport=flow.source_port, dport=flow.vip_port))


def echo_request(vip: Address) -> bytes:
    return _frame(CLIENTS[vip.version][0], vip, ICMP() if vip.version == 4 else ICMPv6EchoRequest())


def _frame(source: Address, vip: Address, l4: Packet) -> bytes:
    ip = IP if vip.version == 4 else IPv6
    # Both named, or scapy asks the network.
    link = Ether(src="02:00:00:00:00:09", dst="02:00:00:00:00:01")
    return bytes(raw(link / ip(src=str(source), dst=str(vip)) / l4))


FRAMES = [*map(frame, FLOWS), *map(echo_request, VIPS)]


def expected(made: Plan) -> list[str]:
    """What should become of each frame: the address that it goes to or the reason, from the plan
    alone."""
    planned = {vip.vip for vip in made.vips}
    return [
        *(_expected(made, flow) for flow in FLOWS),
        *(str(CLIENTS[v.version][0]) if v in planned else "not_service" for v in VIPS),
    ]


def _expected(made: Plan, flow: core.Flow) -> str:
    protocol: Protocol = "tcp" if flow.protocol == 6 else "udp"
    services = {(s.vip, s.protocol, s.port): s for s in made.services}
    service = services.get((flow.vip, protocol, flow.vip_port))
    service = service or services.get((flow.vip, protocol, None))
    if service is None:
        return "not_service"
    members = {m.number: m for m in made.members}
    (table,) = (t for t in made.tables if t.key == service.table)
    usable = [members[n].state == "up" for n in table.members]
    hash_ = core.flow_hash(flow, service.hash_key, service.hash == "client-address")
    index = int(maglev.lookup(table.indices, [hash_], usable)[0])
    if index < 0:
        return "no_member"
    member = members[table.members[index]]
    return "no_next_hop" if member.next_hop is None else str(member.address)


def seen(forwarder: Forwarder) -> list[str]:
    """What becomes of each frame: the address that it goes to, or the reason that was counted."""
    found = []
    before = forwarder.counters().reasons
    for packet in FRAMES:
        run = forwarder.program.run(packet)
        if run.verdict == XDP_TX:
            found.append(str(ip_address(Ether(run.data).payload.dst)))
            continue
        after = forwarder.counters().reasons
        sent = ("forwarded", "echo_answered")
        (reason,) = (n for n in after if after[n] != before[n] and n not in sent)
        found.append(reason)
        before = after
    return found


def one_service(backends: dict[str, bool], previous: Plan | None, name: str = "s") -> Plan:
    """The plan of one service over these backends, b0 to b19, each up or not."""
    members = tuple(Member("p", backend, 1, False, CHECK) for backend in backends)
    fleet = fleet_of(
        Pool("p", members, CHECK, 0.0, "default"),
        backends={b: Backend(b, address(1 + int(b[1:]), 4)) for b in backends},
    )
    service = replace(fleet.services["s0"], name=name)
    observed = plan.Observed(
        up={("p", backend): up for backend, up in backends.items()},
        next_hops={backend.address: HOP for backend in fleet.backends.values()},
    )
    return plan.compile(replace(fleet, services={name: service}), "lb", observed, previous, KEYS)


def two_plans() -> tuple[Plan, Plan]:
    """One service over three backends, and over two others."""
    one = one_service({"b0": True, "b1": True, "b2": True}, None)
    return one, one_service({"b10": True, "b11": True}, one)
