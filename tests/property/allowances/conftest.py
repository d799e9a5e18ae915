"""Provide machines that try everything about allowances, each over a server of its own."""

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.databases.homes import Home, Homes
from tests.property.allowances.machine import MoveMachines
from tests.property.allowances.world import furnished
from tests.unit.worlds import Clock, Streams

from penstock.services.context import Server
from penstock.services.operations import home


@pytest.fixture
def moves(
    backend: str, homes: Homes, prototype: Callable[..., Home], tmp_path: Path
) -> MoveMachines:
    """Return machines on one database."""
    original, numbers = prototype(backend, "allowances", furnished), itertools.count()

    def server(clock: Clock) -> Server:
        folder = tmp_path / f"home-{next(numbers)}"
        settings = homes.copy(original, folder).settings()
        return home.open_server(settings, clock=clock, randomness=Streams())

    return MoveMachines(server)
