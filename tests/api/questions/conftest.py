"""Provide a server with a survey."""

from pathlib import Path

import pytest
from tests.api.questions.survey import Survey, opened
from tests.api.world import World


@pytest.fixture
def survey(world: World, tmp_path: Path) -> Survey:
    return opened(world, tmp_path)
