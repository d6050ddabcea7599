from collections.abc import Iterator

import pytest

from tests.agent.backend import decapsulation
from turnout.agent import Decapsulation


@pytest.fixture(scope="module")
def backends() -> Iterator[dict[int, Decapsulation]]:
    """The vectors' backend, by the IP version of its address."""
    found = {outside: decapsulation(outside) for outside in (4, 6)}
    yield found
    for each in found.values():
        each.close()
