from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.switch.vswitch import Vswitch, run


@pytest.fixture
def space(request: pytest.FixtureRequest) -> Iterator[str]:
    name = f"turnout-{abs(hash(request.node.nodeid)) % 10**8}"
    run("ip", "netns", "add", name)
    yield name
    run("ip", "netns", "del", name)


@pytest.fixture
def vswitch(space: str, tmp_path: Path) -> Iterator[Vswitch]:
    made = Vswitch(space, tmp_path)
    try:
        made.begin(["a", "b", "c"])
        yield made
    finally:
        made.end()
