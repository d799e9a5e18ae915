"""Test that a server which may lose what it confirms is refused, and how one is told from another.

Without a standby, a commit that must wait for one waits: no test here needs a second server.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from sqlmodel import Session, select
from tests.databases.cluster import Cluster

from penstock.errors import DatabaseUnavailable
from penstock.persistence import Database, tables
from penstock.persistence.postgresql import durability
from penstock.persistence.postgresql.durability import Session as Found

pytestmark = pytest.mark.only("postgresql")

NAMES = "synchronous_standby_names"


def replicated(url: str, patience: float = 0.5) -> Database:
    return Database(url, patience_seconds=patience, replicated=True)


def names(database: Database) -> list[str]:
    with database.read() as session:
        return list(session.exec(select(tables.Tier.name)).all())


def rename(session: Session, name: str) -> None:
    session.connection().exec_driver_sql("UPDATE tier SET description = %s", (name,))


@contextmanager
def no_standby(cluster: Cluster) -> Iterator[None]:
    """Let commits wait for a standby that is not there."""
    with cluster.set(NAMES, "*"):
        yield


def test_commits_must_wait_for_a_standby_where_that_is_required(cluster: Cluster, url: str) -> None:
    with pytest.raises(DatabaseUnavailable, match=rf"{NAMES} is empty.*PENSTOCK_REPLICAS=none"):
        names(replicated(url))
    assert names(Database(url)) == []
    with no_standby(cluster):
        assert names(replicated(url)) == []


@pytest.mark.parametrize("value", ["local", "remote_write"])
def test_a_role_that_does_not_wait_for_the_standbys_disk_is_refused(
    cluster: Cluster, url: str, value: str
) -> None:
    with cluster.administered() as connection:
        # Outside of the block in which this very commit would wait.
        connection.execute(f"ALTER ROLE penstock_owner SET synchronous_commit = {value}")
        try:
            assert names(Database(url)) == []
            with (
                no_standby(cluster),
                pytest.raises(DatabaseUnavailable, match=rf"synchronous_commit = {value}.*ALTER"),
            ):
                names(replicated(url))
        finally:
            connection.execute("ALTER ROLE penstock_owner RESET synchronous_commit")


def found(**changes: object) -> Found:
    fields: dict[str, object] = {
        "encoding": "UTF8",
        "synchronous_commit": "remote_apply",
        "fsync": "on",
        "full_page_writes": "on",
        "standby_names": "ANY 1 (b, c)",
        "is_standby": False,
        "system": 1,
        "timeline": "00000001",
    }
    return Found(**{**fields, **changes})  # type: ignore[arg-type]  # as a row has them


def test_a_standby_is_refused_whatever_is_required() -> None:
    durability.require(found(), "here", replicated=True)
    for is_required in (True, False):
        with pytest.raises(DatabaseUnavailable, match=r"is a standby.*target_session_attrs"):
            durability.require(found(is_standby=True), "here", replicated=is_required)


def test_names_that_are_emptied_stop_the_next_change_of_an_open_session(
    cluster: Cluster, filled: Database, url: str
) -> None:
    with no_standby(cluster):
        database = replicated(url)
        before = names(database)
    for begin in (database.write, database.write_beside, database.write_aside):
        with pytest.raises(DatabaseUnavailable, match="emptied"), begin() as session:
            rename(session, "changed")
    assert names(database) == before == names(filled)


def test_a_commit_that_no_standby_confirms_is_given_up_and_found_later(
    cluster: Cluster, filled: Database, url: str
) -> None:
    with no_standby(cluster):
        refused = pytest.raises(DatabaseUnavailable, match=r"before it confirmed")
        with refused, replicated(url).write() as session:
            rename(session, "waits")
        assert "waits" not in descriptions(filled), "others see it before it is confirmed"
    until_ended(cluster)
    assert "waits" in descriptions(filled)


def descriptions(database: Database) -> list[str | None]:
    with database.read() as session:
        return list(session.exec(select(tables.Tier.description)).all())


def waiting(cluster: Cluster) -> list[int]:
    """Return the sessions whose commit waits for a standby."""
    with cluster.administered() as connection:
        rows = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        ).fetchall()
    return [row[0] for row in rows]


def until_ended(cluster: Cluster) -> None:
    while waiting(cluster):
        time.sleep(0.01)


def test_the_logs_own_transaction_waits_though_it_changes_nothing(
    cluster: Cluster, filled: Database, url: str
) -> None:
    assert names(filled)
    refused = pytest.raises(DatabaseUnavailable, match="before it confirmed")
    with no_standby(cluster), refused, replicated(url).write_aside() as session:
        session.exec(select(tables.Tier.name)).all()
    until_ended(cluster)


def test_a_wait_that_is_canceled_is_no_confirmation(
    cluster: Cluster, filled: Database, url: str
) -> None:
    errors: list[DatabaseUnavailable] = []

    def change() -> None:
        refused = pytest.raises(DatabaseUnavailable)
        with refused as caught, replicated(url, patience=600).write() as session:
            rename(session, "canceled")
        errors.append(caught.value)

    assert names(filled)
    with no_standby(cluster):
        thread = threading.Thread(target=change)
        thread.start()
        while not (sessions := waiting(cluster)):
            assert thread.is_alive()
            time.sleep(0.01)
        with cluster.administered() as connection:
            connection.execute("SELECT pg_cancel_backend(%s)", sessions)
        thread.join()
    assert "without a standby's confirmation" in errors[0].detail


def test_a_session_names_its_server(url: str, cluster: Cluster) -> None:
    database = Database(url)
    assert names(database) == []
    assert database.moves == 0
    with psycopg.connect(url) as connection:
        session = durability.settle(connection, lock="1000", statement="1000", idle="1000")
    assert session.timeline == "00000001"
    with cluster.administered() as connection:
        row = connection.execute("SELECT system_identifier FROM pg_control_system()").fetchone()
    assert row == (session.system,)
