"""Frames of every length and of no sense: all accounted for, under the reason that the oracle says."""

import random
from collections import Counter

import pytest

from tests.xdp import oracle
from tests.xdp.instance import VECTORS, VERDICT_OF, Runner, counted, difference
from turnout.kernel.bpf import XDP_PASS, BpfError
from turnout.xdp import Forwarder

FRAMES = [bytes.fromhex(case["in"]) for case in VECTORS["cases"]]
SHORT = [frame for frame in FRAMES if len(frame) < 400]
BASES = (
    "tcp 4 in gue 4, untagged in",
    "udp 4 in ipip 6, tagged in",
    "tcp 6 in gre 6, untagged in",
    "udp 6 in gue 6, tagged in",
    "most IPv4 options",
    "IPv6 four extension headers, tcp",
    "IPv6 first fragment",
    "first fragment",
    "echo request of 56 bytes",
    "ICMPv6 echo request of 56 bytes, tagged",
    "two tags",
    "other address, 4",
    "other address, 6",
)


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_oracle_agrees_with_the_vectors(case: dict[str, str]) -> None:
    assert oracle.reason(bytes.fromhex(case["in"])) == case["reason"]


@pytest.mark.parametrize("name", BASES)
def test_every_length_to_200(forwarder: Forwarder, name: str) -> None:
    case = next(case for case in VECTORS["cases"] if case["name"] == name)
    whole = bytes.fromhex(case["in"]).ljust(200, b"\0")
    runner = Runner(forwarder.program)
    for length in range(14, 201):
        check(forwarder, runner, [whole[:length]])


def test_test_runs_refuse_less_than_an_ethernet_header(forwarder: Forwarder) -> None:
    """So lengths below 14 cannot be tried; the program's first check is for them."""
    for length in range(14):
        with pytest.raises(BpfError, match="Invalid argument"):
            forwarder.program.run(bytes(length))


def test_a_million_frames(forwarder: Forwarder) -> None:
    rng = random.Random(1)
    runner = Runner(forwarder.program)
    met: Counter[str] = Counter()
    for _ in range(100):
        met += check(forwarder, runner, [made_up(rng) for _ in range(10_000)])
    assert met.total() == 1_000_000
    # Nothing of what the vectors reach is out of reach of chance, or the frames were no test.
    reached = {case["reason"] for case in VECTORS["cases"]}
    assert set(met) == reached - {"too_big"}


def made_up(rng: random.Random) -> bytes:
    """A frame of the vectors with some bytes changed, cut or padded; now and then plain noise."""
    kind = rng.random()
    if kind < 0.05:
        return rng.randbytes(rng.randrange(14, 120))
    frame = bytearray(rng.choice(SHORT))
    if kind < 0.65:
        reach = min(len(frame), 100)
        for _ in range(1 + int(rng.random() * 3)):
            frame[int(rng.random() * reach)] = int(rng.random() * 256)
    if kind > 0.5:
        length = 14 + int(rng.random() * len(frame))
        frame = frame[:length] if kind < 0.9 else frame + bytes(length % 40)
    return bytes(frame)


def check(forwarder: Forwarder, runner: Runner, frames: list[bytes]) -> Counter[str]:
    """Put frames through; verdicts, reasons and what is passed are as they have to be."""
    expected: Counter[str] = Counter()
    before = counted(forwarder)
    for frame in frames:
        reason = oracle.reason(frame)
        expected[reason] += 1
        verdict, out = runner.run(frame)
        assert verdict == VERDICT_OF[reason], f"{frame.hex()}: expected {reason}"
        assert verdict != XDP_PASS or out == frame, f"{frame.hex()}: passed, but changed"
    assert difference(before, counted(forwarder)) == expected
    return expected
