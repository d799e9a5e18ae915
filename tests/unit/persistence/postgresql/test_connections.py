"""Test how sessions of PostgreSQL begin, what they refuse to run on, and how they end."""

import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
import sqlalchemy
from sqlalchemy import Connection, event, text
from sqlmodel import Session, SQLModel, select
from tests.databases.cluster import PASSWORD, Cluster
from tests.databases.homes import PATIENCE, Homes

from penstock.errors import DatabaseUnavailable, Interrupted, SchemaUnknown
from penstock.persistence import Database, migrate, tables
from penstock.persistence.postgresql import connections, durability
from penstock.persistence.statements.glances import PreparedSelect

MakeRow = Callable[..., SQLModel]

pytestmark = pytest.mark.only("postgresql")


def count(database: Database) -> int:
    with database.read() as session:
        return len(session.exec(select(tables.Tier)).all())


def setting(session: Session, name: str) -> str:
    found: str = session.connection().exec_driver_sql(f"SHOW {name}").scalar_one()
    return found


def backend_of(session: Session) -> int:
    found: int = session.connection().exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
    return found


def end(cluster: Cluster, backend: int) -> None:
    """Let the server end a session, and wait until it is gone."""
    with cluster.administered() as connection:
        connection.execute("SELECT pg_terminate_backend(%s, 10000)", [backend])


@contextmanager
def sent() -> Iterator[list[str]]:
    """Yield the statements that are sent inside the block, in their order."""
    statements: list[str] = []
    product = psycopg.Cursor.execute

    def execute(cursor: Any, query: Any, *arguments: Any, **options: Any) -> Any:
        statements.append(str(query))
        return product(cursor, query, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.Cursor, "execute", execute)
        yield statements


def test_a_read_transaction_sees_one_snapshot_and_is_read_only(filled: Database) -> None:
    count(filled)
    with sent() as seen:
        count(filled)
    assert seen[0] == "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    assert seen[1].startswith("SELECT tier.id")
    with filled.read() as session:
        assert setting(session, "transaction_read_only") == "on"
    with pytest.raises(DatabaseUnavailable, match="read-only"), filled.read() as session:
        session.connection().exec_driver_sql("UPDATE tier SET description = 'changed'")


@pytest.mark.parametrize("alone", [True, False])
def test_a_write_transaction_takes_the_gate_before_anything_is_read(
    filled: Database, alone: bool
) -> None:
    count(filled)
    with sent() as seen, filled.write() if alone else filled.write_beside() as session:
        before = len(seen)
        assert setting(session, "transaction_isolation") == "read committed"
        assert setting(session, "transaction_read_only") == "off"
    assert before == 3, "it has begun before the block does anything"
    assert seen[0] == "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
    function = "pg_advisory_xact_lock" if alone else "pg_advisory_xact_lock_shared"
    assert seen[1].startswith(f"SELECT {function}(")


def test_nothing_waits_for_ever(url: str) -> None:
    with Database(url, busy_timeout_seconds=3).read() as session:
        assert setting(session, "lock_timeout") == "3s"
        assert setting(session, "statement_timeout") == "23s"
        assert setting(session, "idle_in_transaction_session_timeout") == "1min"


def test_no_statement_is_compiled_to_machine_code(filled: Database) -> None:
    """That takes a tenth of a second, again whenever the statement is run."""
    for begin in (filled.read, filled.write, filled.write_beside):
        with begin() as session:
            assert session.connection().execute(text("SHOW jit")).scalar_one() == "off"


def test_a_statement_that_takes_too_long_is_stopped(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "WORK_SECONDS", 0.05)
    database = Database(url, busy_timeout_seconds=0.05)
    with pytest.raises(DatabaseUnavailable, match="too long"), database.write() as session:
        session.connection().exec_driver_sql("SELECT pg_sleep(60)")


def test_a_locked_database_says_how_long_it_waited(
    filled: Database, url: str, row: MakeRow
) -> None:
    other = Database(url, busy_timeout_seconds=0.02)
    with filled.write():
        with (
            pytest.raises(DatabaseUnavailable, match=r"locked.* 0\.02 s\. Try again"),
            other.write(),
        ):
            pass
        assert count(other) == 1  # readers do not wait for a writer


@pytest.mark.parametrize("name", ["fsync", "full_page_writes", "synchronous_commit"])
def test_a_server_that_may_forget_is_refused_by_the_setting(
    cluster: Cluster, url: str, name: str
) -> None:
    with cluster.set(name, "off"):
        for act in (lambda: count(Database(url)), lambda: migrate.upgrade(url)):
            with pytest.raises(DatabaseUnavailable, match=rf"{name} = off.*ALTER SYSTEM"):
                act()
    assert count(Database(url)) == 0


