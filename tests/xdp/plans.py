"""Plans of one service, the flows that they may serve, and what should and does become of each."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, ip_address

from scapy.compat import raw
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

from tests.plan.fleets import CHECK, KEYS, address, fleet_of
from turnout import core, maglev, plan
from turnout.config import Address, Backend, Member, Pool
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


def flows() -> list[core.Flow]:
    """To every VIP and port that random fleets may serve, and to one that none does."""
    return [
        core.Flow(client, vip, 40_000 + n, 1000 + port, protocol)
        for vip in (address(200, 4), address(201, 4), address(200, 6))
        for port in range(6)
        for protocol in (6, 17)
        for n, client in enumerate(CLIENTS[vip.version])
    ]


FLOWS = flows()


def frame(flow: core.Flow) -> bytes:
    ip = IP if flow.vip.version == 4 else IPv6
    l4 = TCP if flow.protocol == 6 else UDP
    packet = ip(src=str(flow.source), dst=str(flow.vip))
    # Both named, or scapy asks the network.
    link = Ether(src="02:00:00:00:00:09", dst="02:00:00:00:00:01")
    return bytes(raw(link / packet / l4(sport=flow.source_port, dport=flow.vip_port)))


FRAMES = [frame(flow) for flow in FLOWS]


def expected(made: Plan) -> list[str]:
    """What should become of each flow: the outer destination or the reason, from the plan alone."""
    names = {6: "tcp", 17: "udp"}
    members = {m.number: m for m in made.members}
    tables = {t.key: t for t in made.tables}
    found = []
    for flow in FLOWS:
        service = next(
            (
                s
                for s in made.services
                if (s.vip, s.port, s.protocol) == (flow.vip, flow.vip_port, names[flow.protocol])
            ),
            None,
        )
        if service is None:
            found.append("not_service")
            continue
        table = tables[service.table]
        usable = [members[n].state == "up" for n in table.members]
        client_only = service.hash == "client-address"
        hash_ = core.flow_hash(flow, service.hash_key, client_only)
        index = int(maglev.lookup(table.indices, [hash_], usable)[0])
        if index < 0:
            found.append("no_member")
        elif (member := members[table.members[index]]).next_hop is None:
            found.append("no_next_hop")
        else:
            found.append(str(member.address))
    return found


def seen(forwarder: Forwarder) -> list[str]:
    """What becomes of each flow: the outer destination, or the reason that was counted."""
    found = []
    before = forwarder.counters().reasons
    for packet in FRAMES:
        run = forwarder.program.run(packet)
        if run.verdict == XDP_TX:
            outer = Ether(run.data).payload
            found.append(str(ip_address(outer.dst)))
            continue
        after = forwarder.counters().reasons
        (reason,) = (n for n in after if after[n] != before[n] and n != "forwarded")
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
