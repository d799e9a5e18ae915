"""Test that a session reads what is locked, and that failures are said in our own words."""

import psycopg
import pytest
from tests.databases.warehouse import Warehouse

from penstock.connectors.postgresql import session as sessions
from penstock.connectors.postgresql.session import _error_of, reading
from penstock.errors import SourceChanged, Unavailable

COUNT = "SELECT count(*) AS number FROM data.visits"
COUNTED = "CREATE VIEW data.seen AS SELECT * FROM data.kept"
KEPT = "CREATE MATERIALIZED VIEW data.kept AS SELECT * FROM data.visits"
AT_ONCE = "SET lock_timeout = '1ms'"


def test_a_session_writes_nothing(warehouse: Warehouse) -> None:
    with reading(warehouse.address) as session, pytest.raises(Unavailable):
        session.table("INSERT INTO data.visits VALUES ('dan', 'c') RETURNING 1")
    with reading(warehouse.address) as session:
        for setting in ("transaction_read_only", "standard_conforming_strings"):
            shown = f"SELECT current_setting('{setting}') AS value"  # ours
            assert session.table(shown).to_pylist() == [{"value": "on"}]


@pytest.mark.parametrize("locked", [True, False])
@pytest.mark.parametrize(
    ("view", "change"),
    [
        ("visits", "TRUNCATE data.visits"),
        ("visits", "ALTER TABLE data.visits ALTER ward TYPE text"),
        ("visits", "ALTER TABLE data.visits RENAME TO stays"),
        ("kept", "REFRESH MATERIALIZED VIEW data.kept"),
        ("seen", "REFRESH MATERIALIZED VIEW data.kept"),
        ("seen", "DROP VIEW data.seen"),
    ],
)
def test_a_locked_view_is_neither_emptied_nor_altered(
    warehouse: Warehouse, view: str, change: str, locked: bool
) -> None:
    """Nor is what it reads; one that is not locked is."""
    warehouse.run("DROP TABLE IF EXISTS data.stays")
    if view != "visits":
        warehouse.run(KEPT)
        warehouse.run(COUNTED)
    with reading(warehouse.address) as session:
        if locked:
            assert session.lock("data", view)
            with pytest.raises(psycopg.errors.LockNotAvailable):
                warehouse.run(f"{AT_ONCE}; {change}")
        else:
            assert session.table("SELECT 1 AS one").num_rows == 1
            warehouse.run(f"{AT_ONCE}; {change}")


def test_what_is_not_there_is_not_locked(warehouse: Warehouse) -> None:
    for schema, view in (("data", "nothing"), ("nothing", "visits"), ("data", "Visits")):
        with reading(warehouse.address) as session:
            assert not session.lock(schema, view)


@pytest.mark.parametrize(("begin", "seen"), [(None, 5), ("REPEATABLE READ", 0)])
def test_rows_that_are_loaded_anew_as_a_session_begins_are_not_taken_for_none(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, begin: str | None, seen: int
) -> None:
    """A transaction with one state for all statements would see the emptied table."""
    if begin is not None:
        monkeypatch.setattr(sessions, "_BEGIN", sessions._BEGIN.replace("READ COMMITTED", begin))
    load = "CREATE TEMP TABLE new AS TABLE data.visits; TRUNCATE data.visits"
    with reading(warehouse.address) as session:
        session.table("SELECT 1 AS one")
        warehouse.run(f"{load}; INSERT INTO data.visits TABLE new; DROP TABLE new")
        assert session.lock("data", "visits")
        assert session.table(COUNT).to_pylist() == [{"number": seen}]


@pytest.mark.parametrize(
    ("state", "kind", "words"),
    [
        ("42P01", SourceChanged, "no longer there"),
        ("42703", SourceChanged, "no longer there"),
        ("42501", Unavailable, "grant it SELECT"),
        ("57014", Unavailable, "cancelled, waited for a lock, or took longer"),
        ("53200", Unavailable, "short of memory"),
        ("53300", Unavailable, "connections"),
        ("28P01", Unavailable, "password"),
        ("57P01", Unavailable, "cannot be reached"),
        ("08006", Unavailable, "cannot be reached"),
        ("22012", Unavailable, "must not fail for any row"),
        (None, Unavailable, "cannot be reached"),
    ],
)
def test_what_failed_is_told_by_its_state(
    state: str | None, kind: type[Exception], words: str
) -> None:
    error = _error_of(state)
    assert type(error) is kind
    assert words in str(error)
    assert "Nothing was released" in str(error)
