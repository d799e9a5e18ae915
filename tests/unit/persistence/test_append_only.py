"""Test that history stays as it was written."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from tests.unit.persistence.tables.samples import undone

from penstock.persistence import Database, append_only, migrate, tables

pytestmark = pytest.mark.each_database

HISTORY = (
    *("allowance", "allowance_charge", "asker", "charge", "checkpoint", "clearance"),
    *(
        "cosignature",
        "decision",
        "fed_element",
        "former_declaration",
        "grant",
        "group_mapping",
        "leaf",
    ),
    *("proposal", "query_level", "release", "request", "request_comment", "request_decision"),
    *("secret_check", "spent_floor", "stream_output", "tier_budget", "tree_node", "withdrawal"),
    "wording",
)
MUTABLE = {
    *(
        "dataset",
        "delivery",
        "edition",
        "histogram_state",
        "idempotency",
        "invitation",
        "log_key",
        "log_reader",
        "occurrence",
        "query",
    ),
    *("provider_account", "schedule", "stream_state", "tier", "token", "used_once", "user"),
    *("web_session", "work"),
}

CHANGED = {
    **dict.fromkeys(("bytes", "hash", "kind", "at", "actor", "user"), "NULL"),
    **dict.fromkeys(("dataset", "query"), "'changed'"),
}
"""Another value for every column of the leaf that is stored, but its place."""


def columns() -> list[tuple[str, str]]:
    found = [
        (name, column.name) for name in HISTORY for column in tables.metadata.tables[name].columns
    ]
    found.remove(("leaf", "index"))  # it may be set once, which has its own tests
    return found


def test_every_table_is_either_history_or_not() -> None:
    assert set(HISTORY) | MUTABLE == set(tables.metadata.tables)
    assert sorted(HISTORY) == sorted(append_only.HISTORY)


@pytest.mark.parametrize(("table", "column"), columns())
def test_no_column_of_history_is_changed(shared: Database, table: str, column: str) -> None:
    changed = "id + 1" if column == "id" else "NULL"
    with (
        pytest.raises(IntegrityError, match=f"{table} is append-only"),
        undone(shared) as session,
    ):
        session.connection().execute(text(f'UPDATE "{table}" SET "{column}" = {changed}'))  # noqa: S608 - names of ours


@pytest.mark.parametrize("table", HISTORY)
def test_no_row_of_history_is_deleted(shared: Database, table: str) -> None:
    with (
        pytest.raises(IntegrityError, match=f"{table} is append-only"),
        undone(shared) as session,
    ):
        session.connection().execute(text(f'DELETE FROM "{table}"'))  # noqa: S608 - names of ours


@pytest.mark.only("postgresql")
@pytest.mark.parametrize("table", HISTORY)
def test_no_table_of_history_is_emptied(shared: Database, table: str) -> None:
    with (
        pytest.raises(IntegrityError, match="is append-only"),
        undone(shared) as session,
    ):
        # CASCADE: foreign keys would refuse it before the trigger does.
        session.connection().execute(text(f'TRUNCATE "{table}" CASCADE'))


@pytest.mark.only("sqlite")
@pytest.mark.parametrize("table", HISTORY)
def test_no_row_of_history_is_replaced(shared: Database, table: str) -> None:
    with (
        pytest.raises(IntegrityError, match=f"{table} is append-only"),
        undone(shared) as session,
    ):
        session.connection().execute(
            text(f'INSERT OR REPLACE INTO "{table}" SELECT * FROM "{table}"')  # noqa: S608 - names of ours
        )


@pytest.mark.only("postgresql")
def test_a_conflict_changes_no_row_of_history(shared: Database) -> None:
    with (
        pytest.raises(IntegrityError, match="query_level is append-only"),
        undone(shared) as session,
    ):
        session.connection().execute(
            text(
                "INSERT INTO query_level SELECT * FROM query_level"
                " ON CONFLICT (id) DO UPDATE SET rung = 1"
            )
        )


@pytest.mark.only("sqlite")
def test_without_recursive_triggers_a_row_would_be_replaced(filled: Database) -> None:
    with filled.write() as session:
        session.connection().exec_driver_sql("PRAGMA recursive_triggers = OFF")
        session.connection().execute(
            text("INSERT OR REPLACE INTO query_level SELECT * FROM query_level")
        )
        session.connection().exec_driver_sql("PRAGMA recursive_triggers = ON")


def test_a_leaf_is_given_its_place_once(filled: Database) -> None:
    with filled.write() as session:
        session.get_one(tables.Leaf, 1).index = 0
    for again in (1, None):
        with (
            pytest.raises(IntegrityError, match="leaf is append-only"),
            filled.write() as session,
        ):
            session.get_one(tables.Leaf, 1).index = again
    with filled.read() as session:
        assert session.get_one(tables.Leaf, 1).index == 0


@pytest.mark.parametrize("column", CHANGED)
def test_a_leaf_changes_in_nothing_else_when_it_is_given_its_place(
    shared: Database, column: str
) -> None:
    statement = f'UPDATE leaf SET "index" = 0, "{column}" = {CHANGED[column]}'  # noqa: S608 - names of ours
    with pytest.raises(IntegrityError, match="leaf is append-only"), undone(shared) as session:
        session.connection().execute(text(statement))


def test_the_fixed_columns_of_a_leaf_are_all_but_its_place() -> None:
    script = migrate.statements("sqlite")
    guard = next(part for part in script.split(";") if "append_only_leaf_update" in part)
    for column in tables.metadata.tables["leaf"].columns:
        assert (f'NEW."{column.name}" IS OLD.' in guard) == (column.name != "index")


def test_what_is_no_history_can_be_changed(filled: Database) -> None:
    with filled.write() as session:
        session.get_one(tables.Tier, 1).description = "everybody"
        session.get_one(tables.User, 1).admin = True
        session.get_one(tables.Query, 1).seq = 1
    with filled.read() as session:
        assert session.get_one(tables.Query, 1).seq == 1


@pytest.mark.parametrize("table", HISTORY)
def test_postgresql_gets_triggers_for_updating_deleting_and_truncating(table: str) -> None:
    script = migrate.statements("postgresql")
    for event in ("UPDATE", "DELETE", "TRUNCATE"):
        name = f"append_only_{table}_{event.lower()}"
        assert f'CREATE TRIGGER "{name}" BEFORE {event} ON "{table}"' in script
    # psycopg would take a lone per cent sign for a parameter, and double it in the text.
    assert "%" not in "".join(append_only.preparation("postgresql"))
