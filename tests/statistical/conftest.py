"""Mark the statistical tests, and count the checks that share one error rate."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.statistical.checks import CHECKS_A_SUITE, checks_made


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.statistical)


@pytest.fixture(scope="session", autouse=True)
def _no_more_checks_than_the_error_rate_is_split_over() -> Iterator[None]:
    yield
    assert checks_made() <= CHECKS_A_SUITE
