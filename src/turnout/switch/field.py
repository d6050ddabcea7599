"""What of a packet a split looks at: the lowest bits of a field, which are nearer to uniform than
the highest."""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Literal

from turnout.split import Rule, Split

Kind = Literal["ipv4", "ipv6", "number"]


@dataclass(frozen=True, slots=True)
class Field:
    """A field by its name in Open vSwitch."""

    name: str
    bits: int
    kind: Kind
    needs: str
    """What a flow must match for the field to be there; empty for what every packet has."""
    nft: str | None
    """The same in nftables, where it has it."""

    def mask(self, length: int, width: int) -> int:
        """The upper `length` of the lowest `width` bits."""
        return (1 << length) - 1 << width - length

    def written(self, value: int) -> str:
        """`value` as both programs read it."""
        match self.kind:
            case "ipv4":
                return str(IPv4Address(value))
            case "ipv6":
                return str(IPv6Address(value))
            case "number":
                return f"{value:#x}"

    def check(self, split: Split) -> None:
        """Raises ValueError for a split of more bits than the field has."""
        if split.width > self.bits:
            raise ValueError(
                f"width: {split.width}: expected at most {self.bits}, all of {self.name}"
            )


def value(rule: Rule, width: int) -> int:
    """The rule's bits where a field has them."""
    return rule.prefix << width - rule.length


FIELDS = {
    field.name: field
    for field in (
        Field("nw_src", 32, "ipv4", "ip", "ip saddr"),
        Field("nw_dst", 32, "ipv4", "ip", "ip daddr"),
        Field("ipv6_src", 128, "ipv6", "ipv6", "ip6 saddr"),
        Field("ipv6_dst", 128, "ipv6", "ipv6", "ip6 daddr"),
        Field("tcp_src", 16, "number", "tcp", "tcp sport"),
        Field("udp_src", 16, "number", "udp", "udp sport"),
        *(Field(f"reg{n}", 32, "number", "", None) for n in range(8)),
    )
}
"""The client's address first; a register may hold a hash that an earlier table put there."""
