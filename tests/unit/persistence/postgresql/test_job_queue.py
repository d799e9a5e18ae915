"""Test the queue's schema: the library's own tables, and what the server's role may do there."""

import importlib.metadata
from pathlib import Path

import procrastinate
import pytest
from sqlalchemy import create_engine, text
from tests.databases.homes import Homes
from tests.support.places import ROOT

from penstock.persistence.postgresql.job_queue import LIBRARY, SCHEMA

COPY = ROOT / "migrations" / "queue" / f"procrastinate-{LIBRARY}.sql"


def test_the_copy_is_the_text_of_the_installed_version() -> None:
    """Another version needs a revision of its own, with what the library changes."""
    assert importlib.metadata.version("procrastinate").startswith(f"{LIBRARY}.")
    theirs = Path(procrastinate.__file__).parent / "sql" / "schema.sql"
    assert COPY.read_text() == theirs.read_text()


@pytest.mark.only("postgresql")
def test_the_servers_role_uses_the_queue_and_changes_nothing_of_its_schema(
    homes: Homes, tmp_path: Path
) -> None:
    made = homes.empty(tmp_path / "home")
    url = made.urls["database_url"].replace("postgresql://", "postgresql+psycopg://")
    engine = create_engine(url)
    asked = text(
        "SELECT has_schema_privilege(:schema, 'CREATE'),"
        " bool_or(pg_has_role(current_user, relowner, 'MEMBER')),"
        " count(*) FILTER (WHERE relkind = 'r'"
        "   AND has_table_privilege(oid, 'TRUNCATE, REFERENCES, TRIGGER'))"
        " FROM pg_class WHERE relnamespace = CAST(:schema AS regnamespace)"
    )
    paths = text(
        "SELECT bool_and(proconfig IS NOT NULL) FROM pg_proc"
        " WHERE pronamespace = CAST(:schema AS regnamespace)"
    )
    with engine.connect() as connection:
        assert tuple(connection.execute(asked, {"schema": SCHEMA}).one()) == (False, False, 0)
        assert connection.execute(paths, {"schema": SCHEMA}).scalar_one()
    engine.dispose()
