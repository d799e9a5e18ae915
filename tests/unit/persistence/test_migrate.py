"""Test migrating from nothing to the schema that the tables declare."""

import multiprocessing
import re
import sqlite3
import stat
from pathlib import Path

import psycopg
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, MetaData, Table, create_engine, insert, inspect, text
from tests.unit.persistence.tables.samples import CLASSES, SAMPLES

import penstock
from penstock.errors import DatabaseUnavailable, SchemaUnknown
from penstock.persistence import Database, append_only, migrate, tables
from penstock.persistence.dialects import dialect_of

pytestmark = pytest.mark.each_database

_REFERENCE = re.compile(r"(\w+)( BIGINT) (CONSTRAINT \w+) REFERENCES")
"""A reference beside its column, which a table's own list of constraints spells otherwise."""


def schema(connection: Connection) -> dict[str, list[str]]:
    """Return the lines of every table and index, whatever their order and separators.

    A column that a migration adds stands on the last one's line, with what it refers to.
    """
    found = connection.execute(
        text("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND type <> 'trigger'")
    ).all()
    spelled = {
        name: _REFERENCE.sub(r"\1\2, \3 FOREIGN KEY(\1) REFERENCES", sql) for name, sql in found
    }
    lines = {
        name: sorted(filter(None, (line.strip(" \t,") for line in re.split("\n|, ", sql))))
        for name, sql in spelled.items()
    }
    return {name: kept for name, kept in lines.items() if name != "alembic_version"}


def test_the_newest_revision_is_written_down() -> None:
    assert migrate.revisions()[-1] == migrate.NEWEST


def test_the_migrations_lead_to_the_tables(database: Database) -> None:
    with database.read() as session:
        context = MigrationContext.configure(session.connection(), opts={"compare_type": True})
        assert compare_metadata(context, tables.metadata) == []


@pytest.mark.only("sqlite")
def test_the_migrations_lead_to_the_tables_to_the_letter(database: Database) -> None:
    declared = create_engine("sqlite://")
    with declared.connect() as connection, database.read() as session:
        tables.metadata.create_all(connection)
        expected = schema(connection)
        assert schema(session.connection()) == expected
        assert "query_level" in expected
        assert any("CHECK" in line for line in expected["release"])


def test_the_comparison_notices_a_missing_index(database: Database) -> None:
    with database.write() as session:
        session.connection().execute(text("DROP INDEX ix_leaf_kind"))
    with database.read() as session:
        context = MigrationContext.configure(session.connection())
        assert compare_metadata(context, tables.metadata) != []


def test_upgrading_makes_a_database_that_only_its_owner_reads(path: Path) -> None:
    assert migrate.upgrade(f"sqlite:///{path}") == (None, migrate.NEWEST)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert migrate.current(f"sqlite:///{path}") == migrate.NEWEST


@pytest.mark.only("sqlite")
def test_the_log_beside_the_database_is_as_private(filled: Database, path: Path) -> None:
    with filled.write() as session:
        session.get_one(tables.Tier, 1).description = "everybody"
    for suffix in ("-wal", "-shm"):
        beside = path.with_name(f"{path.name}{suffix}")
        assert stat.S_IMODE(beside.stat().st_mode) == 0o600
    filled.close()


def test_upgrading_twice_changes_nothing(filled: Database, url: str) -> None:
    assert migrate.upgrade(url) == (migrate.NEWEST, migrate.NEWEST)
    with filled.read() as session:
        assert session.get_one(tables.Tier, 1).name == "Public"


def test_a_current_schema_is_accepted(database: Database) -> None:
    database.check_schema()


def test_an_empty_database_is_refused_with_the_next_step(bare_url: str, path: Path) -> None:
    path.touch()
    with pytest.raises(SchemaUnknown, match=f"{migrate.NEWEST}.*penstock db upgrade") as caught:
        Database(bare_url).check_schema()
    assert caught.value.data == {"current": None, "needed": migrate.NEWEST}