def test_a_role_that_may_forget_is_refused_as_well(cluster: Cluster, url: str) -> None:
    with cluster.administered() as connection:
        connection.execute("ALTER ROLE penstock_owner SET synchronous_commit = off")
        try:
            with pytest.raises(DatabaseUnavailable, match="synchronous_commit = off"):
                count(Database(url))
        finally:
            connection.execute("ALTER ROLE penstock_owner RESET synchronous_commit")


@pytest.mark.parametrize("value", ["local", "remote_write", "remote_apply"])
def test_a_server_that_waits_for_its_own_disk_is_taken(
    cluster: Cluster, url: str, value: str
) -> None:
    with cluster.set("synchronous_commit", value), Database(url).read() as session:
        assert setting(session, "synchronous_commit") == value


def test_an_open_session_goes_on_as_it_began(cluster: Cluster, database: Database) -> None:
    with database.read() as session:
        assert setting(session, "synchronous_commit") == "on"
        with cluster.set("synchronous_commit", "off"):
            assert setting(session, "synchronous_commit") == "on"


def test_a_database_that_cannot_hold_every_name_is_refused(cluster: Cluster) -> None:
    with cluster.administered() as connection:
        connection.execute(
            "CREATE DATABASE latin OWNER penstock_owner TEMPLATE template0 ENCODING 'LATIN1'"
        )
    with pytest.raises(DatabaseUnavailable, match=r"LATIN1.*--encoding=UTF8"):
        migrate.upgrade(cluster.url("latin", "penstock_owner"))
    cluster.drop("latin")


def test_a_password_is_used_and_told_to_nobody(cluster: Cluster, homes: Homes, url: str) -> None:
    name = homes.made[-1]
    assert count(Database(cluster.address(name, "penstock_owner"))) == 0
    wrong = f"not {PASSWORD}"
    wrongs = {
        "password": cluster.address(name, password=wrong),
        "role": cluster.address(name, role="nobody", password=wrong),
        "database": cluster.address("absent", password=wrong),
        "port": cluster.address(name, password=wrong).replace(f":{cluster.port}/", ":1/"),
    }
    for address in wrongs.values():
        with pytest.raises(DatabaseUnavailable, match="cannot be reached, or refuses") as caught:
            count(Database(address))
        told = "".join(traceback.format_exception(caught.value)) + str(caught.value.data)
        assert wrong not in told
        assert "127.0.0.1" in str(caught.value.data["server"])
        assert "127.0.0.1" not in caught.value.detail
        assert wrong not in repr(Database(address)) + migrate.place(address)


def test_a_table_that_is_missing_names_the_upgrade(database: Database) -> None:
    with database.write() as session:
        session.connection().execute(text("DROP TABLE web_session"))
    with pytest.raises(SchemaUnknown, match="penstock db upgrade"), database.read() as session:
        session.exec(select(tables.WebSession)).all()


def test_an_idle_session_that_was_ended_is_replaced(
    cluster: Cluster, filled: Database, row: MakeRow
) -> None:
    with filled.read() as session:
        backend = backend_of(session)
    end(cluster, backend)
    assert count(filled) == 1
    with filled.read() as session:
        assert backend_of(session) != backend


def test_a_server_that_was_started_anew_is_found_again(cluster: Cluster, filled: Database) -> None:
    assert count(filled) == 1
    cluster.stop()
    with pytest.raises(DatabaseUnavailable, match="cannot be reached"):
        count(filled)
    cluster.start()
    assert count(filled) == 1


