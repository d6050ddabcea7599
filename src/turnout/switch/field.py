"""What of a packet a split looks at: the lowest bits of a field, which are nearer to uniform than
the highest."""

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from turnout.config import SPLIT_FIELDS
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


def _field(name: str, form: Callable[[int], object], needs: str, nft: str | None) -> Field:
    return Field(name, SPLIT_FIELDS[name], form, needs, nft)


FIELDS = {
    field.name: field
    for field in (
        _field("nw_src", IPv4Address, "ip", "ip saddr"),
        _field("nw_dst", IPv4Address, "ip", "ip daddr"),
        _field("ipv6_src", IPv6Address, "ipv6", "ip6 saddr"),
        _field("ipv6_dst", IPv6Address, "ipv6", "ip6 daddr"),
        _field("tcp_src", hex, "tcp", "tcp sport"),
        _field("udp_src", hex, "udp", "udp sport"),
        *(_field(f"reg{n}", hex, "", None) for n in range(8)),
    )
}
"""The client's address first; a register may hold a hash that an earlier table put there."""
