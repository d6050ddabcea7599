"""BIRD's configurations: the router's, and the frame around an instance's snippet."""

from pathlib import Path

from turnout.lab.topology import INSTANCE_AS, ROUTER_AS, Topology, gateway4, gateway6


def router_config(topology: Topology) -> str:
    """One BGP session a family with each instance, with BFD; equal routes become one ECMP route."""
    head = f"""\
router id {gateway4("instances").ip};
protocol device {{}}
protocol bfd {{
    interface "*" {{ interval 50 ms; multiplier 3; }};
}}
protocol kernel {{
    ipv4 {{ import none; export all; }};
    merge paths yes;
}}
protocol kernel {{
    ipv6 {{ import none; export all; }};
    merge paths yes;
}}
template bgp to_instance {{
    bfd yes;
    hold time 9;
    connect delay time 1;
    connect retry time 1;
    error wait time 1, 2;
}}
"""
    sessions = [
        f"protocol bgp {host.name}_{family} from to_instance {{\n"
        f"    local {own} as {ROUTER_AS};\n"
        f"    neighbor {address} as {INSTANCE_AS};\n"
        f"    {family} {{ import all; export none; }};\n"
        "}\n"
        for host in topology.instance_hosts()
        for family, own, address in (
            ("ipv4", gateway4("instances").ip, host.address4),
            ("ipv6", gateway6("instances").ip, host.address6),
        )
    ]
    return head + "".join(sessions)


def instance_config(snippet: Path) -> str:
    """What an instance's bird.conf has around the snippet of `turnout announce snippet`."""
    return f'protocol device {{}}\ninclude "{snippet}";\n'
