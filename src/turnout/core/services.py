"""Where the entries of the service table stand, by the header that the kernel runs."""

from ipaddress import IPv4Address, IPv6Address

from turnout.core.library import library


def service_key(vip: IPv4Address | IPv6Address, port: int, protocol: int) -> int:
    """Key of (VIP, port, protocol); port 0 is all ports, port and protocol 0 the VIP itself.

    Keys of IPv4 are exact; those of IPv6 may coincide (bpf/services.h).
    """
    function = library().turnout_key4 if vip.version == 4 else library().turnout_key6
    key: int = function(vip.packed, port, protocol)
    return key


def service_bucket(key: int) -> int:
    """First bucket in which the key may stand."""
    bucket: int = library().turnout_bucket(key)
    return bucket


def service_filter_bit(key: int) -> int:
    """Bit of the filter that has to be set for the key to be looked up at all."""
    bit: int = library().turnout_filter(key)
    return bit
