"""Test that registering costs the database little, and the same beside any number of queries."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event
from tests.benchmarks.database.ledger import fill
from tests.benchmarks.database.world import World, fresh_world
from tests.unit.statements import statements
from tests.unit.worlds import World as SmallWorld

from penstock.services.access.principals import OPERATOR, acting_as

VALUES = 4

MOST = {"sqlite": 15, "postgresql": 13}
"""The statements of a registration's transactions, after the one that reads without any.

On PostgreSQL another thread gives leaves their places.  One reads the labels of the dataset, which
are shown for a query without its own.
"""


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


@pytest.mark.each_database
def test_a_registration_sends_few_statements(visits: SmallWorld) -> None:
    visits.push("warm")
    with statements() as seen:
        visits.push("new")
    assert len(seen) <= MOST[visits.server.database._dialect.name], seen


@pytest.mark.each_database
def test_more_tiers_and_levels_take_no_more_statements(visits: SmallWorld) -> None:
    visits.push("warm")
    counts = []
    every = {
        "public": {"epsilon": 0.01},
        "partner": {"epsilon": 0.02},
        "internal": {"epsilon": 0.03},
    }
    for name, levels in (("few", {"internal": {"epsilon": 0.03}}), ("many", every)):
        with statements() as seen:
            visits.push(name, levels=levels)
        counts.append(len(seen))
        assert sum("INSERT INTO charge" in text for text in seen) == 1
        assert sum("INSERT INTO query_level" in text for text in seen) == 1
    assert counts[0] == counts[1]
