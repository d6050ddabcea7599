"""Splits in a real Open vSwitch: put there, changed under traffic, taken away, and nothing else."""

import json
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.switch.vswitch import Vswitch, run
from turnout.cli.switch import command
from turnout.split import Split, approximate
from turnout.switch import FIELDS, Bridge, Change, SwitchError, openflow
from turnout.switch import bridge as module
from turnout.switch.installed import difference

STREAM = """
import json, select, socket, struct, sys
width, ports = int(sys.argv[1]), sys.argv[2:]
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("in0", 0))
heard = {}
for port in ports:
    one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    one.bind((port, 0))
    heard[one] = port
body = struct.pack("!4H", 1, 9, 8, 0) + bytes(18)
print("ready", flush=True)
got = {}
sent = key = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    # Fewer than a queue has room for; the next when all of these have come.
    wave = 0
    while wave < 64:
        head = struct.pack("!BBHHHBBHII", 0x45, 0, 28, 0, 0, 64, 17, 0, 0x0A000000 + key, 0x0A00FFFE)
        total = sum(struct.unpack("!10H", head))
        check = struct.pack("!H", 0xFFFF - (total % 0xFFFF or 0xFFFF))
        out.send(b"\\2" * 6 + b"\\4" * 6 + b"\\x08\\0" + head[:10] + check + head[12:] + body)
        key, wave = (key + 1) % (1 << width), wave + 1
    sent += wave
    while wave:
        ready = select.select(list(heard), [], [], 10)[0]
        if not ready:
            json.dump({"sent": sent, "lost": wave}, sys.stdout)
            sys.exit()
        for one in ready:
            frame, sender = one.recvfrom(99)
            if sender[2] != socket.PACKET_OUTGOING and frame[23] == 17:
                name = str(int.from_bytes(frame[26:30]) - 0x0A000000)
                got.setdefault(name, {}).setdefault(heard[one], 0)
                got[name][heard[one]] += 1
                wave -= 1
json.dump({"sent": sent, "lost": 0, "got": got}, sys.stdout)
"""


def flows(split: Split) -> list[openflow.Flow]:
    return openflow.flows(split, ["a", "b", "c"], FIELDS["nw_src"])


def turnout(*words: str) -> Result:
    return CliRunner().invoke(command, words)


def dumped(vswitch: Vswitch) -> list[str]:
    text = run(*vswitch.within, "ovs-ofctl", "-O", "OpenFlow13", "--no-stats", "dump-flows", "br")
    return sorted(line.strip() for line in text.splitlines())


