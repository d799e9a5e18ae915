"""Test that registering costs the database the same, however many queries there are."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event
from tests.benchmarks.database.ledger import fill
from tests.benchmarks.database.world import World, fresh_world

from penstock.services.access.principals import OPERATOR, acting_as

VALUES = 4


@contextmanager
def counted(world: World) -> Iterator[list[int]]:
    """Yield how many instructions SQLite's machine runs meanwhile."""
    done = [0]

    def step() -> int:
        done[0] += 1
        return 0

    def opened(connection: Any, *_: object) -> None:
        assert isinstance(connection, sqlite3.Connection)
        connection.set_progress_handler(step, 1)

    engines = world.server.database._engines
    world.server.database.close()
    for engine in (engines.alone, engines.beside, engines.reader):
        event.listen(engine, "checkout", opened)
    yield done


def instructions(count: int) -> int:
    """Return the instructions of one more registration, beside ``count`` queries."""
    with fresh_world() as world:
        fill(world, count, VALUES)
        # Somebody has read something, and the operator in their name.
        analyst = world.add_analyst("ana")
        world.ask(analyst, "first")
        world.ask(acting_as(world.server, "ana", by=OPERATOR), "first", tier="public")
        world.add_query("warm", VALUES)
        with counted(world) as done:
            world.add_query("new", VALUES)
        return done[0]


@pytest.mark.slow
def test_registering_takes_the_same_work_with_a_hundred_times_as_many_queries() -> None:
    few, many = instructions(10), instructions(1000)
    assert few > 500
    assert many < 1.1 * few  # the tree over the longer log has more levels
