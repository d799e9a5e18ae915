"""Test that connections do not cross a fork."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from sqlmodel import SQLModel, select
from tests.databases.homes import SQLITE
from tests.support.forked import in_child

from penstock.persistence import Database, tables

pytestmark = pytest.mark.each_database

MakeRow = Callable[..., SQLModel]


def open_files(prefix: str) -> set[str]:
    """Return what this process has open whose name begins so: paths, or ``socket:[number]``."""
    found = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            target = str(descriptor.readlink())
        except OSError:
            continue
        if target.startswith(prefix):
            found.add(target)
    return found


def read_and_write(database: Database, row: MakeRow, rank: int) -> int:
    with database.write() as session:
        session.add(row("tier", folded=str(rank), rank=rank))
    with database.read() as session:
        return len(session.exec(select(tables.Tier)).all())


def sees(database: Database, row: MakeRow, rank: int, count: int) -> bool:
    return read_and_write(database, row, rank) == count


def test_a_child_inherits_no_open_database(
    database: Database, backend: str, path: Path, row: MakeRow
) -> None:
    prefix = str(path) if backend == SQLITE else "socket:"
    before = open_files(prefix)
    read_and_write(database, row, 1)
    opened = open_files(prefix) - before
    assert opened
    assert in_child(lambda: not open_files(prefix) & opened)


def test_parent_and_children_go_on_with_connections_of_their_own(
    database: Database, row: MakeRow
) -> None:
    count = read_and_write(database, row, 1)
    for rank in range(2, 6):
        seen = count + 1
        assert in_child(partial(sees, database, row, rank, seen))
        count += 2
        assert read_and_write(database, row, 100 + rank) == count


def test_a_database_that_is_gone_is_not_kept_for_forks(url: str) -> None:
    from penstock.persistence import database as module

    before = len(module._databases)
    dropped = Database(url)
    assert len(module._databases) == before + 1
    del dropped
    assert len(module._databases) == before
