"""Test homes from before rows were signed.

They are signed with the upgrade, once, and held to it.
"""

import pytest
from sqlalchemy import Connection, inspect, text, update
from sqlalchemy.exc import DBAPIError
from tests.unit.services.verification.tampered import (
    TABLES,
    alter,
    filled,
    owned,
    read_all,
    rows_of,
    unguarded,
)
from tests.unit.worlds import CopyWorld, World

from penstock.errors import IntegrityViolation
from penstock.persistence import (
    append_only,
    editions,
    migrate,
    row_authentication,
    row_authentication_upgrade,
)
from penstock.persistence.tables import metadata
from penstock.services.access.principals import OPERATOR
from penstock.services.operations import home
from penstock.services.verification import altered_rows
from penstock.services.verification.verification import verify

pytestmark = pytest.mark.each_database

NEW = (
    "allowance_charge",
    "allowance",
    "delivery",
    *("withdrawal", "request_comment", "request_decision", "asker", "request"),
    "cosignature",
    "fed_element",
    "former_declaration",
    "group_mapping",
    "invitation",
    "log_reader",
    "occurrence",
    "provider_account",
    "schedule",
    "used_once",
    "web_session",
    "wording",
    "work",
)  # in no schema before their rows were signed
LATER = [name for name in TABLES if name not in ("query", *NEW)]
LATER_COLUMNS = (
    ("token", "parent_id"),
    ("token", "pepper"),
    ("query", "mismatches"),
    ("idempotency", "mismatches"),
    ("tier_budget", "highest_epsilon"),
    *(
        ("dataset", "declaration"),
        ("dataset", "withdrawn_at"),
        ("dataset", "people"),
        ("query", "declaration"),
        ("query", "read_states"),
        ("query", "allowance_id"),
    ),
)
QUERY = metadata.tables["query"]


@pytest.fixture
def older(copy_world: CopyWorld) -> World:
    """Return a home with rows in every table, as it was in schema 0013."""
    world = copy_world("tampered", filled)
    rows, key = rows_of(world, "query"), row_authentication.derived(world.server.secrets.values)
    with owned(world) as connection:
        _without_editions(connection)
        for row in rows:
            was = update(QUERY).values(mac=row_authentication_upgrade.earlier_mac(key, row))
            connection.execute(was.where(QUERY.c.id == row["id"]))
        for table in LATER:
            _without_mac(connection, table)
        if connection.dialect.name == "postgresql":
            connection.execute(text("DROP SCHEMA penstock_queue CASCADE"))
        for index in ("ix_token_parent_id", "ix_query_allowance_id"):
            connection.execute(text(f"DROP INDEX {index}"))
        for table, column in LATER_COLUMNS:
            connection.execute(text(f"ALTER TABLE {table} DROP COLUMN {column}"))
        for table in NEW:
            connection.execute(text(f"DROP TABLE {table}"))
        connection.execute(text("UPDATE alembic_version SET version_num = '0013'"))
    world.server.database.close()
    return world


def _without_editions(connection: Connection) -> None:
    postgresql = connection.dialect.name == "postgresql"
    for table in editions.WATCHED:
        for event in ("change",) if postgresql else ("insert", "update", "delete"):
            place = f' ON "{table}"' if postgresql else ""
            connection.execute(text(f'DROP TRIGGER "edition_{table}_{event}"{place}'))
    if postgresql:
        connection.execute(text("DROP FUNCTION new_edition"))
    connection.execute(text("DROP TABLE edition"))


def _without_mac(connection: Connection, table: str) -> None:
    dialect, name = connection.dialect.name, f"append_only_{table}_update"
    history = table in append_only.HISTORY
    if history:
        place = f' ON "{table}"' if dialect == "postgresql" else ""
        connection.execute(text(f'DROP TRIGGER "{name}"{place}'))
    connection.execute(text(f'ALTER TABLE "{table}" DROP COLUMN mac'))
    for statement in append_only.triggers(dialect, table) if history else ():
        if name in statement:
            connection.execute(text(statement))


def columns(world: World) -> set[str]:
    with world.server.database.read() as session:
        found = inspect(session.connection())
        return {name for name in LATER if "mac" in {c["name"] for c in found.get_columns(name)}}


def test_an_upgrade_signs_what_is_there(older: World) -> None:
    assert columns(older) == set()
    assert home.upgrade(older.server.settings) == ("0013", migrate.NEWEST)
    assert all(read_all(older, table) >= 2 for table in LATER)
    with older.server.database.read() as session:
        assert list(altered_rows.altered(session)) == []
    assert older.ask("pia", epsilon=0.07).first
    assert older.push("third", share=0.01, levels=None).name == "third"


def test_an_upgrade_refuses_a_query_that_was_altered_before_and_changes_nothing(
    older: World,
) -> None:
    alter(older, "UPDATE query SET max_levels = 4000")
    with pytest.raises(IntegrityViolation, match="Nothing was upgraded"):
        home.upgrade(older.server.settings)
    assert migrate.current(older.server.settings.resolved_migration_url) == "0013"
    assert columns(older) == set()


def test_a_row_of_history_is_signed_and_else_stays_as_it_is(older: World) -> None:
    home.upgrade(older.server.settings)
    alter(older, "UPDATE clearance SET mac = NULL")
    for change in ("mac = mac", "mac = NULL", "version = 9, mac = :mac", "version = 9"):
        with (
            pytest.raises(DBAPIError, match="clearance is append-only"),
            owned(older) as connection,
        ):
            connection.execute(text(f"UPDATE clearance SET {change}"), {"mac": b"0"})  # noqa: S608 - ours
    # It may be signed again, as a rotation does, and never be without a signature.
    for signed in (b"0", b"1"):
        with owned(older) as connection:
            connection.execute(text("UPDATE clearance SET mac = :mac"), {"mac": signed})
    for change in ("mac = NULL", "version = 9", "version = 9, mac = :mac"):
        with (
            pytest.raises(DBAPIError, match="clearance is append-only"),
            owned(older) as connection,
        ):
            connection.execute(text(f"UPDATE clearance SET {change}"), {"mac": b"0"})  # noqa: S608 - ours


def test_an_upgrade_signs_nothing_that_was_there_already(older: World) -> None:
    home.upgrade(older.server.settings)
    alter(older, "UPDATE clearance SET mac = NULL WHERE user_id = 1")
    assert home.upgrade(older.server.settings) == (migrate.NEWEST, migrate.NEWEST)
    with pytest.raises(IntegrityViolation):
        older.ask("pia")
    assert any("clearance" in problem for problem in verify(older.server, OPERATOR).problems)


def test_homes_from_before_queries_were_signed_are_signed_as_they_are(older: World) -> None:
    home.upgrade(older.server.settings)
    key = row_authentication.derived(older.server.secrets.values)
    with unguarded(older) as connection:
        for table in TABLES:
            connection.execute(text(f'UPDATE "{table}" SET mac = NULL'))  # noqa: S608 - ours
    with pytest.raises(IntegrityViolation), owned(older) as connection:
        row_authentication_upgrade.sign_all(connection, key, "0013")
    for before in (None, migrate.NEWEST):
        with owned(older) as connection:
            row_authentication_upgrade.sign_all(connection, key, before)
        with pytest.raises(IntegrityViolation):
            older.ask("pia")
    with owned(older) as connection:
        row_authentication_upgrade.sign_all(connection, key, "0006")
    with older.server.database.read() as session:
        assert list(altered_rows.altered(session)) == []
    assert older.ask("pia", epsilon=0.07).first