@pytest.mark.parametrize(
    ("width", "budget", "anew"), [(8, None, False), (8, None, True), (10, 6, False)]
)
def test_each_packet_meets_the_old_flows_or_the_new(
    vswitch: Vswitch, monkeypatch: pytest.MonkeyPatch, width: int, budget: int | None, anew: bool
) -> None:
    """Also where all flows are replaced, `anew`, as after a change by others at the same time."""
    for port in ("a", "b", "c"):
        run(*vswitch.within, "ip", "link", "set", "dev", port, "up")
    splits = [approximate(weights, width, budget) for weights in ([3, 5, 11], [11, 3, 5])]
    bridge = Bridge(vswitch.bridge)
    bridge.apply(flows(splits[0]))
    if anew:
        monkeypatch.setattr(module, "difference", lambda _, *asked: difference((), *asked))
    stream = subprocess.Popen(
        [*vswitch.within, sys.executable, "-c", STREAM, str(width), "a", "b", "c"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert stream.stdout
    assert stream.stdout.readline() == "ready\n"
    for turn in range(1, 31):
        change = bridge.apply(flows(splits[turn % 2]))
        assert change.lines
    told = json.loads(stream.communicate(input="stop\n", timeout=120)[0])
    assert told["lost"] == 0
    assert told["sent"] == sum(n for ports in told["got"].values() for n in ports.values())
    owners = [targets(split) for split in splits]
    for key, ports in told["got"].items():
        assert ports.keys() <= {"abc"[owner[int(key)]] for owner in owners}
    # Both were met, or the test says nothing.
    assert any(len(ports) == 2 for ports in told["got"].values())


def targets(split: Split) -> list[int]:
    """Of each address, by the longest rule."""
    return [
        max(
            (r for r in split.rules if key >> split.width - r.length == r.prefix),
            key=lambda rule: rule.length,
        ).target
        for key in range(1 << split.width)
    ]


def test_flows_of_others_are_neither_touched_nor_replaced(vswitch: Vswitch) -> None:
    others = [
        "priority=7,actions=normal",
        "table=9,udp,actions=drop",
        "cookie=0x7475726f,table=3,priority=1000,ip,actions=output:a",
        "cookie=0x1,priority=1001,ip,nw_src=0.0.0.1/0.0.0.1,nw_dst=10.0.0.0/8,actions=drop",
    ]
    vswitch.add(others)
    before = dumped(vswitch)
    bridge = Bridge(vswitch.bridge)
    bridge.apply(flows(approximate([3, 5, 11], 8)))
    bridge.apply(flows(approximate([1, 1, 2], 8)))
    assert [line for line in dumped(vswitch) if "0x7475726e" not in line] == before
    assert turnout("remove", vswitch.bridge).exit_code == 0
    assert dumped(vswitch) == before
    # The same match with the same priority: ours would replace it.
    vswitch.add(["cookie=0x2,priority=1008,ip,nw_src=0.0.0.5/0.0.0.255,actions=drop"])
    before = dumped(vswitch)
    split = approximate([1, 255, 0], 8)
    wanted = [
        openflow.Flow(0, 1008, "ip,nw_src=0.0.0.5/0.0.0.255", "a")
        if flow.priority == 1008
        else flow
        for flow in flows(split)
    ]
    with pytest.raises(SwitchError, match=r"somebody else's flow \(cookie 0x2\)"):
        bridge.apply(wanted)
    assert dumped(vswitch) == before


def test_a_flow_is_known_whatever_else_is_told_of_it(vswitch: Vswitch) -> None:
    """By table, priority and match: what ours would replace is refused."""
    told = [
        "",
        "send_flow_rem,",
        "check_overlap,",
        "reset_counts,",
        "no_packet_counts,no_byte_counts,",
        "idle_timeout=600,",
        "hard_timeout=600,send_flow_rem,",
        "send_flow_rem,check_overlap,reset_counts,no_packet_counts,no_byte_counts,idle_timeout=9,",
    ]
    matches = {"priority=1000,ip,": (1000, "ip"), "priority=1000,": (1000, "")}
    matches |= {"ip,": (32768, "ip"), "": (32768, "")}
    # Each in a table of its own: some must not overlap.
    kinds = [*enumerate((words, match) for words in told for match in matches)]
    vswitch.add(
        f"cookie={table + 1},table={table},{words}{match}actions=drop"
        for table, (words, match) in kinds
    )
    before, bridge = dumped(vswitch), Bridge(vswitch.bridge)
    seen = {(f.cookie, f.table, f.priority, f.match, f.packets, f.actions) for f in bridge.flows()}
    assert seen == {(table + 1, table, *matches[match], 0, "drop") for table, (_, match) in kinds}
    for _, table, priority, match, *_ in seen:
        with pytest.raises(SwitchError, match=rf"somebody else's flow \(cookie {table + 1:#x}\)"):
            bridge.apply([openflow.Flow(table, priority, match, "a")])
    assert dumped(vswitch) == before


@pytest.mark.parametrize(
    "other",
    [
        "hard_timeout=600,priority=1000,ip,actions=output:a",
        "idle_timeout=600,send_flow_rem,priority=1000,ip,actions=output:a",
        "priority=1000,ip,actions=output:a,output:b",
        "priority=1000,ip,actions=drop",
        "priority=1000,ip,actions=goto_table:9",
    ],
)
def test_what_has_our_cookie_and_is_not_as_ours_is_made_so(vswitch: Vswitch, other: str) -> None:
    bridge, wanted = Bridge(vswitch.bridge), flows(approximate([1, 0, 0], 2))
    bridge.apply(wanted)
    asked = dumped(vswitch)
    vswitch.add([f"cookie=0x7475726e,{other}", f"cookie=0x7475726e,table=5,in_port=a,{other}"])
    change = bridge.apply(wanted)
    assert (change.added, change.changed, change.removed) == (0, 1, 1)
    assert dumped(vswitch) == asked


def test_only_the_difference_is_installed(vswitch: Vswitch) -> None:
    bridge, split = Bridge(vswitch.bridge), approximate([3, 5, 11], 8)
    assert bridge.apply(flows(split)).added == len(split.rules)
    assert bridge.apply(flows(split)).lines == ()
    # One rule's target, and one more rule.
    changed = [*split.rules[:-1], split.rules[-1]._replace(target=0)]
    other = Split(8, tuple(changed), split.partition, split.requested, split.error, split.norm)
    change = bridge.apply(flows(other))
    assert (change.added, change.changed, change.removed) == (0, 1, 0)
    change = bridge.apply([])
    assert (change.added, change.changed, change.removed) == (0, 0, len(split.rules))


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("width", [1, 16])
def test_flows_of_every_field_are_known_again(vswitch: Vswitch, field: str, width: int) -> None:
    """Open vSwitch writes them in its own way, whole masks and prefixes among them."""
    split = approximate([3, 5, 11] if width > 1 else [1, 1], width)
    wanted = openflow.flows(split, ["a", "2", "c"][: len(split.partition)], FIELDS[field])
    bridge = Bridge(vswitch.bridge)
    assert bridge.apply(wanted).added == len(wanted)
    assert bridge.apply(wanted).lines == ()


@pytest.mark.parametrize("ports", [["a", "none", "c"], ["a", "99", "c"]])
def test_a_port_that_is_not_there_leaves_everything_as_it_was(
    vswitch: Vswitch, ports: list[str]
) -> None:
    bridge = Bridge(vswitch.bridge)
    bridge.apply(flows(approximate([3, 5, 11], 8)))
    before = dumped(vswitch)
    wanted = openflow.flows(approximate([1, 1, 1], 8), ports, FIELDS["nw_src"])
    with pytest.raises(
        SwitchError, match=f"port {ports[1]}: the switch has none such: expected on"
    ):
        bridge.apply(wanted)
    assert dumped(vswitch) == before


def test_ports_of_odd_names(vswitch: Vswitch) -> None:
    words = []
    named = ["b,c", "e}", "(f):", "actions=drop", "LOCAL", "all", "-x", "x: addr:"]
    for name in [*named, "a.long.name.of.1", "a.long.name.of.2"]:
        words += ["--", "add-port", "br", name, "--", "set", "interface", name, "type=patch"]
        words += ["options:peer=none"]
    run(*vswitch.within, "ovs-vsctl", "--timeout=30", f"--db={vswitch.socket}", *words)
    bridge = Bridge(vswitch.bridge)
    ports = bridge.ports()
    assert {*named} < {*ports.values()}
    numbers = {name: number for number, name in ports.items()}
    for name in named:
        bridge.apply([openflow.Flow(0, 1000, "ip", name)])
        assert [flow.port for flow in bridge.flows()] == [numbers[name]]
    # A switch tells 15 characters of a name.
    alike = [number for number, name in ports.items() if name == "a.long.name.of."]
    message = f"2 whose names begin so: expected a number, of {alike[0]}, {alike[1]}"
    with pytest.raises(SwitchError, match=message):
        bridge.apply([openflow.Flow(0, 1000, "ip", "a.long.name.of.")])
    for number in alike:
        bridge.apply([openflow.Flow(0, 1000, "ip", str(number))])
        assert [flow.port for flow in bridge.flows()] == [number]


@pytest.mark.parametrize("others", [[3, 5, 11], [1, 0, 0], None])
def test_of_two_at_the_same_time_the_flows_of_the_last_are_there_alone(
    vswitch: Vswitch, monkeypatch: pytest.MonkeyPatch, others: list[int] | None
) -> None:
    bridge, other = Bridge(vswitch.bridge), Bridge(vswitch.bridge)
    bridge.apply(flows(approximate([11, 5, 3], 8)))
    vswitch.add(["cookie=0x5,table=3,priority=1000,ip,actions=drop"])
    between = iter([flows(approximate(others, 8)) if others else []])

    def slowly(*asked: Any) -> Change:
        """Between the answer of the switch and the change, once, comes another's."""
        change = difference(*asked)
        for theirs in between:
            other.apply(theirs)
        return change

    monkeypatch.setattr(module, "difference", slowly)
    wanted = flows(approximate([5, 11, 3], 8))
    bridge.apply(wanted)
    assert {(f.priority, f.match) for f in bridge.flows() if f.ours} == {
        (f.priority, f.match) for f in wanted
    }
    assert bridge.apply(wanted).lines == ()
    assert [flow.cookie for flow in bridge.flows() if not flow.ours] == [5]


def test_what_a_switch_says_is_told_in_a_line(vswitch: Vswitch) -> None:
    def configure(*words: str) -> None:
        run(*vswitch.within, "ovs-vsctl", "--timeout=30", f"--db={vswitch.socket}", *words)

    bridge, wanted = Bridge(vswitch.bridge), flows(approximate([3, 5, 11], 8))
    full = ["--id=@f", "create", "flow_table", "flow_limit=2", "overflow_policy=refuse", "--"]
    configure("--", *full, "set", "bridge", "br", "flow_tables:0=@f")
    with pytest.raises(SwitchError, match=r"^bridge \S+: Error OFPFMFC_TABLE_FULL for: OFPT_FLOW"):
        bridge.apply(wanted)
    assert bridge.flows() == []
    configure("set", "bridge", "br", "protocols=OpenFlow10")
    with pytest.raises(SwitchError, match=r"^bridge \S+: it does not speak OpenFlow 1.3: expected"):
        bridge.apply(wanted)


def test_a_switch_that_does_not_answer_is_told_of_in_the_same_words_each_time(
    vswitch: Vswitch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 1)
    bridge = Bridge(vswitch.bridge)
    vswitch.processes[1].send_signal(signal.SIGSTOP)
    try:
        for _ in range(2):
            with pytest.raises(SwitchError, match=r"^bridge \S+: no answer within 1 s$"):
                bridge.apply([])
    finally:
        vswitch.processes[1].send_signal(signal.SIGCONT)


@pytest.mark.parametrize(
    ("mode", "text", "message"),
    [
        (None, "", r"^ovs-ofctl: not found: expected openvswitch-switch installed$"),
        (0o600, "", r"^ovs-ofctl: cannot be started: Permission denied$"),
        (0o700, "no program", r"^ovs-ofctl: cannot be started: Exec format error$"),
        (0o700, "#!/bin/sh\nprintf 'caf\\351\\n' >&2\nexit 1", "^bridge br0: caf\ufffd$"),
        (0o700, "#!/bin/sh\nexit 3", "^bridge br0: ended with 3$"),
    ],
)
def test_a_program_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int | None, text: str, message: str
) -> None:
    if mode is not None:
        (tmp_path / "ovs-ofctl").write_text(text)
        (tmp_path / "ovs-ofctl").chmod(mode)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SwitchError, match=message):
        Bridge("br0").flows()