def test_a_session_that_is_ended_while_it_begins_may_be_met_by_asking_again(
    filled: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = count(filled)
    filled.close()
    with monkeypatch.context() as patch:
        patch.setattr(durability, "_SETTLE", "SELECT pg_terminate_backend(pg_backend_pid())")
        with pytest.raises(Interrupted, match=r"lost; nothing was changed\. Try again"):
            count(filled)
    assert count(filled) == before


@pytest.mark.parametrize("alone", [True, False])
def test_a_session_that_is_ended_in_the_middle_changes_nothing(
    cluster: Cluster, filled: Database, row: MakeRow, alone: bool
) -> None:
    def act() -> None:
        with filled.write() if alone else filled.write_beside() as session:
            session.add(row("tier", folded="b", rank=11))
            session.flush()
            end(cluster, backend_of(session))
            session.exec(select(tables.Tier)).all()

    with pytest.raises(Interrupted, match=r"lost; nothing was changed\. Try again") as caught:
        act()
    assert not caught.value.uncertain
    assert count(filled) == 1


@contextmanager
def at_commit(database: Database, act: Callable[[Connection], None]) -> Iterator[None]:
    engine = database._engines.alone
    event.listen(engine, "commit", act)
    yield
    event.remove(engine, "commit", act)


def test_a_session_that_is_ended_at_its_commit_leaves_it_uncertain(
    cluster: Cluster, filled: Database, row: MakeRow
) -> None:
    def stored(connection: Connection) -> None:
        connection.exec_driver_sql("COMMIT")
        lost(connection)

    def lost(connection: Connection) -> None:
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.close()

    for number, (act, after) in enumerate([(lost, 1), (stored, 2)], start=11):
        with at_commit(filled, act):
            with (
                pytest.raises(Interrupted, match=r"may or may not be\. Try again") as caught,
                filled.write() as session,
            ):
                session.add(row("tier", folded=str(number), rank=number))
            assert caught.value.uncertain
        assert count(filled) == after


def test_a_deadlock_is_told_as_one(filled: Database, url: str, row: MakeRow) -> None:
    with filled.write() as session:
        session.add(row("tier", folded="b", rank=11))
    other = Database(url)
    outcomes: list[str] = []
    barrier = threading.Barrier(2, timeout=PATIENCE)

    def lock(database: Database, first: int, second: int) -> None:
        statement = text("SELECT 1 FROM tier WHERE id = :key FOR UPDATE")
        try:
            with database.write_beside() as session:
                session.connection().execute(statement, {"key": first})
                barrier.wait()
                session.connection().execute(statement, {"key": second})
        except Interrupted as problem:
            outcomes.append(problem.detail)

    # Patient enough for the server to find out.
    patient = Database(url, busy_timeout_seconds=PATIENCE)
    threads = [
        threading.Thread(target=lock, args=(patient, 1, 2)),
        threading.Thread(target=lock, args=(other, 2, 1)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 1
    assert "another transaction changed the same" in outcomes[0]


def test_a_silent_server_is_given_up(filled: Database, url: str) -> None:
    database = Database(url, busy_timeout_seconds=3)
    stopped: list[int] = []

    def act() -> None:
        with database.write() as session:
            stopped.append(backend_of(session))
            driver: Any = session.connection().connection.driver_connection
            assert driver.patience == 3 + connections.WORK_SECONDS + connections.SILENCE_SECONDS
            os.kill(stopped[0], signal.SIGSTOP)
            driver.patience = 0.1
            session.connection().exec_driver_sql("SELECT 1")

    try:
        with pytest.raises(DatabaseUnavailable, match="did not answer in time") as caught:
            act()
        assert not isinstance(caught.value, Interrupted)
    finally:
        os.kill(stopped[0], signal.SIGCONT)
    assert count(filled) == 1


def test_a_transaction_that_failed_is_not_committed_in_silence(
    filled: Database, row: MakeRow
) -> None:
    def act() -> None:
        with filled.write() as session:
            session.add(row("tier", folded="b", rank=11))
            session.flush()
            cursor = session.connection().connection.cursor()
            with pytest.raises(Exception, match="SELEKT"):
                cursor.execute("SELEKT")

    with pytest.raises(RuntimeError, match="cannot be committed"):
        act()
    assert count(filled) == 1


def test_a_name_with_nul_is_found_nowhere(filled: Database) -> None:
    with filled.read() as session:
        for name in ("\0", "public\0", "pub\0lic"):
            found = select(tables.Tier).where(tables.Tier.folded == name)
            assert session.exec(found).all() == []


def test_errors_of_the_program_are_not_taken_for_failures_of_the_database(
    filled: Database,
) -> None:
    with pytest.raises(Exception, match="syntax error") as caught, filled.read() as session:
        session.connection().exec_driver_sql("SELEKT")
    assert not isinstance(caught.value, DatabaseUnavailable)


def test_a_glance_on_a_session_that_ends_may_be_met_by_asking_again(
    filled: Database,
) -> None:
    ending = PreparedSelect(sqlalchemy.select(sqlalchemy.func.pg_terminate_backend(own_backend())))
    with pytest.raises(Interrupted):
        filled.glance(ending)
    assert filled.glance(
        PreparedSelect(sqlalchemy.select(tables.metadata.tables["tier"].c.id))
    ).row == {"id": 1}


def own_backend() -> sqlalchemy.ColumnElement[int]:
    """Return an expression of the number of the server's process that executes it."""
    return sqlalchemy.func.pg_backend_pid()
