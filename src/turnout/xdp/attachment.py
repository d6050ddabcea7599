"""The forwarder on an instance's interfaces, by bpf_link: it leaves with us and touches no other's."""

import errno
import os
from collections.abc import Mapping, Sequence
from socket import if_nameindex, if_nametoindex

from turnout.config import Mode
from turnout.kernel.bpf import (
    ATTACH_XDP,
    XDP_FLAGS_DRV_MODE,
    XDP_FLAGS_SKB_MODE,
    BpfError,
    Link,
    Program,
    xdp_attached,
)
from turnout.kernel.capabilities import outdated
from turnout.xdp.errors import DataPlaneError

_FLAGS = {"native": XDP_FLAGS_DRV_MODE, "generic": XDP_FLAGS_SKB_MODE}

_ADVICE = {
    errno.EOPNOTSUPP: "the driver has no native XDP; use mode: generic or auto",
    errno.ERANGE: "the MTU is too large for native XDP here; lower it, or use mode: generic or auto",
    errno.EINVAL: "the driver refuses, often for its MTU, LRO or queues; see the kernel's log",
    errno.ENOMEM: "the driver has no queues left for XDP; lower the number of its channels",
    errno.EPERM: "CAP_BPF and CAP_NET_ADMIN are needed; run as root",
}


def require_kernel(release: str | None = None) -> None:
    """Raises DataPlaneError on a kernel older than 6.6."""
    if words := outdated(release):
        raise DataPlaneError(words)


def attach(program: Program, interfaces: Sequence[str], mode: Mode) -> dict[str, Link]:
    """One link an interface, or none: where one fails those before are taken back.

    Raises DataPlaneError for an unknown interface, one that carries another's XDP program, or one
    that cannot do what `mode` asks.
    """
    links: dict[str, Link] = {}
    try:
        for name in interfaces:
            links[name] = _attach_one(program, name, mode)
    except DataPlaneError:
        detach(links)
        raise
    return links


def _attach_one(program: Program, name: str, mode: Mode) -> Link:
    try:
        ifindex = if_nametoindex(name)
    except OSError:
        raise DataPlaneError(f"interface {name}: there is none of that name") from None
    found = xdp_attached(ifindex)
    if found is not None:
        raise DataPlaneError(
            f"interface {name}: XDP program {found[1]} of somebody else is attached ({found[0]} mode); "
            "detach it, or take another interface"
        )
    if mode == "auto":
        try:
            return Link(program, ifindex, ATTACH_XDP, XDP_FLAGS_DRV_MODE)
        except BpfError:
            mode = "generic"
    try:
        return Link(program, ifindex, ATTACH_XDP, _FLAGS[mode])
    except BpfError as error:
        advice = _ADVICE.get(error.errno or 0, "see the kernel's log")
        reason = os.strerror(error.errno or 0)
        raise DataPlaneError(f"interface {name}, {mode} mode: {reason}: {advice}") from None


def modes_in_force(links: Mapping[str, Link]) -> dict[str, str]:
    """Interface to mode, as the kernel says; "none" for one that has gone or where the program that
    runs is not ours."""
    found = {}
    for name, link in links.items():
        ifindex, program = link.attached()
        try:
            state = xdp_attached(ifindex) if ifindex else None
        except BpfError:
            state = None
        found[name] = state[0] if state and state[1] == program else "none"
    return found


def lost(links: Mapping[str, Link]) -> list[str]:
    """Interfaces that are there without the forwarder: a link ends with its interface, and one
    made anew under the same name has none."""
    there = {name for _, name in if_nameindex()}
    return [
        name for name, mode in modes_in_force(links).items() if mode == "none" and name in there
    ]


def detach(links: Mapping[str, Link]) -> None:
    """Take the forwarder off."""
    for link in links.values():
        link.close()
