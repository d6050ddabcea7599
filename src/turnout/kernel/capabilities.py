"""What this process may do, and whether the kernel can."""

import os
import re
from pathlib import Path

OLDEST_KERNEL = (6, 6)

CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_BPF": 39}


def missing_capabilities(status: Path = Path("/proc/self/status")) -> tuple[str, ...]:
    """Those of `CAPABILITIES` that the process lacks (root has all of them)."""
    effective = next(
        int(line.split()[1], 16)
        for line in status.read_text().splitlines()
        if line.startswith("CapEff:")
    )
    return tuple(name for name, bit in CAPABILITIES.items() if not effective >> bit & 1)


def outdated(release: str | None = None) -> str:
    """What to say of a kernel (this one, if none is given) that is older than 6.6, else ""."""
    release = release or os.uname().release
    match = re.match(r"(\d+)\.(\d+)", release)
    if match and (int(match[1]), int(match[2])) < OLDEST_KERNEL:
        return f"kernel {release}: Turnout needs Linux 6.6 or newer"
    return ""
