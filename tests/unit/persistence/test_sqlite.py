"""Test that a database that cannot serve says why and what to do, and loses nothing."""

import os
import resource
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlmodel import SQLModel, select

from penstock.errors import DatabaseUnavailable, SchemaUnknown
from penstock.persistence import Database, migrate, sqlite, tables
from penstock.persistence.database import WRITING

MakeRow = Callable[..., SQLModel]

pytestmark = pytest.mark.only("sqlite")

NOBODY = 65534
DESCRIBED = select(tables.Tier.description).where(tables.Tier.id == 1)


def count(database: Database) -> int:
    with database.read() as session:
        return len(session.exec(select(tables.Tier)).all())


def add(database: Database, row: MakeRow, rank: int = 11, description: str = "") -> None:
    with database.write() as session:
        session.add(row("tier", folded=str(rank), rank=rank, description=description))


def describe(database: Database) -> None:
    """Change a row, so that there is a write-ahead log."""
    with database.write() as session:
        session.get_one(tables.Tier, 1).description = "everybody"


@contextmanager
def file_size_limit(limit: int) -> Iterator[None]:
    """Let no file grow beyond ``limit`` bytes, as if the disk refused it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def unprivileged() -> Iterator[None]:
    """Run as a user whom file modes bind, even if the tests run as root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Yield a folder that every user can reach."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_locked_database_says_how_long_it_waited(
    filled: Database, url: str, row: MakeRow
) -> None:
    other = Database(url, busy_timeout_seconds=0.02)
    with filled.write():
        with pytest.raises(DatabaseUnavailable, match=r"locked.* 0\.02 s\. Try again"):
            add(other, row)
        assert count(other) == 1  # readers do not wait for a writer
    add(other, row)
    assert count(filled) == 2


def test_a_full_disk_changes_nothing_and_heals(filled: Database, row: MakeRow) -> None:
    with filled.write() as session:
        pages = session.connection().exec_driver_sql("PRAGMA page_count").scalar_one()
        session.connection().exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(DatabaseUnavailable, match=r"full; nothing was changed.*Free some space"):
        add(filled, row, description="x" * 100_000)
    assert count(filled) == 1
    with filled.write() as session:
        session.connection().exec_driver_sql(f"PRAGMA max_page_count = {pages + 1000}")
    add(filled, row, description="x" * 100_000)
    assert count(filled) == 2


def test_a_disk_that_fails_at_the_commit_changes_nothing_and_heals(
    filled: Database, row: MakeRow, path: Path
) -> None:
    describe(filled)
    log = path.with_name(f"{path.name}-wal")
    reached = []

    def commit_beyond_the_limit() -> None:
        with file_size_limit(log.stat().st_size + 8192), filled.write() as session:
            session.add(row("tier", folded="b", rank=11, description="x" * 50_000))
            session.flush()
            reached.append("the end of the block")

    with pytest.raises(DatabaseUnavailable, match="input/output error; nothing was changed"):
        commit_beyond_the_limit()
    assert reached == ["the end of the block"]
    assert count(filled) == 1
    add(filled, row, description="x" * 50_000)
    assert count(filled) == 2


def test_a_read_only_database_is_told(open_folder: Path, row: MakeRow) -> None:
    path = open_folder / "penstock.db"
    migrate.upgrade(f"sqlite:///{path}")
    database = Database(f"sqlite:///{path}")
    add(database, row)
    database.close()
    path.chmod(0o444)
    with unprivileged(), pytest.raises(DatabaseUnavailable, match=r"read-only.*Make the file"):
        add(database, row, rank=12)


def test_a_database_in_a_read_only_folder_is_told(open_folder: Path, row: MakeRow) -> None:
    path = open_folder / "penstock.db"
    migrate.upgrade(f"sqlite:///{path}")
    database = Database(f"sqlite:///{path}")
    add(database, row)
    database.close()
    path.chmod(0o666)
    open_folder.chmod(0o555)
    with unprivileged(), pytest.raises(DatabaseUnavailable, match=r"read-only.*folder"):
        add(database, row, rank=12)


def test_a_database_that_may_not_be_read_is_told(open_folder: Path) -> None:
    path = open_folder / "penstock.db"
    migrate.upgrade(f"sqlite:///{path}")
    path.chmod(0o000)
    database = Database(f"sqlite:///{path}")
    with unprivileged(), pytest.raises(DatabaseUnavailable, match=r"cannot be opened.*readable"):
        count(database)


def test_a_missing_database_is_told_and_not_made(path: Path) -> None:
    database = Database(f"sqlite:///{path}")
    with pytest.raises(DatabaseUnavailable, match="penstock init"):
        count(database)
    with pytest.raises(DatabaseUnavailable, match="penstock init"):
        database.check_schema()
    assert not path.exists()


