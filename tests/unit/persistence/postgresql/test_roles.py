"""Test that the server's role adds to history, and cannot change it; the owner migrates."""

from collections.abc import Iterator

import pytest
from sqlalchemy import text
from sqlmodel import select
from tests.databases.cluster import APPLICATION, OWNER, Cluster
from tests.databases.homes import Homes
from tests.unit.persistence.tables.samples import SAMPLES, Prototype, fill, furnished, undone

from penstock.errors import DatabaseUnavailable
from penstock.persistence import Database, append_only, migrate, tables

pytestmark = pytest.mark.only("postgresql")


@pytest.fixture
def name(homes: Homes, url: str) -> str:
    return homes.made[-1]


@pytest.fixture
def application(backend: str, shared: Database, prototype: Prototype) -> Database:
    """Return the database that tests share, as the server reaches it."""
    return Database(prototype(backend, "shared", furnished).settings().database_url)


def refused(database: Database, statement: str) -> None:
    with pytest.raises(DatabaseUnavailable, match="may not do this"), undone(database) as session:
        session.connection().execute(text(statement))


@pytest.mark.parametrize("table", append_only.HISTORY)
def test_the_servers_role_cannot_change_history(application: Database, table: str) -> None:
    column = next(name for name in SAMPLES[table] if name not in ("user_id", "query_id"))
    for statement in (
        f'UPDATE "{table}" SET "{column}" = "{column}"',  # noqa: S608 - names of ours
        f'DELETE FROM "{table}"',  # noqa: S608 - names of ours
        f'TRUNCATE "{table}" CASCADE',
        f'ALTER TABLE "{table}" DISABLE TRIGGER ALL',
        f'DROP TRIGGER append_only_{table}_update ON "{table}"',
        f'DROP TABLE "{table}" CASCADE',
    ):
        refused(application, statement)


def test_the_servers_role_cannot_change_the_schema_or_its_version(application: Database) -> None:
    for statement in (
        "CREATE TABLE extra (id INTEGER)",
        "ALTER TABLE release DROP CONSTRAINT uq_release_query_id_rung",
        "UPDATE alembic_version SET version_num = '0'",
        "ALTER FUNCTION append_only() RENAME TO anything_goes",
    ):
        refused(application, statement)
    application.check_schema()


def test_the_servers_role_writes_every_table_and_changes_what_is_no_history(
    cluster: Cluster, name: str
) -> None:
    application = Database(cluster.url(name))
    with application.write() as session:
        fill(session)
    with application.write() as session:
        session.get_one(tables.User, 1).admin = True
        session.get_one(tables.Query, 1).seq = 1
        session.delete(session.get_one(tables.WebSession, 1))
    with application.read() as session:
        assert session.exec(select(tables.WebSession)).all() == []


def test_who_may_change_history_is_known(cluster: Cluster, name: str) -> None:
    assert Database(cluster.url(name)).unprotected() == []
    assert Database(cluster.url(name, OWNER)).unprotected() == sorted(append_only.HISTORY)
    assert Database(cluster.url(name, "postgres")).unprotected() == sorted(append_only.HISTORY)


@pytest.fixture
def careless(cluster: Cluster, name: str) -> Iterator[None]:
    """Grant the server's role too much, as a careless owner would."""
    with cluster.administered(name) as connection:
        connection.execute(f"GRANT UPDATE, DELETE ON release TO {APPLICATION}")
        connection.execute(f"GRANT TRUNCATE ON leaf TO {APPLICATION}")
        yield


@pytest.mark.usefixtures("careless")
def test_an_upgrade_takes_back_what_the_servers_role_should_not_have(
    cluster: Cluster, name: str
) -> None:
    application, owner = cluster.url(name), cluster.url(name, OWNER)
    assert Database(application).unprotected() == ["leaf", "release"]
    migrate.upgrade(owner, application_url=application)
    assert Database(application).unprotected() == []


def test_one_role_for_both_keeps_what_it_owns(cluster: Cluster, name: str) -> None:
    owner = cluster.url(name, OWNER)
    by_address = cluster.address(name, OWNER)
    migrate.upgrade(owner, application_url=owner)
    migrate.upgrade(owner, application_url=by_address)
    assert Database(owner).unprotected() == sorted(append_only.HISTORY)


def test_a_server_role_that_cannot_connect_stops_the_upgrade(cluster: Cluster, name: str) -> None:
    with pytest.raises(DatabaseUnavailable, match="cannot be reached, or refuses"):
        migrate.upgrade(
            cluster.url(name, OWNER), application_url=cluster.address(name, password="wrong")
        )


def test_an_owner_who_is_none_is_told(cluster: Cluster, homes: Homes) -> None:
    bare = cluster.create()
    homes.made.append(bare)
    with pytest.raises(DatabaseUnavailable, match="PENSTOCK_MIGRATION_DATABASE_URL"):
        migrate.upgrade(cluster.url(bare))