def test_a_newer_schema_is_refused_and_not_touched(database: Database, url: str) -> None:
    with database.write() as session:
        session.connection().execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaUnknown, match=f"9999.*{migrate.NEWEST}.*Install the version"):
        database.check_schema()
    with pytest.raises(SchemaUnknown, match=r"9999.*Install the version"):
        migrate.upgrade(url)
    assert migrate.current(url) == "9999"


def test_an_older_schema_names_the_upgrade(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = (*migrate.revisions(), "9998")
    monkeypatch.setattr(migrate, "revisions", lambda: newer)
    monkeypatch.setattr(migrate, "NEWEST", "9998")
    with pytest.raises(SchemaUnknown, match=r"\d+, older than 9998.*penstock db upgrade"):
        database.check_schema()


def test_a_schema_of_two_revisions_is_unknown(database: Database) -> None:
    with database.write() as session:
        session.connection().execute(text("INSERT INTO alembic_version VALUES ('0000')"))
    with pytest.raises(SchemaUnknown, match=f"0000,{migrate.NEWEST}"):
        database.check_schema()


def test_a_database_of_another_program_is_left_alone(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE bookmarks (id INTEGER)")
    other.commit()
    other.close()
    with pytest.raises(SchemaUnknown, match="tables of another program"):
        migrate.upgrade(f"sqlite:///{path}")
    with pytest.raises(SchemaUnknown, match="another program"):
        Database(f"sqlite:///{path}").check_schema()
    kept = sqlite3.connect(path).execute("SELECT name FROM sqlite_master").fetchall()
    assert kept == [("bookmarks",)]


@pytest.mark.only("postgresql")
def test_tables_of_another_program_on_a_server_are_left_alone(bare_url: str) -> None:
    with psycopg.connect(bare_url) as other:
        other.execute("CREATE TABLE bookmarks (id INTEGER)")
    with pytest.raises(SchemaUnknown, match="tables of another program"):
        migrate.upgrade(bare_url)
    with pytest.raises(SchemaUnknown, match="another program"):
        Database(bare_url).check_schema()
    assert not migrate.occupied(bare_url)


def test_a_folder_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match=r"No such file.*Make its folder"):
        migrate.upgrade(f"sqlite:///{tmp_path}/nowhere/penstock.db")


def test_asking_for_the_revision_makes_no_database(path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match="penstock init"):
        migrate.current(f"sqlite:///{path}")
    assert not migrate.occupied(f"sqlite:///{path}")
    assert not path.exists()


def content(url: str) -> dict[str, list[tuple[object, ...]]]:
    """Return the tables of a database with their columns and rows, and its triggers."""
    engine = dialect_of(url).engines().reader
    with engine.connect() as connection:
        inspected = inspect(connection)
        tables_of_it = sorted(inspected.get_table_names())
        rows = {
            name: [tuple(row) for row in connection.execute(text(f'SELECT * FROM "{name}"'))]  # noqa: S608
            for name in tables_of_it
        }
        columns = {
            f"{name}'s columns": [(column["name"],) for column in inspected.get_columns(name)]
            for name in tables_of_it
        }
    engine.dispose()
    return rows | columns


def upgraded_to(url: str, schema: str, *names: str) -> None:
    """Upgrade an empty database to a schema, and add a row to each of the named tables."""
    engine = dialect_of(url).migrator()
    with engine.begin() as connection:
        configuration = migrate.configuration()
        configuration.attributes["connection"] = connection
        command.upgrade(configuration, schema)
        for name in names:
            table = Table(name, MetaData(), autoload_with=connection)
            row = CLASSES[name](**SAMPLES[name]).model_dump()
            known = {column: row[column] for column in table.columns.keys() & row.keys()}
            connection.execute(insert(table).values({**known, "id": 1}))
    engine.dispose()


def test_messages_that_wait_outlast_the_upgrade_that_lets_them_be_about_leaves(
    bare_url: str, path: Path
) -> None:
    path.touch()
    upgraded_to(bare_url, "0033", "tier", "user", "dataset", "request", "asker", "delivery")
    (before,) = content(bare_url)["delivery"]
    migrate.upgrade(bare_url)
    after = content(bare_url)
    columns = [name for (name,) in after["delivery's columns"]]
    (row,) = after["delivery"]
    kept = dict(zip(columns, row, strict=True))
    assert kept.pop("leaf_id") is None
    assert tuple(kept.values()) == before


def test_a_preview_shows_the_steps_of_an_upgrade_and_changes_nothing(
    bare_url: str, path: Path
) -> None:
    if bare_url.startswith("sqlite"):
        path.touch()
    assert migrate.preview(bare_url) == (None, migrate.steps())
    assert content(bare_url) == {}
    earlier = migrate.revisions()[-3]
    upgraded_to(bare_url, earlier)
    before = content(bare_url)
    assert before["alembic_version"] == [(earlier,)]
    schema, steps = migrate.preview(bare_url)
    assert (schema, [step.schema for step in steps]) == (earlier, [*migrate.revisions()[-2:]])
    assert all(step.change.strip() for step in steps)
    assert content(bare_url) == before
    assert migrate.upgrade(bare_url) == (earlier, migrate.NEWEST)
    assert migrate.preview(bare_url) == (migrate.NEWEST, ())
    assert content(bare_url) != before


def test_a_preview_refuses_what_an_upgrade_would(database: Database, url: str) -> None:
    with database.write() as session:
        session.connection().execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaUnknown, match=r"9999.*Install the version"):
        migrate.preview(url)


