"""Provide servers of one home with a second place for their log."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from tests.databases.homes import PATIENCE
from tests.unit.transparency_log.sinks.placing import Placed
from tests.unit.worlds import World

from penstock.services.operations import home


@pytest.fixture
def placed(visits: World) -> Iterator[Placed]:
    """Yield another process's server of the same home, with a second place for its log."""
    with ExitStack() as opened:

        def place(sink: str, patience: float = PATIENCE) -> World:
            settings = visits.server.settings.model_copy(
                update={"log_sink": sink, "log_patience": patience}
            )
            server = home.open_server(settings, clock=visits.clock, randomness=visits.streams)
            opened.callback(server.database.close)
            return World(server, visits.clock, visits.streams)

        yield place
