"""Provide one demo for all tests that do not change it."""

from collections.abc import Iterator

import pytest
from tests.unit.demo.told import PORT, quiet

from penstock.demo import stage, story
from penstock.demo.story import Story
from penstock.services.context import Server
from penstock.services.operations.home import open_server
from penstock.settings import Settings


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return stage.settings(tmp_path_factory.mktemp("demo") / "home", PORT)


@pytest.fixture(scope="session")
def told(settings: Settings) -> Story:
    return story.tell(settings, quiet)


@pytest.fixture(scope="session")
def server(told: Story, settings: Settings) -> Iterator[Server]:
    opened = open_server(settings)
    yield opened
    opened.database.close()