def test_a_database_is_occupied_once_it_is_migrated(bare_url: str) -> None:
    assert not migrate.occupied(bare_url)
    migrate.upgrade(bare_url)
    assert migrate.occupied(bare_url)


def test_an_upgrade_that_fails_leaves_nothing_half_done(
    bare_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(dialect: str, table: str, **_: object) -> list[str]:
        raise ZeroDivisionError(f"{table} on {dialect}")

    with monkeypatch.context() as patch:
        patch.setattr(append_only, "triggers", broken)
        with pytest.raises(ZeroDivisionError):
            migrate.upgrade(bare_url)
    assert migrate.current(bare_url) is None
    assert migrate.upgrade(bare_url) == (None, migrate.NEWEST)


@pytest.mark.parametrize("processes", [2, pytest.param(4, marks=pytest.mark.nightly)])
def test_upgrades_at_the_same_time_take_turns(bare_url: str, processes: int) -> None:
    spawning = multiprocessing.get_context("spawn")
    ready = spawning.Barrier(processes)
    with spawning.Pool(processes, ready.wait) as pool:
        results = pool.map(migrate.upgrade, [bare_url] * 2 * processes, chunksize=1)
    later = [migrate.NEWEST] * (2 * processes - 1)
    assert sorted(before or "" for before, _ in results) == ["", *later]


@pytest.mark.only("sqlite")
def test_a_row_that_refers_to_nothing_stops_an_upgrade(
    filled: Database, url: str, path: Path
) -> None:
    filled.close()
    raw = sqlite3.connect(path)  # with foreign keys off, as a careless hand would
    raw.execute("UPDATE query SET dataset_id = 99")
    raw.commit()
    raw.close()
    with pytest.raises(SchemaUnknown, match=r"1 rows .*query.*Restore a backup"):
        migrate.upgrade(url)


def test_migrations_are_found_in_a_wheel_and_in_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (migrate.script_location() / "env.py").is_file()
    package = tmp_path / "server" / "penstock"
    package.mkdir(parents=True)
    monkeypatch.setattr(penstock, "__file__", str(package / "__init__.py"))
    assert migrate.script_location() == tmp_path / "migrations"
    (package / "migrations").mkdir()
    assert migrate.script_location() == package / "migrations"


def test_the_schema_can_be_written_out_for_postgresql() -> None:
    script = migrate.statements("postgresql")
    for table in tables.metadata.tables:
        assert f"CREATE TABLE {table} " in script or f'CREATE TABLE "{table}" ' in script
    assert "BIGSERIAL" in script
    assert "TIMESTAMP WITH TIME ZONE" in script
    assert "WHERE deleted_at IS NULL" in script
