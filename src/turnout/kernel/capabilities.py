"""What this process may do."""

from pathlib import Path

CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_BPF": 39}


def missing_capabilities(status: Path = Path("/proc/self/status")) -> tuple[str, ...]:
    """Those of `CAPABILITIES` that the process lacks (root has all of them)."""
    effective = next(
        int(line.split()[1], 16)
        for line in status.read_text().splitlines()
        if line.startswith("CapEff:")
    )
    return tuple(name for name, bit in CAPABILITIES.items() if not effective >> bit & 1)
