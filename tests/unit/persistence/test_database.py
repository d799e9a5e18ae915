"""Test how transactions begin, end, and what they keep from each other."""

import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy import bindparam, event, insert, update
from sqlalchemy.engine import URL
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.orm import make_transient_to_detached
from sqlmodel import Session, SQLModel, col, select

from penstock.errors import DatabaseUnavailable, InvalidInput, SchemaUnknown
from penstock.persistence import Database, migrate, tables
from penstock.persistence.statements.glances import PreparedSelect

pytestmark = pytest.mark.each_database

MakeRow = Callable[..., SQLModel]

PRAGMAS = {
    "journal_mode": "wal",
    "synchronous": 2,  # FULL
    "foreign_keys": 1,
    "recursive_triggers": 1,
    "secure_delete": 1,
    "trusted_schema": 0,
    "fullfsync": 1,
}


def statements_of(database: Database, act: Callable[[], None]) -> list[str]:
    """Return what SQLite itself is told, in order."""
    seen: list[str] = []

    def trace(connection: sqlite3.Connection, *_: object) -> None:
        connection.set_trace_callback(seen.append)

    engines = (database._engines.reader, database._engines.alone)
    for engine in engines:
        event.listen(engine, "checkout", trace)
    act()
    for engine in engines:
        event.remove(engine, "checkout", trace)
    database.close()
    return seen


@pytest.mark.only("sqlite")
def test_a_write_transaction_takes_the_lock_before_anything_is_read(filled: Database) -> None:
    def act() -> None:
        with filled.write() as session:
            session.exec(select(tables.Tier)).all()
            session.get_one(tables.Tier, 1).description = "everybody"

    seen = statements_of(filled, act)
    assert seen[0] == "BEGIN IMMEDIATE"
    assert seen[1].startswith("SELECT tier.id")
    assert seen[-1] == "COMMIT"


@pytest.mark.only("sqlite")
def test_a_write_transaction_takes_the_lock_even_if_nothing_follows(database: Database) -> None:
    def act() -> None:
        with database.write():
            pass

    assert statements_of(database, act) == ["BEGIN IMMEDIATE", "COMMIT"]


@pytest.mark.only("sqlite")
def test_a_read_transaction_begins_before_its_first_read_and_takes_no_lock(
    filled: Database,
) -> None:
    def act() -> None:
        with filled.read() as session:
            session.exec(select(tables.Tier)).all()
            session.exec(select(tables.User)).all()

    seen = statements_of(filled, act)
    assert seen[0] == "BEGIN"
    assert [statement.split()[0] for statement in seen] == ["BEGIN", "SELECT", "SELECT", "ROLLBACK"]


@pytest.mark.only("sqlite")
@pytest.mark.parametrize("writing", [False, True])
def test_every_connection_is_set_to_be_durable(database: Database, writing: bool) -> None:
    with database.write() if writing else database.read() as session:
        connection = session.connection()
        for name, expected in PRAGMAS.items():
            assert connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() == expected, name
        assert connection.exec_driver_sql("PRAGMA query_only").scalar_one() == (not writing)
        # Who is to write waits in naps of our own, before anything is read.
        waits = 0 if writing else 50
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one() == waits


def test_an_error_in_the_block_leaves_nothing_behind(database: Database, row: MakeRow) -> None:
    def fail_after_adding() -> None:
        with database.write() as session:
            session.add(row("tier"))
            session.flush()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_after_adding()
    with database.read() as session:
        assert session.exec(select(tables.Tier)).all() == []
    with database.write() as session:
        session.add(row("tier"))


def _describe(session: Session, text: str) -> None:
    session.connection().execute(
        update(tables.Tier).where(col(tables.Tier.id) == 1).values(description=text)
    )


def _described(database: Database, name: str) -> str | None:
    with database.read() as session:
        return session.exec(select(tables.Tier.description).where(tables.Tier.name == name)).first()


@pytest.mark.parametrize("with_entities", [False, True])
def test_statements_and_entities_of_a_block_are_stored_together_or_not_at_all(
    filled: Database, with_entities: bool
) -> None:
    def change(text: str, *, failing: bool = False) -> None:
        with filled.write() as session:
            _describe(session, text)
            if with_entities:
                assert session.get_one(tables.Tier, 1).description == text
                session.get_one(tables.Tier, 1).description = f"{text} twice"
            if failing:
                session.flush()
                raise ZeroDivisionError

    with filled.read() as session:
        name = session.get_one(tables.Tier, 1).name
    change("stored")
    assert _described(filled, name) == ("stored twice" if with_entities else "stored")
    with pytest.raises(ZeroDivisionError):
        change("lost", failing=True)
    assert _described(filled, name) == ("stored twice" if with_entities else "stored")
    assert "Current Checked out connections: 0" in filled._engines.alone.pool.status()


