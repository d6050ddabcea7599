from pathlib import Path

import pytest

from turnout.kernel.capabilities import missing_capabilities, outdated


@pytest.mark.parametrize(
    ("effective", "missing"),
    [
        ("000001ffffffffff", ()),
        ("0000000000000000", ("CAP_NET_ADMIN", "CAP_BPF")),
        ("0000000000001000", ("CAP_BPF",)),
        ("0000008000000000", ("CAP_NET_ADMIN",)),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, effective: str, missing: tuple[str, ...]) -> None:
    status = tmp_path / "status"
    status.write_text(f"Name:\tx\nCapPrm:\tffffffffffffffff\nCapEff:\t{effective}\n")
    assert missing_capabilities(status) == missing


@pytest.mark.parametrize("release", ["6.6.0", "6.18.44-cloud-amd64", "7.0.0-rc1", "10.1"])
def test_a_kernel_that_will_do(release: str) -> None:
    assert outdated(release) == ""


@pytest.mark.parametrize("release", ["6.5.13", "6.1.0-28-amd64", "5.15.0"])
def test_a_kernel_that_is_too_old(release: str) -> None:
    assert outdated(release) == f"kernel {release}: Turnout needs Linux 6.6 or newer"