def test_by_command(vswitch: Vswitch) -> None:
    applied = turnout("apply", vswitch.bridge, "a=3", "b=5", "c=11", "--width", "8")
    split = approximate([3, 5, 11], 8)
    count = len(split.rules)
    assert applied.stdout == (
        f"{vswitch.bridge}: {count} flows of ours: {count} added, 0 changed, 0 removed\n"
    )
    vswitch.sent(8)
    shown = json.loads(turnout("show", vswitch.bridge, "-o", "json").stdout)
    assert shown["ports"] == dict(zip("abc", split.partition, strict=True))
    assert sum(flow["packets"] for flow in shown["flows"]) == 256
    text = turnout("show", vswitch.bridge).stdout
    assert re.search(rf"^c +{split.partition[2]} +{split.partition[2] / 256:.4%}$", text, re.M)
    assert turnout("remove", vswitch.bridge).stdout.endswith(f"{count} removed\n")
    assert json.loads(turnout("show", vswitch.bridge, "-o", "json").stdout)["flows"] == []


FLEET = """
instances:
  lb1: {{interfaces: [eth0], addresses: [10.0.1.1]}}
backends:
  web1: {{address: 10.0.2.1}}
pools:
  web: {{members: {{web1: {{}}}}}}
services:
  www: {{vip: 10.0.255.254, protocol: udp, port: 9, pool: web}}
  www6: {{vip: "2001:db8::1", protocol: tcp, port: all, pool: web}}
switches:
  edge:
    bridge: "{bridge}"
    splits:
      www:
        service: www
        width: 8
        targets: {{a: {{port: a, weight: 3}}, b: {{port: b, weight: 5}}, c: {{port: 1, weight: 11}}}}
      www6: {{service: www6, width: 4, targets: {{a: {{port: b}}}}}}
      rest: {{width: 2, targets: {{a: {{port: a}}}}}}
"""


