"""Keys of the service table, against their definition."""

from ipaddress import IPv4Address, IPv6Address, ip_address

from hypothesis import given
from hypothesis import strategies as st

from turnout.core import service_bucket, service_filter_bit, service_key

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def fold(address: IPv6Address) -> int:
    low, high = (
        int.from_bytes(half, "little") for half in (address.packed[:8], address.packed[8:])
    )
    x = (low ^ low >> 29) * GOLDEN & MASK
    x ^= high
    return ((x ^ x >> 29) * GOLDEN & MASK) >> 32


@given(
    st.integers(0, 2**32 - 1).map(IPv4Address), st.integers(0, 65_535), st.sampled_from([0, 6, 17])
)
def test_ipv4_keys_are_exact(vip: IPv4Address, port: int, protocol: int) -> None:
    assert service_key(vip, port, protocol) == int(vip) << 32 | port << 16 | protocol << 8 | 4


@given(st.integers(0, 2**128 - 1).map(IPv6Address), st.integers(0, 65_535))
def test_ipv6_keys_fold_the_address(vip: IPv6Address, port: int) -> None:
    assert service_key(vip, port, 6) == fold(vip) << 32 | port << 16 | 6 << 8 | 6


def test_neighbouring_services_spread_over_buckets() -> None:
    """A product carries upwards only: without a fold before it all VIPs of a network would meet."""
    for keys in (
        [service_key(ip_address("192.0.2.0") + i, 80, 6) for i in range(1000)],
        [service_key(ip_address("192.0.2.1"), port, 6) for port in range(1000)],
        [service_key(ip_address("2001:db8::") + i, 80, 6) for i in range(1000)],
    ):
        buckets = [service_bucket(key) for key in keys]
        assert max(buckets) < 4096
        assert max(buckets.count(b) for b in set(buckets)) <= 6


def test_all_keys_of_an_address_have_one_filter_bit_and_addresses_spread() -> None:
    for vip in (IPv4Address("192.0.2.10"), IPv6Address("2001:db8::10")):
        keys = [
            service_key(vip, port, protocol) for port in (0, 80, 443) for protocol in (0, 6, 17)
        ]
        assert len({service_filter_bit(key) for key in keys}) == 1
    for first in (IPv4Address("192.0.2.0"), IPv6Address("2001:db8::")):
        bits = {service_filter_bit(service_key(first + n, 0, 0)) for n in range(1000)}
        assert max(bits) < 65536
        assert len(bits) > 950
