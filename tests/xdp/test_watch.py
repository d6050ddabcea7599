import asyncio
import os
from collections.abc import Iterator

import pytest

from turnout.kernel import netns
from turnout.xdp import Neighbours


@pytest.fixture
def namespace() -> Iterator[str]:
    name = f"da-watch-{os.getpid()}"
    netns.create(name)
    try:
        yield name
    finally:
        netns.remove(name)


def test_what_changed_before_is_told_at_the_beginning(namespace: str) -> None:
    async def told() -> None:
        said = asyncio.Event()
        watching = asyncio.create_task(Neighbours().watch(said.set))
        try:
            async with asyncio.timeout(10):
                await said.wait()
        finally:
            watching.cancel()
            await asyncio.wait([watching])

    # Nothing changes in a namespace that nobody else knows. The loop is of this block alone.
    with netns.inside(namespace):
        asyncio.run(told())
