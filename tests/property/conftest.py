"""Machines that try everything, each over a server of its own."""

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.databases.homes import Home, Homes
from tests.property.tiers_machine import Pair, Rules, furnished
from tests.unit.conftest import Clock, Streams

from penstock.services.context import Server
from penstock.services.operations import home


@dataclass
class Machines:
    """Makes machines, and counts what all of them tried."""

    server: Callable[[Clock], Server]
    tried: Counter[Pair] = field(default_factory=Counter)

    kind: type[Rules] = Rules

    def __call__(self) -> Rules:
        return self.kind(self.server, self.tried)


@pytest.fixture
def machines(
    backend: str, homes: Homes, prototype: Callable[..., Home], tmp_path: Path
) -> Machines:
    """Machines on one database."""
    original, numbers = prototype(backend, "rules", furnished), itertools.count()

    def server(clock: Clock) -> Server:
        folder = tmp_path / f"home-{next(numbers)}"
        settings = homes.copy(original, folder).settings()
        return home.open_server(settings, clock=clock, randomness=Streams())

    return Machines(server)
