"""What the kernel is told so that a topology comes into being: `ip -batch` lines and sysctls."""

from collections.abc import Callable
from pathlib import Path

from turnout.lab.topology import LANS, Host, Lan, Topology, gateway4, gateway6

CLIENT_MTU = 1500

Settings = dict[str, str]
"""Path under /proc/sys/net to its value."""

# Without duplicate address detection an address works at once.
HOST_SETTINGS: Settings = {
    "ipv6/conf/all/accept_dad": "0",
    "ipv6/conf/default/accept_dad": "0",
    "ipv6/conf/default/accept_ra": "0",
}

# A hash of the 5-tuple, so that one client's connections go to all instances.
ROUTER_SETTINGS: Settings = {
    **HOST_SETTINGS,
    "ipv4/ip_forward": "1",
    "ipv4/conf/all/rp_filter": "0",
    "ipv4/conf/default/rp_filter": "0",
    "ipv6/conf/all/forwarding": "1",
    "ipv4/fib_multipath_hash_policy": "1",
    "ipv6/fib_multipath_hash_policy": "1",
}


def router_lines(topology: Topology, namespace: Callable[[str], str], xdp_pass: Path) -> list[str]:
    """Bridges, and every link of every host. `namespace` maps a host's name to its namespace's.

    The ports of instances run `xdp_pass`: a veth takes what XDP sends to it only if it has an XDP
    program too.
    """
    lines = ["link set lo up"]
    for lan in LANS:
        lines += [
            f"link add {lan} type bridge mcast_snooping 0",
            # A bridge takes its MAC from its ports as they come and go, unless it is told one.
            f"link set {lan} address 02:00:00:00:{LANS.index(lan):02x}:fe",
            f"address add {gateway4(lan)} dev {lan}",
            f"address add {gateway6(lan)} dev {lan} nodad",
        ]
    for host in topology.hosts():
        for link in host.links:
            mtu = _mtu(topology, link.lan)
            lines += [
                f"link add {link.port} mtu {mtu} type veth "
                f"peer name {link.interface} mtu {mtu} netns {namespace(host.name)}",
                f"link set {link.port} master {link.lan} up",
            ]
            if link.lan in ("instances", "arms"):
                lines.append(f"link set {link.port} xdpdrv obj {xdp_pass} sec xdp.frags")
    return [*lines, *(f"link set {lan} mtu {_mtu(topology, lan)} up" for lan in LANS)]


def host_lines(host: Host) -> list[str]:
    """Addresses and default routes; backends are reached by the second arm where there is one."""
    lines = ["link set lo up"]
    for link in host.links:
        lines += [
            f"link set {link.interface} up",
            f"address add {link.address4} dev {link.interface}",
            f"address add {link.address6} dev {link.interface} nodad",
        ]
    first, last = host.links[0], host.links[-1]
    lines += [
        f"route add default via {gateway4(first.lan).ip} dev {first.interface}",
        f"route add default via {gateway6(first.lan).ip} dev {first.interface}",
    ]
    if last is not first:
        lines += [
            f"route add {gateway4('backends').network} via {gateway4(last.lan).ip}",
            f"route add {gateway6('backends').network} via {gateway6(last.lan).ip}",
        ]
    return lines


def _mtu(topology: Topology, lan: Lan) -> int:
    return CLIENT_MTU if lan == "clients" else topology.mtu
