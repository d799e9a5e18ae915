"""Puts the repository on the path, here and in the processes that the tests start.

Every test runs on each database: the home that it builds finds its URLs beside it.
"""

import json
import sys
from pathlib import Path

import pytest
from tests.databases.homes import Homes
from tests.faults.stage import urls_beside

sys.path.insert(0, str(Path(__file__).parents[2]))


@pytest.fixture(autouse=True)
def _database(homes: Homes, tmp_path: Path) -> None:
    made = homes.bare(tmp_path / "home")
    urls_beside(made.folder).write_text(json.dumps(made.urls))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow)
