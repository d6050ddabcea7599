"""Where the build put the shared libraries and the BPF objects."""

from pathlib import Path

import turnout


def native(name: str) -> Path:
    """Path of a built file, such as "forwarder.bpf.o".

    Raises FileNotFoundError where the package was not built.
    """
    # An editable install has two homes, the source tree and site-packages.
    for home in turnout.__path__:
        path = Path(home) / "native" / name
        if path.exists():
            return path
    raise FileNotFoundError(f"{name}: not built; install the package (make install)")
