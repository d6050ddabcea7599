"""A laboratory at work: BIRD on the router and on instances, `turnout run`, `turnout agent` and
servers, as they would run on real machines."""

import json
import secrets
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import yaml

from turnout import announce, config
from turnout.lab.bird import instance_config, router_config
from turnout.lab.machines import Machines
from turnout.lab.topology import PORT, ROUTER, Topology

TURNOUT = (sys.executable, "-m", "turnout")


class _Plain(yaml.SafeDumper):
    """Without anchors, which fleet files may not have."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


class Lab(Machines):
    """A topology and its fleet file. Nothing runs before it is started."""

    fleet: config.Fleet

    def __init__(
        self,
        topology: Topology,
        name: str | None = None,
        fleet: Mapping[str, Any] | None = None,
    ) -> None:
        """`fleet`: what the fleet file says, where it is not the topology's own."""
        super().__init__(topology, name)
        self._content = fleet or topology.fleet()
        self.file = self.directory / "fleet.yaml"

    def __enter__(self) -> Self:
        super().__enter__()
        try:
            key = self.directory / "hash.key"
            key.touch(mode=0o600)
            key.write_text(secrets.token_hex(32))
            self.file.write_text(yaml.dump(dict(self._content), Dumper=_Plain, sort_keys=False))
            self.fleet = config.load(self.file)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def start_all(self) -> None:
        """Start everything; returns when every VIP is served by every instance and backend.

        Raises LabError where that does not come to be.
        """
        self.start_router()
        for host in self.topology.instance_hosts():
            self.start_instance(host.name)
        self.start_backends(host.name for host in self.topology.backend_hosts())
        names = [host.name for host in self.topology.instance_hosts()]
        self.wait(lambda: all(map(self.answers, names)), "daemons of the instances")
        self.wait(lambda: all(not self.down(name) for name in names), "health of all backends")
        self.wait(lambda: self.announcing() == len(names), "routes to all instances")

    def start_router(self) -> None:
        self._start_bird(ROUTER, router_config(self.topology))

    def start_instance(self, name: str) -> None:
        """`turnout run`, and BIRD with the snippet of `turnout announce snippet`."""
        self.start_daemon(name)
        snippet = self.directory / f"{name}-snippet.conf"
        snippet.write_text(announce.snippet(self.fleet, name))
        self._start_bird(name, instance_config(snippet))

    def start_daemon(self, name: str) -> None:
        """`turnout run` alone."""
        control = str(self.control(name))
        run = ["run", str(self.file), "--instance", name, "--socket", control]
        self.start(name, "run", [*TURNOUT, *run])

    def start_backends(self, names: Iterable[str]) -> None:
        """`turnout agent`, and when it is ready the server, whose answers make the backend healthy.

        Raises LabError where one does not come up.
        """
        names = list(names)
        for name in names:
            self.start(
                name,
                "agent",
                [*TURNOUT, "agent", str(self.file), "--backend", name],
                {"RUNTIME_DIRECTORY": str(self.directory / f"{name}-agent")},
            )
        logs = [self.log(name, "agent") for name in names]
        self.wait(lambda: all(" ready" in log.read_text() for log in logs), "agents")
        for name in names:
            self.start(
                name,
                "server",
                [sys.executable, "-m", "turnout.lab.server", name, str(PORT), *self._udp_vips()],
            )

    def control(self, instance: str) -> Path:
        """An instance's control socket, for `turnout show --socket`."""
        return self.directory / f"{instance}.sock"

    def answers(self, instance: str) -> bool:
        """Whether an instance's daemon has started."""
        return self.run(instance, self._get(instance, "status"), check=False).returncode == 0

    def document(self, instance: str, name: str) -> Any:
        """What an instance's daemon says at /v1/NAME. Raises LabError where it does not."""
        return json.loads(self.run(instance, self._get(instance, name)).stdout)

    def _get(self, instance: str, name: str) -> list[str]:
        control = str(self.control(instance))
        return ["curl", "-sSf", "-m", "9", "--unix-socket", control, f"http://localhost/v1/{name}"]

    def down(self, instance: str) -> set[str]:
        """Backends that an instance does not send to."""
        document = self.document(instance, "backends")
        return {row["backend"] for row in document["backends"] if not row["served"]}

    def announcing(self) -> int:
        """How many instances the router sends to: the fewest of any VIP."""
        return min(
            len(self._next_hops(str(vip)))
            for vip in {service.vip for service in self.fleet.services.values()}
        )

    def _next_hops(self, vip: str) -> list[Any]:
        family = "-6" if ":" in vip else "-4"
        command = ["ip", family, "-j", "route", "show", vip]
        return [
            hop
            for route in json.loads(self.run(ROUTER, command).stdout or "[]")
            for hop in route.get("nexthops", [route])
        ]

    def _start_bird(self, node: str, text: str) -> None:
        file, socket, pid = (self.directory / f"{node}-bird.{x}" for x in ("conf", "sock", "pid"))
        file.write_text(text)
        self.start(node, "bird", ["bird", "-f", "-c", str(file), "-s", str(socket), "-P", str(pid)])

    def _udp_vips(self) -> list[str]:
        return sorted({str(s.vip) for s in self.fleet.services.values() if s.protocol == "udp"})