def test_a_file_that_is_no_database_is_told_and_left_alone(path: Path, row: MakeRow) -> None:
    content = b"These are not the pages that you are looking for.\n" * 100
    path.write_bytes(content)
    database = Database(f"sqlite:///{path}")
    for act in (lambda: count(database), lambda: add(database, row), database.check_schema):
        with pytest.raises(DatabaseUnavailable, match="is not a database"):
            act()
    with pytest.raises(DatabaseUnavailable, match="is not a database"):
        migrate.upgrade(f"sqlite:///{path}")
    assert path.read_bytes() == content


def test_a_damaged_database_is_told(filled: Database, path: Path) -> None:
    filled.close()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))
    with pytest.raises(DatabaseUnavailable, match=r"damaged.*restore a backup"):
        count(filled)


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match="cannot be opened"):
        count(Database(f"sqlite:///{tmp_path}"))


def test_a_table_that_is_missing_names_the_upgrade(filled: Database) -> None:
    with filled.write() as session:
        session.connection().execute(text("DROP TABLE web_session"))
    with pytest.raises(SchemaUnknown, match="penstock db upgrade"), filled.read() as session:
        session.exec(select(tables.WebSession)).all()


def test_a_database_that_vanishes_under_the_server_is_noticed(
    filled: Database, path: Path, row: MakeRow
) -> None:
    assert count(filled) == 1
    path.rename(path.with_name("elsewhere.db"))
    with pytest.raises(DatabaseUnavailable, match="cannot be opened"):
        add(filled, row)


def test_a_database_that_is_restored_under_the_server_is_the_one_that_is_used(
    filled: Database, path: Path, row: MakeRow
) -> None:
    filled.close()
    backup = path.with_name("backup.db")
    shutil.copy(path, backup)
    add(filled, row)
    assert count(filled) == 2
    for suffix in ("-wal", "-shm"):
        path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
    backup.rename(path)
    assert count(filled) == 1


def test_a_sqlite_that_is_too_old_is_told(
    filled: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.close()
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(DatabaseUnavailable, match=r"3\.35 is the oldest"):
        count(filled)
    monkeypatch.undo()
    assert count(filled) == 1


def test_details_hold_no_folder_and_the_data_hold_the_path(path: Path) -> None:
    with pytest.raises(DatabaseUnavailable) as caught:
        count(Database(f"sqlite:///{path}"))
    assert str(path.parent) not in caught.value.detail
    assert caught.value.data["path"] == str(path)


def test_errors_of_the_program_are_not_taken_for_failures_of_the_database(
    filled: Database,
) -> None:
    with pytest.raises(Exception, match="syntax error") as caught, filled.read() as session:
        session.connection().exec_driver_sql("SELEKT")
    assert not isinstance(caught.value, DatabaseUnavailable)


def test_a_large_content_is_stored_and_kept_by_nobody(filled: Database) -> None:
    """SQLite's statement keeps a copy, so that its connection is closed with the transaction."""

    def store(content: bytes) -> Any:
        """Store it as a description; return the connection that did."""
        with filled.write() as session:
            tier, dialect = session.get_one(tables.Tier, 1), session.info[WRITING]
            tier.description = dialect.large(session.connection(), content)
            session.flush()
            stored: Sequence[object] = (session.exec(DESCRIBED).one(), tier.description)
            assert stored == (content, content)
            return session.connection().connection.driver_connection

    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        store(bytes(sqlite.LARGE)).total_changes  # noqa: B018 - to see whether it is open
    assert store(b"small").total_changes


def test_a_large_content_is_let_go_before_its_statement_runs() -> None:
    once = sqlite._Once(bytes(100))
    with sqlite3.connect(":memory:") as connection:
        sizes = connection.execute("SELECT length(?), length(?)", (once, once)).fetchone()
    assert sizes == (100, 0)


def test_a_long_content_that_cannot_be_read_is_told_as_of_any_statement(
    filled: Database, path: Path
) -> None:
    pages = 3 * sqlite.PIECE
    with filled.write() as session:
        dialect = session.info[WRITING]
        content = dialect.large(session.connection(), bytes(pages))
        session.get_one(tables.Tier, 1).description = content
    blob = partial(sqlite.LongBlob, table="tier", column="description")
    with (
        pytest.raises(DBAPIError, match="no such rowid"),
        filled.read() as session,
        blob(session.connection(), key=99).opened(),
    ):
        pass
    filled.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - pages // 2)
    with (
        pytest.raises(DatabaseUnavailable, match="damaged"),
        filled.read() as session,
        blob(session.connection(), key=1).opened() as (_, pieces),
    ):
        list(pieces)
