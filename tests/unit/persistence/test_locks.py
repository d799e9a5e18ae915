"""The lock on a query's state."""

from collections.abc import Callable
from threading import Thread

import pytest
from sqlalchemy.dialects import postgresql
from sqlmodel import SQLModel

from penstock.errors import DatabaseUnavailable
from penstock.persistence import Database, lock_query, locks, tables

MakeRow = Callable[..., SQLModel]


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
    filled: Database, url: str
) -> None:
    other = Database(url, busy_timeout_seconds=30)
    seen: list[int] = []

    def wait() -> None:
        with other.write() as session:
            seen.append(session.get_one(tables.Query, 1).seq)

    waiting = Thread(target=wait)
    with filled.write() as session:
        session.get_one(tables.Query, 1).seq = 7
        session.flush()
        waiting.start()
        waiting.join(0.02)
        assert not seen
    waiting.join()
    assert seen == [7]


def test_postgresql_locks_the_row() -> None:
    compiled = locks._QUERY.compile(dialect=postgresql.dialect())  # type: ignore[no-untyped-call]  # SQLAlchemy's
    assert str(compiled).endswith("FOR UPDATE")