def test_the_switches_of_a_fleet_file(vswitch: Vswitch, tmp_path: Path) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text(FLEET.format(bridge=vswitch.bridge))
    first = Bridge(vswitch.bridge).ports()[1]
    expected = Counter[str]()
    for port, count in zip(("a", "b", first), approximate([3, 5, 11], 8).partition, strict=True):
        expected[port] += count
    applied = turnout("apply", "--fleet", str(path), "edge")
    assert (applied.exit_code, applied.stderr) == (0, "")
    # All frames are for the service: its flows have them before those for all packets.
    vswitch.sent(8)
    shown = json.loads(turnout("show", vswitch.bridge, "-o", "json").stdout)
    assert {port: count for port, count in shown["ports"].items() if count} == expected
    assert turnout("apply", "--fleet", str(path)).stdout.endswith("0 added, 0 changed, 0 removed\n")


def test_of_two_machines_bridges_of_one_name_one_is_to_be_named(
    vswitch: Vswitch, tmp_path: Path
) -> None:
    path, split = tmp_path / "fleet.yaml", "{x: {width: 2, targets: {a: {port: a}}}}"
    whole = FLEET.format(bridge=vswitch.bridge)
    more = f"  core: {{bridge: '{vswitch.bridge}', instance: lb1, splits: {split}}}\n"
    path.write_text(whole + more)
    for names in ([], ["edge", "core"]):
        refused = turnout("apply", "--fleet", str(path), *names)
        assert (refused.exit_code, refused.stdout) == (2, "")
        message = f"{path}: switches: edge and core are {vswitch.bridge} of two machines: expected"
        assert refused.stderr.startswith(message)
    assert Bridge(vswitch.bridge).flows() == []
    assert turnout("apply", "--fleet", str(path), "core", "core").exit_code == 0


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["apply", "nobridge", "a=1", "b=2"], 1, "bridge nobridge: nobridge is not a bridge"),
        (["show", "tcp:127.0.0.1:1"], 1, "bridge tcp:127.0.0.1:1: connecting to tcp:127.0.0.1:1"),
        (["apply", "br0", "a=1", "b=x"], 2, "weight 2: 'x': expected a number"),
        (
            ["apply", "br0", "a=1", "--field", "tcp_src", "--width", "17"],
            2,
            "width: 17: expected at",
        ),
        (["apply", "br0", "0=1", "b=2"], 2, "port 0: expected 1 to"),
        (["apply", "br0", "99999999999=1", "b=2"], 2, "port 99999999999: expected 1 to"),
        (["apply", "br0"], 2, "expected BRIDGE WEIGHTS..., or --fleet"),
        (["apply", "--fleet", "x.yaml", "--width", "8"], 2, "with --fleet the file says all"),
        (["apply", "--fleet", "/nowhere.yaml"], 2, "/nowhere.yaml:1:1: cannot read"),
        (["apply", "br0", "a=1", "--sample", "/nowhere.pcap"], 2, "No such file"),
        *(
            ([verb, name, *rest], 2, f"BRIDGE: {name!r}: expected the name of a bridge, or unix:")
            for verb, *rest in (["apply", "a=1"], ["show"], ["remove"])
            for name in ("", " ", "br0\n", "\udcff", "br\x1b[2J")
        ),
        (["remove", "--", "--all"], 1, "bridge --all: --all is not a bridge"),
    ],
)
def test_what_is_refused(words: list[str], status: int, message: str) -> None:
    result = turnout(*words)
    assert result.exit_code == status
    assert message in result.stderr
    assert result.stdout == ""
