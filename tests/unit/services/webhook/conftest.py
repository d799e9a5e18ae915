"""Provide a world in which analysts request counts of stays."""

from pathlib import Path

import pytest
from tests.unit.services.requests.requesting import furnish
from tests.unit.worlds import World


@pytest.fixture
def stays(world: World, tmp_path: Path) -> World:
    return furnish(world, tmp_path)