@pytest.mark.parametrize("adds_row", [False, True])
def test_a_block_that_loads_no_entity_is_stored_and_its_listeners_are_told(
    filled: Database, row: MakeRow, adds_row: bool
) -> None:
    told: list[object] = []
    with filled.write() as session:
        event.listen(session, "after_commit", told.append)
        _describe(session, "changed")
        if adds_row:
            # As `row_authentication.store_new` does: the session begins, and has run nothing.
            stored = row("tier", id=1)
            make_transient_to_detached(stored)
            session.add(stored)
    assert told == [session]
    with filled.read() as session:
        assert session.get_one(tables.Tier, 1).description == "changed"


def test_nothing_is_stored_after_an_error_that_undid_the_transaction(
    filled: Database, row: MakeRow
) -> None:
    """Though the block goes on: its statements would be transactions of their own."""

    def go_on() -> None:
        with filled.write() as session:
            taken = session.get_one(tables.Tier, 1)
            with suppress(IntegrityError):
                session.add(row("tier", id=99, folded=taken.folded))
                session.flush()
            _describe(session, "too late")

    with pytest.raises(RuntimeError, match="was rolled back"):
        go_on()
    with filled.read() as session:
        assert session.get_one(tables.Tier, 1).description != "too late"


@pytest.mark.parametrize("with_entities", [False, True])
def test_a_rollback_undoes_statements_too_and_ends_the_block(
    filled: Database, with_entities: bool
) -> None:
    def undo() -> None:
        with filled.write() as session:
            if with_entities:
                assert session.get_one(tables.Tier, 1).id == 1
            _describe(session, "undone")
            session.rollback()

    with pytest.raises(RuntimeError, match="was rolled back"):
        undo()
    with filled.read() as session:
        assert session.get_one(tables.Tier, 1).description != "undone"


@pytest.mark.only("sqlite")
def test_a_transaction_that_sqlite_undid_by_itself_is_not_taken_for_stored(
    filled: Database, row: MakeRow
) -> None:
    """SQLite undoes the whole transaction when its disk is full, not the statement alone."""
    large = row("leaf", id=99, hash=b"\x63" * 32, bytes=b"x" * 1_000_000).model_dump()

    def go_on() -> None:
        with filled.write() as session:
            _describe(session, "undone")
            connection = session.connection()
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
            with suppress(OperationalError):
                connection.execute(insert(tables.Leaf).values(large))

    with pytest.raises(RuntimeError, match="cannot be committed"):
        go_on()
    filled.close()
    with filled.read() as session:
        assert session.get_one(tables.Tier, 1).description != "undone"


def test_rows_can_be_read_after_their_transaction(database: Database, row: MakeRow) -> None:
    with database.write() as session:
        tier = row("tier")
        session.add(tier)
    assert isinstance(tier, tables.Tier)
    assert (tier.id, tier.name) == (1, "Public")


def test_a_reader_sees_one_state_while_others_write(
    filled: Database, url: str, row: MakeRow
) -> None:
    other = Database(url)
    with filled.read() as session:
        before = len(session.exec(select(tables.Tier)).all())
        with other.write() as writing:
            writing.add(row("tier", folded="b", rank=2))
        assert len(session.exec(select(tables.Tier)).all()) == before
    with filled.read() as session:
        assert len(session.exec(select(tables.Tier)).all()) == before + 1


def test_a_read_transaction_refuses_what_would_be_lost(database: Database, row: MakeRow) -> None:
    with pytest.raises(RuntimeError, match="cannot write"), database.read() as session:
        session.add(row("tier"))


def test_a_read_transaction_refuses_a_changed_row(filled: Database) -> None:
    with pytest.raises(RuntimeError, match="cannot write"), filled.read() as session:
        session.get_one(tables.Tier, 1).rank = 99
    with filled.read() as session:
        assert session.get_one(tables.Tier, 1).rank == 10


def test_values_stay_out_of_the_messages_of_the_database(filled: Database, row: MakeRow) -> None:
    with pytest.raises(IntegrityError, match=r"(?i)unique") as caught, filled.write() as session:
        session.add(row("tier", description="canary", folded="canary"))
    assert "canary" not in str(caught.value)
    with pytest.raises(IntegrityError, match="ck_tier_name") as caught, filled.write() as session:
        session.add(row("tier", description="canary", folded="b", rank=11, name=""))
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "no url",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:////a?mode=ro",
        "mysql://user:word@host/a",
        "postgresql://user:word@host",
        "postgresql+asyncpg://user:word@host/a",
        "postgresql://user:word@host/a?color=blue",
    ],
)
def test_a_url_that_names_no_database_of_ours_is_refused(bad: str) -> None:
    with pytest.raises(InvalidInput, match=r"sqlite:////folder|sslmode") as caught:
        Database(bad)
    shown = "".join(traceback.format_exception(caught.value))
    assert "word" not in shown.replace("password", "")


