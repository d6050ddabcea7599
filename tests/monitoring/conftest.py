"""One scrape for all tests of what asks for it."""

import pytest

from tests.monitoring.promql import Exported
from tests.monitoring.scraped import scrape


@pytest.fixture(scope="session")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Exported]:
    return scrape(tmp_path_factory.mktemp("scrape"))
