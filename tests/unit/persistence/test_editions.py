"""Test that every change of what releases rest on makes a new edition, and that no draw does."""

import pytest
from sqlalchemy import text
from sqlmodel import Session, select
from tests.unit.persistence.tables.samples import undone
from tests.unit.worlds import World

from penstock.persistence import Database, editions, migrate, tables

pytestmark = pytest.mark.each_database

CHANGES = {
    "tier": "UPDATE tier SET description = 'changed'",
    "dataset": "UPDATE dataset SET spec = 'changed'",
    "query": """UPDATE "query" SET status = 'retired'""",
    "query_level": (
        "INSERT INTO query_level (query_id, tier_id, version, rung, at, by)"
        " SELECT query_id, tier_id, version + 1, rung, at, by FROM query_level"
    ),
}
"""A change of each watched table."""


def edition(session: Session) -> str:
    return session.exec(select(tables.Edition.value)).one()


def test_each_watched_table_is_tried() -> None:
    assert set(CHANGES) == set(editions.WATCHED)


@pytest.mark.parametrize("statement", CHANGES.values(), ids=CHANGES)
def test_a_change_makes_a_new_edition(shared: Database, statement: str) -> None:
    with undone(shared) as session:
        before = edition(session)
        session.connection().execute(text(statement))
        assert edition(session) != before


def test_the_same_change_twice_makes_two_editions(shared: Database) -> None:
    """A database that is put back and changed again never has an edition that it had before."""
    made = set()
    for _ in range(2):
        with undone(shared) as session:
            session.connection().execute(text(CHANGES["tier"]))
            made.add(edition(session))
    assert len(made) == 2


@pytest.mark.parametrize(
    "column",
    sorted({c.name for c in tables.metadata.tables["query"].columns} - {"seq", "mac"}),
)
def test_every_column_of_a_query_counts_but_those_that_a_draw_changes(column: str) -> None:
    assert column in editions.WATCHED["query"]


def test_a_draw_makes_no_edition(visits: World) -> None:
    with visits.server.database.read() as session:
        before = edition(session)
    assert visits.ask("pia", epsilon=0.05).first
    with visits.server.database.read() as session:
        assert edition(session) == before


def test_the_triggers_are_those_of_this_version() -> None:
    installed = migrate.statements("sqlite")
    for table, columns in editions.WATCHED.items():
        for statement in editions.triggers("sqlite", table, columns):
            assert statement in installed
