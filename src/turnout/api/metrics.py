"""/metrics: what is known and counted at the moment of the scrape, so that no counter is kept
twice. Base units; no label holds what clients or errors say, so that there are as many series as
the configuration has names."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import get_args

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from turnout import __version__
from turnout.api import documents
from turnout.daemon import MemberState, Snapshot
from turnout.plan import Counters


class InstanceCollector(Collector):
    """The metrics of one instance."""

    def __init__(self, snapshot: Callable[[], Snapshot], counters: Callable[[], Counters]) -> None:
        self._snapshot = snapshot
        self._counters = counters

    def describe(self) -> list[Metric]:
        """Nothing: to register must not mean to read."""
        return []

    def collect(self) -> Iterator[Metric]:
        began = time.perf_counter()
        snapshot, counters = self._snapshot(), self._counters()
        yield from _instance(snapshot)
        yield from _services(snapshot, counters)
        yield from _members(snapshot, counters)
        yield _pools(snapshot)
        packets = CounterMetricFamily(
            "turnout_packets", "What became of packets; each once.", labels=["reason", "verdict"]
        )
        for reason in documents.counted(counters):
            packets.add_metric([reason.reason, reason.verdict], reason.packets)
        yield packets
        yield GaugeMetricFamily(
            "turnout_collect_seconds",
            "Time that it took to collect these metrics.",
            value=time.perf_counter() - began,
        )


def registry(
    snapshot: Callable[[], Snapshot], counters: Callable[[], Counters]
) -> CollectorRegistry:
    """One of its own: nothing is shared within the process."""
    own = CollectorRegistry()
    own.register(InstanceCollector(snapshot, counters))
    return own


def _instance(snapshot: Snapshot) -> Iterator[Metric]:
    yield InfoMetricFamily(
        "turnout",
        "This instance: its name in the fleet file and the version of Turnout.",
        # Not "instance": Prometheus gives that label to every series, for where it scraped it.
        {"name": snapshot.configuration.instance.name, "version": __version__},
    )
    yield GaugeMetricFamily(
        "turnout_start_time_seconds", "Start, since the epoch.", value=snapshot.started
    )
    yield GaugeMetricFamily(
        "turnout_generation",
        "Configurations taken since the start: the first, and each reload that was accepted.",
        value=snapshot.generation,
    )
    yield GaugeMetricFamily(
        "turnout_applied_generation",
        "Generation whose plan is in force; 0 before the first.",
        value=snapshot.applied,
    )
    yield GaugeMetricFamily(
        "turnout_apply_failing",
        "1: the last pass failed; turnout show status says why.",
        value=bool(snapshot.failure),
    )
    modes = InfoMetricFamily(
        "turnout_interface",
        "XDP's mode in force: native, generic, or none where the forwarder is not attached.",
        labels=["interface"],
    )
    for interface, mode in sorted(snapshot.modes.items()):
        modes.add_metric([interface], {"mode": mode})
    yield modes
    announced = GaugeMetricFamily(
        "turnout_announced", "1: the VIP is announced by this instance.", labels=["vip"]
    )
    for vip in snapshot.plan.vips if snapshot.plan else ():
        announced.add_metric([str(vip.vip)], vip.vip in snapshot.announced)
    yield announced


def _services(snapshot: Snapshot, counters: Counters) -> Iterator[Metric]:
    labels = ["service", "vip", "protocol", "port"]
    packets = CounterMetricFamily(
        "turnout_service_packets", "Packets forwarded for a service.", labels=labels
    )
    size = CounterMetricFamily(
        "turnout_service_bytes", "Bytes of their inner IP packets.", labels=labels
    )
    flows = CounterMetricFamily("turnout_service_new_flows", "Its TCP SYNs.", labels=labels)
    up = GaugeMetricFamily(
        "turnout_service_members_up", "Members that are up and not draining.", labels=labels
    )
    members = GaugeMetricFamily(
        "turnout_service_members", "Members, those of included pools counted too.", labels=labels
    )
    for service in documents.services(snapshot, counters):
        port = "all" if service.port is None else str(service.port)
        values = [service.name, service.vip, service.protocol, port]
        packets.add_metric(values, service.packets)
        size.add_metric(values, service.bytes)
        flows.add_metric(values, service.new_flows)
        up.add_metric(values, service.members_up)
        members.add_metric(values, service.members)
    yield from (packets, size, flows, up, members)


def _members(snapshot: Snapshot, counters: Counters) -> Iterator[Metric]:
    labels = ["pool", "backend"]
    up = GaugeMetricFamily(
        "turnout_member_up", "1: its check says it is up, or it has none.", labels=labels
    )
    draining = GaugeMetricFamily(
        "turnout_member_draining", "1: up, and configured to drain.", labels=labels
    )
    served = GaugeMetricFamily(
        "turnout_member_served",
        "1: takes new flows; below the floor those that are down do too.",
        labels=labels,
    )
    since = GaugeMetricFamily(
        "turnout_member_since_seconds",
        "When it came into its state or was first seen, since the epoch.",
        labels=labels,
    )
    weight = GaugeMetricFamily("turnout_member_weight", "As configured.", labels=labels)
    packets = CounterMetricFamily("turnout_member_packets", "Packets to a member.", labels=labels)
    size = CounterMetricFamily(
        "turnout_member_bytes", "Bytes of their inner IP packets.", labels=labels
    )
    flows = CounterMetricFamily("turnout_member_new_flows", "Its TCP SYNs.", labels=labels)
    for member in documents.backends(snapshot, counters):
        values = [member.pool, member.backend]
        up.add_metric(values, member.state in ("up", "draining"))
        draining.add_metric(values, member.state == "draining")
        served.add_metric(values, member.served)
        since.add_metric(values, snapshot.members[member.pool, member.backend].since)
        weight.add_metric(values, member.weight)
        packets.add_metric(values, member.packets)
        size.add_metric(values, member.bytes)
        flows.add_metric(values, member.new_flows)
    yield from (up, draining, served, since, weight, packets, size, flows)


def _pools(snapshot: Snapshot) -> Metric:
    """Every state of every pool, zeros too: a series that comes and goes cannot be compared."""
    found = GaugeMetricFamily(
        "turnout_pool_members", "A pool's own members by their state.", labels=["pool", "state"]
    )
    count = Counter((pool, status.state) for (pool, _), status in snapshot.members.items())
    for pool in dict.fromkeys(pool for pool, _ in snapshot.members):
        for state in get_args(MemberState):
            found.add_metric([pool, state], count[pool, state])
    return found
