"""Test the connections on which single statements read, and when PostgreSQL plans these."""

from typing import Any

import pytest
from sqlalchemy import bindparam, column, select, table

from penstock.persistence import Database, tables
from penstock.persistence.statements.glances import MOST, PreparedSelect

pytestmark = pytest.mark.each_database

_TIER = tables.metadata.tables["tier"]
_NUMBERS = PreparedSelect(select(_TIER.c.id))


def pool_of(database: Database) -> Any:
    return database._engines.reader.pool


def test_glances_begin_no_transaction_and_keep_one_connection(filled: Database) -> None:
    for _ in range(3):
        assert filled.glance(_NUMBERS).row == {"id": 1}
        assert pool_of(filled).checkedout() == 1
    with filled.write() as session:
        session.get_one(tables.Query, 1).seq = 5
    filled.close()
    assert pool_of(filled).checkedout() == 0
    assert filled.glance(_NUMBERS).row == {"id": 1}


def test_glances_at_the_same_time_have_connections_of_their_own(filled: Database) -> None:
    """Few of them stay out of the pool afterwards, and the last one is used next."""
    connections = filled._engines.once
    taken = [connections.take() for _ in range(MOST + 2)]
    assert len({id(each.driver_connection) for each in taken}) == MOST + 2
    for each in taken:
        connections.keep(each)
    assert pool_of(filled).checkedout() == MOST
    again = connections.take()
    assert again is taken[MOST - 1]
    connections.keep(again)


def test_a_connection_whose_statement_failed_is_not_kept(filled: Database) -> None:
    with pytest.raises(Exception, match="db upgrade"):
        filled.glance(PreparedSelect(select(table("missing", column("id")))))
    assert pool_of(filled).checkedout() == 0


def test_connections_for_glances_are_left_to_the_process_that_opened_them(
    filled: Database,
) -> None:
    """As a child process does, which never closes what its parent uses."""
    filled.glance(_NUMBERS)
    (kept,) = filled._engines.once._idle
    filled.forget()
    assert filled.glance(_NUMBERS).row == {"id": 1}
    assert kept not in filled._engines.once._idle
    assert kept.dbapi_connection is not None
    kept.invalidate()


@pytest.mark.only("postgresql")
def test_connections_for_more_glances_go_back_to_the_pool_as_they_came(filled: Database) -> None:
    """Otherwise many readers at once would open a connection for every statement."""
    connections = filled._engines.once
    taken = [connections.take() for _ in range(MOST + 2)]
    drivers = [each.driver_connection for each in taken]
    modes = [driver.execute("SHOW plan_cache_mode").fetchone()[0] for driver in drivers]  # type: ignore[union-attr]  # they are open
    assert modes == ["force_generic_plan"] * MOST + ["auto"] * 2
    for each in reversed(taken):
        connections.keep(each)
    assert not any(driver.closed for driver in drivers)  # type: ignore[union-attr]  # the driver's own
    assert pool_of(filled).checkedout() == MOST
    connections.drop(connections.take())
    replaced = connections.take()
    assert replaced.driver_connection in drivers
    connections.keep(replaced)


@pytest.mark.only("postgresql")
def test_glances_are_planned_once_and_nothing_else_on_other_connections(filled: Database) -> None:
    named = PreparedSelect(select(_TIER.c.name).where(_TIER.c.id == bindparam("number")))
    for number in range(8):
        filled.glance(named, number=number)
    connections = filled._engines.once
    kept = connections.take()
    plans = kept.driver_connection.execute(  # type: ignore[union-attr]  # it is open
        "SELECT generic_plans, custom_plans FROM pg_prepared_statements"
        " WHERE statement LIKE 'SELECT tier.name%'"
    ).fetchall()
    connections.keep(kept)
    assert plans == [(8, 0)]
    connections.drop(connections.take())
    with filled.read() as session:
        setting = session.connection().exec_driver_sql("SHOW plan_cache_mode").scalar_one()
    assert setting == "auto"