def test_a_path_with_unusual_characters_is_one_path(tmp_path: Path, row: MakeRow) -> None:
    folder = tmp_path / "a b#c%20?é"
    folder.mkdir()
    url = URL.create("sqlite", database=str(folder / "x.db")).render_as_string()
    migrate.upgrade(url)
    with Database(url).write() as session:
        session.add(row("tier"))
    assert sorted(path.name for path in folder.iterdir())[0] == "x.db"


@pytest.mark.only("sqlite")
def test_what_was_deleted_is_overwritten(filled: Database, path: Path, row: MakeRow) -> None:
    canary = "canary" * 50
    with filled.write() as session:
        session.add(row("token", prefix="p", scopes=canary))
    filled.close()  # the last connection moves the log into the file
    assert canary.encode() in path.read_bytes()
    with filled.write() as session:
        session.delete(session.get_one(tables.Token, 2))
    filled.close()
    assert canary.encode() not in path.read_bytes()


def test_without_the_driver_of_postgresql_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.startswith("penstock.persistence.postgresql.connections"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(DatabaseUnavailable, match=r"pip install 'penstock\[postgres\]'"):
        Database("postgresql://penstock:word@host/a")


def test_only_postgresql_loads_its_driver(url: str) -> None:
    program = (
        "import sys; from penstock.persistence import Database;"
        " Database(sys.argv[1]).check_schema(); sys.exit('psycopg' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program, url], check=False)
    assert done.returncode == url.startswith("postgresql")


@pytest.mark.parametrize("name", ["user", "token", "release", "leaf", "dataset", "work"])
def test_a_glance_gives_the_values_that_a_transaction_gives(filled: Database, name: str) -> None:
    """With their types: numbers, text, bytes, times and truth values."""
    table = tables.metadata.tables[name]
    statement = sqlalchemy.select(table).where(table.c.id == bindparam("key"))
    with filled.read() as session:
        row = session.connection().execute(statement, {"key": 1}).mappings().one()
    glance = filled.glance(PreparedSelect(statement), key=1)
    assert glance.row == dict(row)
    assert [type(value) for value in glance.row.values()] == [type(value) for value in row.values()]
    assert filled.glance(PreparedSelect(statement), key=99).row is None


def test_a_glance_that_fails_says_what_to_do(filled: Database) -> None:
    missing = sqlalchemy.select(sqlalchemy.table("missing", sqlalchemy.column("id")))
    with pytest.raises(SchemaUnknown, match="db upgrade"):
        filled.glance(PreparedSelect(missing))
    assert filled.glance(
        PreparedSelect(sqlalchemy.select(tables.metadata.tables["tier"].c.id))
    ).row == {"id": 1}


class _Unreadable(sqlalchemy.TypeDecorator[str]):
    """Represent a column whose values nobody can read."""

    impl = sqlalchemy.String
    cache_ok = True

    def process_result_value(self, value: str | None, dialect: sqlalchemy.Dialect) -> str:
        raise ValueError(f"{dialect.name} holds {value!r}, which nobody can read")


def test_after_a_value_that_cannot_be_read_others_see_the_present_state(filled: Database) -> None:
    """While the error lives it holds the cursor, which must not hold SQLite's state with it."""
    tier = tables.metadata.tables["tier"]
    name = sqlalchemy.type_coerce(tier.c.name, _Unreadable).label("name")
    three = sqlalchemy.union_all(*[sqlalchemy.select(name)] * 3).subquery()
    unreadable = PreparedSelect(sqlalchemy.select(three))
    names = PreparedSelect(sqlalchemy.select(tier.c.name).where(tier.c.id == 1))
    with pytest.raises(ValueError, match="nobody can read") as raised:
        filled.glance(unreadable)
    with filled.write() as session:
        session.get_one(tables.Tier, 1).name = "renamed"
    assert filled.glance(names).row == {"name": "renamed"}, raised.value


@pytest.mark.only("sqlite")
def test_a_glance_at_a_database_that_is_away_says_so(filled: Database) -> None:
    numbers = PreparedSelect(sqlalchemy.select(tables.metadata.tables["tier"].c.id))
    place = Path(filled._dialect.place)
    filled.close()
    place.rename(place.with_suffix(".away"))
    with pytest.raises(DatabaseUnavailable, match="cannot be opened"):
        filled.glance(numbers)
    place.with_suffix(".away").rename(place)
    assert filled.glance(numbers).row == {"id": 1}
