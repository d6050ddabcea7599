"""The fields of a fleet file: the one source of parsing, JSON Schema and reference manual."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turnout.config import scalars
from turnout.config.scalars import Reader, choice, integer, name

REQUIRED: Any = object()


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record. `shape` says how `type` is meant: one value, a list of values, one
    record of a kind, or a map from names to records of a kind."""

    type: "Reader | Kind"
    meaning: str
    default: Any = REQUIRED
    shape: str = "one"
    """one, list or map"""
    default_text: str = ""
    """For the manual, where the default is not a plain value."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of record and its fields by name."""

    name: str
    meaning: str
    fields: Mapping[str, Field]


ANNOUNCEMENT = Kind(
    "announcement",
    "How VIPs become known to routers: routes that a BGP speaker on the instance exports.",
    {
        "local_as": Field(integer(1, 4_294_967_295), "AS number of the instances.", 65_001),
        "peer_as": Field(integer(1, 4_294_967_295), "AS number of the routers.", 65_000),
        "table": Field(
            scalars.ROUTING_TABLE,
            "Kernel routing table that holds the VIPs' routes, and nothing else; FRR can import "
            "1 to 252.",
            174,
        ),
        "protocol": Field(
            integer(64, 185), "Kernel route protocol number by which our routes are known.", 74
        ),
    },
)

INSTANCE = Kind(
    "instance",
    "One load-balancer machine.",
    {
        "interfaces": Field(
            scalars.INTERFACE, "Interfaces that the forwarder is attached to.", shape="list"
        ),
        "mode": Field(
            choice("auto", "native", "generic"),
            "How: by the driver, by the stack, or by the driver where it can.",
            "auto",
        ),
        "addresses": Field(
            scalars.ADDRESS,
            "Its own addresses, one of a family: the outer source of what it encapsulates.",
            shape="list",
        ),
        "routers": Field(
            scalars.ADDRESS, "BGP neighbours, for `turnout announce snippet`.", (), shape="list"
        ),
    },
)

BACKEND = Kind(
    "backend",
    "A server.",
    {"address": Field(scalars.ADDRESS, "Where encapsulated packets are sent.")},
)

MEMBER = Kind(
    "member",
    "A backend in a pool.",
    {
        "weight": Field(scalars.WEIGHT, "Its share of the flows, relative to the others'.", 1),
        "drain": Field(scalars.BOOLEAN, "No new flows; its weight and so the table stay.", False),
    },
)

CHECK = Kind(
    "check",
    "How the health of a pool's members is asked for.",
    {
        "type": Field(choice("tcp", "http"), "Connect, or ask for a page."),
        "port": Field(
            scalars.PORT,
            "Port that is asked.",
            None,
            default_text="the port of the services that use the pool, where they have but one",
        ),
        "path": Field(scalars.TARGET, "http: what is asked for.", None, default_text="`/`"),
        "status": Field(
            scalars.STATUS, "http: answers that count as success.", None, default_text="`200-399`"
        ),
        "interval": Field(scalars.DURATION, "Time between two checks.", 2.0, default_text="`2s`"),
        "timeout": Field(
            scalars.DURATION, "Time after which a check has failed.", 1.0, default_text="`1s`"
        ),
        "rise": Field(integer(1, 100), "Successes in a row that bring a member up.", 2),
        "fall": Field(integer(1, 100), "Failures in a row that take it down.", 3),
    },
)

POOL = Kind(
    "pool",
    "A named set of members.",
    {
        "members": Field(
            MEMBER,
            "Members by the name of their backend; at most 4096, with those of included pools.",
            {},
            shape="map",
        ),
        "include": Field(
            name("a pool"),
            "Pools whose members belong to this one too; they keep their own check. At most 64, "
            "theirs counted.",
            (),
            shape="list",
        ),
        "check": Field(CHECK, "Without one, members count as up.", None, default_text="none"),
        "min_up": Field(
            scalars.PERCENT,
            "The floor: with a smaller share of members up, the whole pool is served.",
            0.0,
            default_text="`0%`",
        ),
        "hash_key": Field(
            name("a hash key"),
            "Name of the key of the flow hash. Pools of the same key and members choose alike.",
            "default",
        ),
    },
)

