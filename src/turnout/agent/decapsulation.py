"""The agent's TC programs: loaded, filled, attached."""

import os
import struct
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv6Address
from socket import if_nametoindex

import numpy as np

from turnout.agent.errors import AgentError
from turnout.agent.wanted import Listener, Wanted
from turnout.config import Address
from turnout.core import Reason, agent_reasons, native
from turnout.kernel.bpf import (
    ATTACH_TCX_EGRESS,
    ATTACH_TCX_INGRESS,
    BpfError,
    Link,
    Map,
    Object,
)
from turnout.kernel.capabilities import outdated


class Decapsulation:
    """Opens packets and lowers the MSS on the interfaces that it is attached to, until closed."""

    def __init__(self) -> None:
        """Load. Raises AgentError, also on a kernel older than 6.6."""
        if words := outdated():
            raise AgentError(words)
        try:
            self._object = Object(native("agent.bpf.o"))
        except (BpfError, FileNotFoundError) as error:
            raise AgentError(f"load the agent's programs: {error}") from error
        self.programs = self._object.programs
        self.maps = self._object.maps
        self._links: dict[int, tuple[Link, Link]] = {}
        self._reported: dict[str, int] = {}

    def allow(self, wanted: Wanted, mtu: int) -> None:
        """Make exactly this the content of the maps: who may send what, and how large a segment may
        be on a link of `mtu` bytes. New entries go in before old ones go. Raises AgentError."""
        try:
            one = b"\1"
            _fill(self.maps["vips"], {_packed(vip): one for vip in wanted.vips})
            _fill(self.maps["own"], {_packed(wanted.address): one})
            _fill(self.maps["mss"], _limits(wanted.listeners, mtu))
            _fill(self.maps["instances"], {_packed(i): one for i in wanted.instances})
        except BpfError as error:
            raise AgentError(f"fill the agent's maps: {error}") from error

    def attach(self, interfaces: Iterable[str]) -> None:
        """Be attached to exactly these interfaces. Raises AgentError, OSError for one that is not
        there."""
        # By index: an interface that is made anew under its old name carries nothing of ours.
        wanted = {if_nametoindex(name): name for name in interfaces}
        for index in self._links.keys() - wanted.keys():
            self._detach(index)
        for index in sorted(wanted.keys() - self._links.keys()):
            try:
                ingress = Link(self.programs["decapsulate"], index, ATTACH_TCX_INGRESS)
                try:
                    egress = Link(self.programs["lower_mss"], index, ATTACH_TCX_EGRESS)
                except BpfError:
                    ingress.close()
                    raise
            except BpfError as error:
                reason = os.strerror(error.errno or 0)
                raise AgentError(f"attach to {wanted[index]}: {reason}") from error
            self._links[index] = ingress, egress

    def _detach(self, index: int) -> None:
        for link in self._links.pop(index):
            link.close()

    def counters(self) -> dict[str, int]:
        """Packets by reason, over all CPUs."""
        raw = self.maps["reason_counters"].lookup_batch(0, len(agent_reasons()))
        sums = np.frombuffer(raw, np.uint64).reshape(len(agent_reasons()), -1).sum(1)
        return {r.name: int(count) for r, count in zip(agent_reasons(), sums, strict=True)}

    def dropped(self) -> Iterator[tuple[Reason, int]]:
        """Packets dropped since the last call, by reason."""
        counted = self.counters()
        for reason in agent_reasons():
            more = counted[reason.name] - self._reported.get(reason.name, 0)
            if reason.verdict == "DROP" and more:
                yield reason, more
        self._reported = counted

    def close(self) -> None:
        """Detach and unload."""
        for index in list(self._links):
            self._detach(index)
        self._object.close()


def _packed(address: Address) -> bytes:
    """struct address of bpf/agent.bpf.c."""
    if isinstance(address, IPv6Address):
        return address.packed
    return bytes(10) + b"\xff\xff" + address.packed


def _limits(listeners: Iterable[Listener], mtu: int) -> dict[bytes, bytes]:
    return {
        _packed(listener.vip) + struct.pack("!HH", listener.port or 0, 0): struct.pack(
            "=I", listener.largest_mss(mtu)
        )
        for listener in listeners
    }


def _fill(target: Map, content: Mapping[bytes, bytes]) -> None:
    for key, value in content.items():
        target.update(key, value)
    for key in list(target.keys()):
        if key not in content:
            target.delete(key)
