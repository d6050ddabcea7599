from pathlib import Path

import pytest

from turnout.kernel.capabilities import missing_capabilities


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
