"""An Open vSwitch of its own, and frames for it."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

FRAMES = """
import socket, struct, sys
first, end = map(int, sys.argv[1:])
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("in0", 0))
for key in range(first, end):
    head = struct.pack("!BBHHHBBHII", 0x45, 0, 28, 0, 0, 64, 17, 0, 0x0A000000 + key, 0x0A00FFFE)
    total = sum(struct.unpack("!10H", head))
    check = 0xFFFF - (total % 0xFFFF or 0xFFFF)
    udp = struct.pack("!4H", 1, 9, 8, 0)
    frame = b"\\x02" * 6 + b"\\x04" * 6 + b"\\x08\\x00" + head[:10] + struct.pack("!H", check)
    out.send(frame + head[12:] + udp + bytes(18))
"""


def run(*command: str, text: str | None = None) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


class Vswitch:
    """An Open vSwitch of its own: userspace datapath, one way in, ports out."""

    def __init__(self, space: str, folder: Path) -> None:
        self.folder = folder
        self.within = ("env", f"OVS_RUNDIR={folder}", "ip", "netns", "exec", space)
        self.socket = f"unix:{folder}/db.sock"
        self.bridge = f"unix:{folder}/br.mgmt"
        self.processes: list[subprocess.Popen[bytes]] = []

    def begin(self, ports: list[str]) -> None:
        database, schema = self.folder / "conf.db", "/usr/share/openvswitch/vswitch.ovsschema"
        run("ovsdb-tool", "create", str(database), schema)
        self.start("ovsdb-server", str(database), f"--remote=p{self.socket}")
        self.start("ovs-vswitchd", self.socket, "--disable-system")
        run(*self.within, "ip", "link", "add", "in0", "type", "veth", "peer", "name", "in1")
        for end in ("in0", "in1"):
            run(*self.within, "ip", "link", "set", end, "up")
        words = ["add-br", "br", "--", "set", "bridge", "br", "datapath_type=netdev"]
        words += ["fail_mode=secure", "--", "add-port", "br", "in1"]
        for port in ports:
            words += ["--", "add-port", "br", port, "--"]
            words += ["set", "interface", port, "type=internal"]
        run(*self.within, "ovs-vsctl", "--timeout=30", f"--db={self.socket}", *words)

    def start(self, *command: str) -> None:
        # `--detach` would return when it is ready, but hide its id.
        process = subprocess.Popen(
            [*self.within, *command, "--no-chdir", "--unixctl=" + command[0] + ".ctl"],
            stderr=subprocess.DEVNULL,
        )
        self.processes.append(process)
        for _ in range(300):
            ready = subprocess.run(
                [*self.within, "ovs-appctl", "-t", self.control(command[0]), "version"],
                capture_output=True,
            )
            if not ready.returncode:
                return
        raise AssertionError(f"{command[0]} is not ready")

    def control(self, program: str) -> str:
        return f"{self.folder}/{program}.ctl"

    def add(self, flows: Iterable[str]) -> None:
        text = "\n".join(flows)
        run(
            *self.within,
            "ovs-ofctl",
            "-O",
            "OpenFlow13",
            "--bundle",
            "add-flows",
            "br",
            "-",
            text=text,
        )

    def counts(self) -> Counter[str]:
        # Counters of the datapath reach the flows when its own are given up.
        run(*self.within, "ovs-appctl", "-t", self.control("ovs-vswitchd"), "revalidator/purge")
        flows = run(*self.within, "ovs-ofctl", "-O", "OpenFlow13", "--names", "dump-flows", "br")
        counts: Counter[str] = Counter()
        for packets, port in re.findall(
            r"cookie=0x7475726e.*n_packets=(\d+).*output:\"?(\w+)", flows
        ):
            counts[port] += int(packets)
        return counts

    def sent(self, width: int) -> Counter[str]:
        """Packets of each port after one frame from each address."""
        counts: Counter[str] = Counter()
        for end in range(64, (1 << width) + 1, 64):
            # Fewer than a socket's queue has room for, and the next when these have been counted.
            run(*self.within, sys.executable, "-c", FRAMES, str(end - 64), str(end))
            for _ in range(500):
                counts = self.counts()
                if counts.total() >= end:
                    break
        return counts

    def end(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
            process.wait(30)
