from collections.abc import Iterator

import pytest

from tests.xdp.instance import other_interface, vector_plan
from turnout.xdp import Forwarder


@pytest.fixture(scope="module")
def forwarder() -> Iterator[Forwarder]:
    """Holds the services of the packet vectors."""
    with other_interface() as other:
        forwarder = Forwarder()
        forwarder.apply(vector_plan(other))
        yield forwarder
        forwarder.close()