SERVICE = Kind(
    "service",
    "A VIP with protocol and port.",
    {
        "vip": Field(scalars.ADDRESS, "The address that clients use."),
        "protocol": Field(choice("tcp", "udp"), "Protocol of its packets."),
        "port": Field(
            scalars.PORT_OR_ALL, "Its port, or all that no other service of the VIP has."
        ),
        "pool": Field(name("a pool"), "Who serves it."),
        "policy": Field(choice("maglev"), "How a backend is chosen.", "maglev"),
        "table_size": Field(
            integer(2, 1 << 24),
            "Slots of the lookup table: a prime, at least 100 for each member. The largest takes "
            "32 MB on each instance.",
            65_537,
        ),
        "allow_small_table": Field(
            scalars.BOOLEAN,
            "Accept fewer than 100 slots for each member, and with them less even shares.",
            False,
        ),
        "encapsulation": Field(
            choice("gue", "ipip", "gre"), "How packets are wrapped for the backend.", "gue"
        ),
        "hash": Field(
            choice("5-tuple", "client-address"),
            "What the choice depends on: all of the flow, or the client's address alone.",
            "5-tuple",
        ),
    },
)

SPLIT_FIELDS = {
    "nw_src": 32,
    "nw_dst": 32,
    "ipv6_src": 128,
    "ipv6_dst": 128,
    "tcp_src": 16,
    "udp_src": 16,
    **{f"reg{n}": 32 for n in range(8)},
}
"""Fields of a packet whose lowest bits may decide, by their names in Open vSwitch, and their bits."""

SWITCH_TARGET = Kind(
    "target",
    "Where a switch sends a share of the packets.",
    {
        "port": Field(scalars.SWITCH_PORT, "The port behind which it is."),
        "weight": Field(
            integer(0, 1_000_000_000), "Its share of the addresses, relative to the others'.", 1
        ),
    },
)

SPLIT = Kind(
    "split",
    "Packets that a switch splits over targets by prefix rules.",
    {
        "targets": Field(SWITCH_TARGET, "Targets by name.", shape="map"),
        "service": Field(
            name("a service"),
            "Whose packets; those of other services go on as before.",
            None,
            default_text="all packets that have the field",
        ),
        "field": Field(
            choice(*SPLIT_FIELDS),
            "What is looked at; a register may hold a hash that an earlier table put there.",
            None,
            default_text="the client's address",
        ),
        "width": Field(integer(1, 32), "How many of its lowest bits decide."),
        "rules": Field(
            integer(1, 1_000_000),
            "Rules there may be, the match-all rule included.",
            None,
            default_text="as many as it takes",
        ),
        "norm": Field(
            choice("linf", "linf_plus", "linf_rel", "linf_plus_rel", "l1"),
            "What is to be small where it cannot be exact: see `turnout split --help`.",
            "linf",
        ),
        "table": Field(integer(0, 254), "The flow table.", 0),
    },
)

SWITCH = Kind(
    "switch",
    "An Open vSwitch bridge that splits packets.",
    {
        "bridge": Field(
            scalars.BRIDGE, "How its machine, or that of `instance`, reaches it, as for ovs-ofctl."
        ),
        "instance": Field(
            name("an instance"),
            "Whose daemon keeps the flows; without one, `turnout switch apply` puts them there once.",
            None,
            default_text="none",
        ),
        "splits": Field(SPLIT, "Splits by name.", shape="map"),
    },
)

FLEET = Kind(
    "fleet",
    "The whole file.",
    {
        "key_file": Field(
            scalars.PATH,
            "File with the secret of the flow hash: 64 hexadecimal digits, mode 0600, "
            "relative to the fleet file. Without it clients can aim at members.",
            None,
            default_text="none",
        ),
        "announcement": Field(
            ANNOUNCEMENT, "How VIPs become known.", None, default_text="see below"
        ),
        "instances": Field(INSTANCE, "Instances by name.", shape="map"),
        "backends": Field(BACKEND, "Backends by name.", shape="map"),
        "pools": Field(POOL, "Pools by name.", shape="map"),
        "services": Field(SERVICE, "Services by name.", shape="map"),
        "switches": Field(SWITCH, "Switches by name.", {}, shape="map"),
    },
)

KINDS = (
    FLEET,
    ANNOUNCEMENT,
    INSTANCE,
    BACKEND,
    POOL,
    MEMBER,
    CHECK,
    SERVICE,
    SWITCH,
    SPLIT,
    SWITCH_TARGET,
)
