"""/metrics: what is known and counted at the moment of the scrape, so that no counter is kept
twice. Base units; never the address of a client."""

import time
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from turnout import __version__
from turnout.api import documents
from turnout.daemon import Snapshot
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
        "This instance.",
        {"version": __version__, "instance": snapshot.configuration.instance.name},
    )
    yield GaugeMetricFamily(
        "turnout_start_time_seconds", "Start, since the epoch.", value=snapshot.started
    )
    yield GaugeMetricFamily(
        "turnout_generation", "Of the configuration.", value=snapshot.generation
    )
    yield GaugeMetricFamily(
        "turnout_applied_generation",
        "Of the configuration whose plan is in force.",
        value=snapshot.applied,
    )
    yield GaugeMetricFamily(
        "turnout_apply_failing", "1: the last pass failed.", value=bool(snapshot.failure)
    )
    modes = InfoMetricFamily("turnout_interface", "XDP's mode in force.", labels=["interface"])
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
    packets = CounterMetricFamily("turnout_service_packets", "Packets of a service.", labels=labels)
    size = CounterMetricFamily(
        "turnout_service_bytes", "Bytes of its inner IP packets.", labels=labels
    )
    flows = CounterMetricFamily("turnout_service_new_flows", "TCP SYNs.", labels=labels)
    up = GaugeMetricFamily("turnout_service_members_up", "Members that are up.", labels=labels)
    for service in documents.services(snapshot, counters):
        port = "all" if service.port is None else str(service.port)
        values = [service.name, service.vip, service.protocol, port]
        packets.add_metric(values, service.packets)
        size.add_metric(values, service.bytes)
        flows.add_metric(values, service.new_flows)
        up.add_metric(values, service.members_up)
    yield from (packets, size, flows, up)


def _members(snapshot: Snapshot, counters: Counters) -> Iterator[Metric]:
    labels = ["pool", "backend"]
    up = GaugeMetricFamily("turnout_member_up", "1: its check says it is up.", labels=labels)
    draining = GaugeMetricFamily("turnout_member_draining", "1: no new flows.", labels=labels)
    packets = CounterMetricFamily("turnout_member_packets", "Packets to a member.", labels=labels)
    size = CounterMetricFamily(
        "turnout_member_bytes", "Bytes of its inner IP packets.", labels=labels
    )
    flows = CounterMetricFamily("turnout_member_new_flows", "TCP SYNs.", labels=labels)
    for member in documents.backends(snapshot, counters):
        values = [member.pool, member.backend]
        up.add_metric(values, member.state in ("up", "draining"))
        draining.add_metric(values, member.state == "draining")
        packets.add_metric(values, member.packets)
        size.add_metric(values, member.bytes)
        flows.add_metric(values, member.new_flows)
    yield from (up, draining, packets, size, flows)
