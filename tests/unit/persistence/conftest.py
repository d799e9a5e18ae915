"""Provide a migrated database, and one row of every table."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from sqlmodel import SQLModel
from tests.databases.homes import SQLITE, Homes
from tests.unit.persistence.tables.samples import (
    CLASSES,
    SAMPLES,
    Prototype,
    furnished,
    migrated,
    owners,
)

from penstock.persistence import Database

MakeRow = Callable[..., SQLModel]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where SQLite's file is."""
    return tmp_path / "penstock.db"


@pytest.fixture
def bare_url(backend: str, path: Path, homes: Homes) -> str:
    """Return a database without a schema, or the place for one."""
    if backend == SQLITE:
        return f"sqlite:///{path}"
    return homes.bare(path.parent).settings().migration_database_url


@pytest.fixture
def url(
    backend: str, path: Path, homes: Homes, prototype: Prototype, request: pytest.FixtureRequest
) -> str:
    """Return a migrated database, as its owner reaches it, with rows if ``filled`` is asked for."""
    rows = "filled" in request.fixturenames
    template = (
        prototype(backend, "rows", furnished) if rows else prototype(backend, "migrated", migrated)
    )
    if backend == SQLITE:
        shutil.copy(template.folder / path.name, path)
        return f"sqlite:///{path}"
    return homes.copy(template, path.parent / "home").settings().migration_database_url


@pytest.fixture
def database(url: str) -> Database:
    return Database(url, busy_timeout_seconds=0.05)


@pytest.fixture
def samples() -> Mapping[str, Mapping[str, object]]:
    return SAMPLES


@pytest.fixture
def row() -> MakeRow:
    """Return ``row("tier", rank=3)``, which gives a valid row of a table, with changes."""

    def make(table: str, **changes: object) -> SQLModel:
        return CLASSES[table](**{**SAMPLES[table], **changes})

    return make


@pytest.fixture
def filled(database: Database) -> Database:
    """Return a database with one row in every table."""
    return database


@pytest.fixture(scope="session")
def opened() -> Iterator[dict[str, Database]]:
    """Yield the database of ``shared``, by what it is on."""
    found: dict[str, Database] = {}
    yield found
    for database in found.values():
        database.close()


@pytest.fixture
def shared(backend: str, prototype: Prototype, opened: dict[str, Database]) -> Database:
    """Return a database with one row in every table, for all tests of this process.

    Write through ``undone`` alone.
    """
    if backend not in opened:
        opened[backend] = Database(owners(prototype(backend, "shared", furnished)))
    return opened[backend]
