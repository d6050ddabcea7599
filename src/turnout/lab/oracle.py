"""Whose a flow is, computed from the fleet file alone: what the data plane is held to."""

from collections.abc import Collection

import numpy as np

from turnout import config, maglev, plan
from turnout.core import TCP, Flow, flow_hash


class Oracle:
    """Answers for the TCP services of a fleet."""

    def __init__(self, fleet: config.Fleet) -> None:
        self._fleet = fleet
        master = config.read_key(fleet.key_file) if fleet.key_file else b""
        self._keys = {
            pool.hash_key: plan.hash_key(master, pool.hash_key) for pool in fleet.pools.values()
        }
        self._services = {
            (service.vip, service.port): service
            for service in fleet.services.values()
            if service.protocol == "tcp"
        }
        self._members = {
            pool.name: sorted(pool.members, key=lambda member: member.backend.encode())
            for pool in fleet.pools.values()
        }
        self._tables = {
            (service.pool, service.table_size): maglev.build(
                [member.backend for member in self._members[service.pool]],
                [member.weight for member in self._members[service.pool]],
                service.table_size,
            )
            for service in self._services.values()
        }

    def backend(self, flow: Flow, down: Collection[str] = ()) -> str:
        """The backend of a flow while those named `down` are; "" where there is none."""
        assert flow.protocol == TCP
        service = self._services[flow.vip, flow.vip_port]
        pool = self._fleet.pools[service.pool]
        names = [member.backend for member in self._members[service.pool]]
        hash = flow_hash(flow, self._keys[pool.hash_key], service.hash == "client-address")
        (index,) = maglev.lookup(
            self._tables[service.pool, service.table_size],
            np.array([hash], np.uint64),
            [name not in down for name in names],
        )
        return names[index] if index >= 0 else ""
