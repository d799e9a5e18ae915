"""Test the lock on a query's state."""

from collections.abc import Callable
from threading import Thread

import pytest
from sqlalchemy.dialects import postgresql
from sqlmodel import SQLModel
from tests.databases.homes import PATIENCE, Homes

from penstock.errors import DatabaseUnavailable
from penstock.persistence import Database, lock_dataset, lock_log, lock_query, locks, tables

pytestmark = pytest.mark.each_database

MakeRow = Callable[..., SQLModel]
Acts = tuple[bool, list[tuple[Callable[..., object], int | None]]]
"""Whether to be alone, and the locks to take."""


def test_a_locked_query_is_the_one_that_is_stored_now(filled: Database) -> None:
    with filled.read() as session:
        stale = session.get_one(tables.Query, 1)
    with filled.write() as session:
        session.get_one(tables.Query, 1).seq = 5
    with filled.write() as session:
        session.add(stale)
        locked = lock_query(session, 1)
        assert locked is stale
        assert locked.seq == 5


def test_a_query_that_does_not_exist_is_none(filled: Database) -> None:
    with filled.write() as session:
        assert lock_query(session, 99) is None


def test_a_read_transaction_locks_nothing_and_says_so(filled: Database) -> None:
    with filled.read() as session, pytest.raises(RuntimeError, match="write transaction"):
        lock_query(session, 1)


def test_nobody_else_writes_while_a_query_is_locked(filled: Database, url: str) -> None:
    other = Database(url, busy_timeout_seconds=0.01)
    with filled.write() as session:
        lock_query(session, 1)
        with pytest.raises(DatabaseUnavailable), other.write():
            pass


def test_who_waits_to_write_begins_when_the_other_ends_and_sees_what_was_written(
    filled: Database, url: str, homes: Homes
) -> None:
    other = Database(url, busy_timeout_seconds=PATIENCE)
    seen: list[int] = []

    def wait() -> None:
        with other.write() as session:
            seen.append(session.get_one(tables.Query, 1).seq)

    waiting = Thread(target=wait)
    with filled.write() as session:
        session.get_one(tables.Query, 1).seq = 7
        session.flush()
        waiting.start()
        if homes.cluster is not None:
            homes.cluster.until_one_waits(seen)
        else:
            # SQLite shows nobody who waits: whoever does tries again and again, and sleeps between.
            waiting.join(0.02)
        assert not seen
    waiting.join()
    assert seen == [7]


@pytest.mark.parametrize("lock", [lock_query, lock_dataset])
def test_whoever_locks_a_row_sees_what_was_written_before(
    filled: Database, row: MakeRow, lock: Callable[..., object]
) -> None:
    with filled.read() as session:
        stale = session.get_one(tables.Query, 1), session.get_one(tables.Dataset, 1)
    with filled.write() as session:
        session.get_one(tables.Query, 1).spec = "new"
        session.get_one(tables.Dataset, 1).spec = "new"
    with filled.write_beside() as session:
        session.add_all(stale)
        found = lock(session, 1)
        assert found in stale
        assert isinstance(found, tables.Query | tables.Dataset)
        assert found.spec == "new"


def test_the_log_is_locked_in_a_write_transaction_only(filled: Database) -> None:
    with filled.read() as session, pytest.raises(RuntimeError, match="write transaction"):
        lock_log(session)
    with filled.write_beside() as session:
        lock_log(session)
        lock_log(session)


# Who holds what in one transaction, who wants what in another, and whether that one waits.
MEETINGS: list[tuple[Acts, Acts, bool]] = [
    ((False, []), (False, []), False),
    ((True, []), (False, []), True),
    ((False, []), (True, []), True),
    ((True, []), (True, []), True),
    ((False, [(lock_query, 1)]), (False, [(lock_query, 1)]), True),
    ((False, [(lock_query, 1)]), (False, [(lock_query, 2)]), False),
    ((False, [(lock_dataset, 1)]), (False, [(lock_dataset, 1)]), True),
    ((False, [(lock_dataset, 1)]), (False, [(lock_dataset, 2)]), False),
    ((False, [(lock_log, None)]), (False, [(lock_log, None)]), True),
    ((False, [(lock_log, None)]), (False, [(lock_query, 1), (lock_dataset, 1)]), False),
]


@pytest.mark.only("postgresql")
@pytest.mark.parametrize(("held", "wanted", "waits"), MEETINGS)
def test_who_waits_for_whom(
    filled: Database, url: str, row: MakeRow, held: Acts, wanted: Acts, waits: bool
) -> None:
    with filled.write() as session:
        session.add(row("dataset", version=2))
        session.add(row("query", folded="second", canonical_hash="01"))
    other = Database(url, busy_timeout_seconds=0.02 if waits else PATIENCE)

    def hold(database: Database, acts: Acts, then: Callable[[], None]) -> None:
        alone, locks = acts
        with database.write() if alone else database.write_beside() as session:
            for lock, key in locks:
                assert lock(session, *([key] if key else [])) or lock is lock_log
            session.connection().exec_driver_sql("SELECT 1")  # the log is locked with it
            then()

    def meet() -> None:
        hold(other, wanted, lambda: None)

    def refused() -> None:
        with pytest.raises(DatabaseUnavailable, match="locked"):
            meet()

    hold(filled, held, refused if waits else meet)
    meet()


def test_postgresql_locks_the_row() -> None:
    compiled = locks._query().compile(dialect=postgresql.dialect())  # type: ignore[no-untyped-call]  # SQLAlchemy's
    assert str(compiled).endswith("FOR UPDATE")
