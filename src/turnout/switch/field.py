"""What of a packet a split looks at: the lowest bits of a field, which are nearer to uniform than
the highest."""

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from turnout.split import Split


@dataclass(frozen=True, slots=True)
class Field:
    """A field by its name in Open vSwitch."""

    name: str
    bits: int
    form: Callable[[int], object]
    """What a value is, for both programs to read."""
    needs: str
    """What a flow must match for the field to be there; empty for what every packet has."""
    nft: str | None
    """The same in nftables, where it has it."""

    def written(self, value: int) -> str:
        """`value` as both programs read it."""
        return str(self.form(value))

    def check(self, split: Split) -> None:
        """Raises ValueError for a split of more bits than the field has."""
        if split.width > self.bits:
            raise ValueError(
                f"width: {split.width}: expected at most {self.bits}, all of {self.name}"
            )


FIELDS = {
    field.name: field
    for field in (
        Field("nw_src", 32, IPv4Address, "ip", "ip saddr"),
        Field("nw_dst", 32, IPv4Address, "ip", "ip daddr"),
        Field("ipv6_src", 128, IPv6Address, "ipv6", "ip6 saddr"),
        Field("ipv6_dst", 128, IPv6Address, "ipv6", "ip6 daddr"),
        Field("tcp_src", 16, hex, "tcp", "tcp sport"),
        Field("udp_src", 16, hex, "udp", "udp sport"),
        *(Field(f"reg{n}", 32, hex, "", None) for n in range(8)),
    )
}
"""The client's address first; a register may hold a hash that an earlier table put there."""
