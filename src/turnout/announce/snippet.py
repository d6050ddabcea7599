"""What BIRD needs to export the VIPs, ready to be included."""

from turnout.config import Address, Fleet, Instance

_BFD = """protocol bfd turnout_bfd {
	interface "*" {
		interval 50 ms;
		multiplier 3;
	};
}"""


def snippet(fleet: Fleet, instance: str) -> str:
    """BIRD 2 configuration of `instance`, for `include` in a bird.conf with `protocol device`; with
    a router id too where the instance has no IPv4 address to take for one.

    Raises ValueError for an instance that the fleet does not have, or one without routers.
    """
    if instance not in fleet.instances:
        known = ", ".join(fleet.instances)
        raise ValueError(f"no instance is named {instance!r}: expected one of {known}")
    own = fleet.instances[instance]
    if not own.routers:
        raise ValueError(f"instances.{instance}.routers: none, expected the BGP neighbours to tell")
    hints = [
        f"# Exports the VIPs of Turnout instance {instance}. Made by turnout announce snippet.",
        "# What includes this needs: protocol device {}",
        *([] if own.source(4) else ["# and, without an IPv4 address: router id A.B.C.D;"]),
        # BIRD's second one gets no packets, and says nothing about it.
        "# It must not have a protocol bfd of its own.",
    ]
    parts = [
        "\n".join(hints),
        *(_table(fleet, version) for version in (4, 6)),
        _BFD,
        *(_session(fleet, own, router, n) for n, router in enumerate(own.routers, 1)),
    ]
    return "\n\n".join(parts) + "\n"


def _table(fleet: Fleet, version: int) -> str:
    table, protocol = fleet.announcement.table, fleet.announcement.protocol
    return f"""ipv{version} table turnout{version};

protocol kernel turnout_vips{version} {{
	kernel table {table};
	learn; # the kernel tells at once; a scan is for what was missed
	scan time 10;
	ipv{version} {{
		table turnout{version};
		import where krt_source = {protocol};
		export none;
	}};
}}"""


def _session(fleet: Fleet, instance: Instance, router: Address, number: int) -> str:
    local_as, peer_as = fleet.announcement.local_as, fleet.announcement.peer_as
    source = instance.source(router.version)
    local = f"local {source} as {local_as};" if source else f"local as {local_as};"
    router_id = f"\n\trouter id {instance.source(4)};" if instance.source(4) else ""
    # A family that has no router of its own is told to the routers of the other one.
    other = 10 - router.version
    lonely = instance.source(other) and all(r.version != other for r in instance.routers)
    channels = "\n".join(
        _channel(instance, version)
        for version in ((router.version, other) if lonely else (router.version,))
    )
    return f"""protocol bgp turnout{number} {{
	{local}
	neighbor {router} as {peer_as};{router_id}
	hold time 9;
	connect delay time 1;
	connect retry time 1;
	error wait time 1, 4;
	bfd on;
{channels}
}}"""


def _channel(instance: Instance, version: int) -> str:
    source = instance.source(version)
    hop = f"next hop address {source}" if source else "next hop self"
    return f"""	ipv{version} {{
		table turnout{version};
		import none;
		export all;
		{hop};
	}};"""
