"""The forwarder on real interfaces: modes, refusals, and nothing of others touched."""

import socket
import subprocess
from collections.abc import Iterator

import pytest

from turnout.core import native
from turnout.kernel import netns
from turnout.kernel.bpf import ATTACH_XDP, XDP_FLAGS_DRV_MODE, Link, Object, xdp_attached
from turnout.xdp import DataPlaneError, Forwarder
from turnout.xdp.attachment import require_kernel

NAME = "turnout-test-attach"


@pytest.fixture
def interfaces() -> Iterator[None]:
    """In a namespace with the interfaces one, two (peers of each other) and lo."""
    netns.remove(NAME)
    netns.create(NAME)
    try:
        with netns.inside(NAME):
            for command in (
                "ip link add one type veth peer name two",
                "ip link set one up",
                "ip link set two up",
            ):
                subprocess.run(command.split(), check=True)
            yield
    finally:
        netns.remove(NAME)


def mode_of(name: str) -> str | None:
    state = xdp_attached(socket.if_nametoindex(name))
    return state[0] if state else None


@pytest.mark.usefixtures("interfaces")
@pytest.mark.parametrize(
    ("asked", "name", "in_force"),
    [
        ("native", "one", "native"),
        ("generic", "one", "generic"),
        ("auto", "one", "native"),
        ("auto", "lo", "generic"),
    ],
)
def test_mode_in_force(asked: str, name: str, in_force: str) -> None:
    forwarder = Forwarder()
    forwarder.attach([name], asked)  # type: ignore[arg-type]
    assert forwarder.modes() == {name: in_force}
    assert mode_of(name) == in_force
    forwarder.close()
    assert mode_of(name) is None


@pytest.mark.usefixtures("interfaces")
@pytest.mark.parametrize(
    ("names", "mode", "message"),
    [
        (["lo"], "native", "interface lo, native mode: .*use mode: generic or auto"),
        (["nosuch"], "auto", "interface nosuch: there is none of that name"),
        (["one", "nosuch"], "auto", "interface nosuch"),
        (["one", "lo"], "native", "interface lo, native mode"),
    ],
)
def test_refused_whole(names: list[str], mode: str, message: str) -> None:
    forwarder = Forwarder()
    with pytest.raises(DataPlaneError, match=message):
        forwarder.attach(names, mode)  # type: ignore[arg-type]
    assert mode_of("one") is None
    forwarder.close()


@pytest.mark.usefixtures("interfaces")
def test_anothers_program_is_left_alone() -> None:
    with Object(native("pass.bpf.o")) as other:
        link = Link(
            other.programs["pass"], socket.if_nametoindex("two"), ATTACH_XDP, XDP_FLAGS_DRV_MODE
        )
        before = xdp_attached(socket.if_nametoindex("two"))
        assert before is not None
        forwarder = Forwarder()
        with pytest.raises(DataPlaneError, match=f"XDP program {before[1]} of somebody else"):
            forwarder.attach(["one", "two"], "auto")
        assert xdp_attached(socket.if_nametoindex("two")) == before
        assert mode_of("one") is None
        forwarder.close()
        link.close()


@pytest.mark.usefixtures("interfaces")
def test_an_interface_that_has_gone_is_told() -> None:
    forwarder = Forwarder()
    forwarder.attach(["one"], "auto")
    subprocess.run(["ip", "link", "del", "one"], check=True)
    assert forwarder.modes() == {"one": "none"}
    forwarder.close()


@pytest.mark.usefixtures("interfaces")
def test_large_packets_do_not_stand_in_the_way_of_native_mode() -> None:
    """Programs that do not know of packets in several buffers are refused at this MTU."""
    for name in ("one", "two"):
        subprocess.run(f"ip link set {name} mtu 9000".split(), check=True)
    forwarder = Forwarder()
    forwarder.attach(["one"], "native")
    assert forwarder.modes() == {"one": "native"}
    forwarder.close()


@pytest.mark.usefixtures("interfaces")
def test_the_mode_is_of_our_program_and_follows_the_interface() -> None:
    """Another interface of the name, with another's program, is not ours."""
    forwarder = Forwarder()
    forwarder.attach(["one"], "native")
    subprocess.run(["ip", "link", "set", "one", "down", "name", "was"], check=True)
    assert forwarder.modes() == {"one": "native"}
    subprocess.run(["ip", "link", "del", "was"], check=True)
    subprocess.run(["ip", "link", "add", "one", "type", "veth", "peer", "name", "two"], check=True)
    with Object(native("pass.bpf.o")) as other:
        ifindex = socket.if_nametoindex("one")
        link = Link(other.programs["pass"], ifindex, ATTACH_XDP, XDP_FLAGS_DRV_MODE)
        assert forwarder.modes() == {"one": "none"}
        link.close()
    forwarder.close()


@pytest.mark.parametrize("release", ["5.15.0-91-generic", "6.5.13", "4.19.0"])
def test_old_kernels_are_refused_in_plain_words(release: str) -> None:
    with pytest.raises(DataPlaneError, match=r"needs Linux 6\.6 or newer"):
        require_kernel(release)


@pytest.mark.parametrize("release", ["6.6.0", "6.18.44", "7.0.1-rc1"])
def test_newer_kernels_are_not(release: str) -> None:
    require_kernel(release)


@pytest.mark.usefixtures("interfaces")
def test_an_interface_made_anew_is_attached_to_again() -> None:
    forwarder = Forwarder()
    forwarder.attach(["one"], "generic")
    subprocess.run(["ip", "link", "del", "one"], check=True)
    forwarder.restore()
    assert forwarder.modes() == {"one": "none"}
    subprocess.run(["ip", "link", "add", "one", "type", "veth", "peer", "name", "two"], check=True)
    assert mode_of("one") is None
    forwarder.restore()
    assert mode_of("one") == "generic"
    forwarder.restore()
    forwarder.close()
    assert mode_of("one") is None
