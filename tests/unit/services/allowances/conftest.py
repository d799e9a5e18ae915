"""Provide a world of stays in hospitals with people at three tiers."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.services.allowances.asking import fill_stays
from tests.unit.services.datasets.stays import ROWS
from tests.unit.worlds import CopyWorld, World


@pytest.fixture
def stays(copy_world: CopyWorld, keep: Callable[[str, str], Path]) -> World:
    """Return people at three tiers, and a dataset in a file, without a query."""
    file = keep("stays_asked.csv", ROWS)
    return copy_world("stays-asked", lambda world: fill_stays(world, file))
