"""Test that a copy of a SQLite file is whole, and that one that is not is refused."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from penstock.errors import DatabaseUnavailable
from penstock.persistence.backups import sqlite_copy

pytestmark = pytest.mark.only("sqlite")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a database with two tables, one of which refers to the other."""
    path = tmp_path / "source 100%?.db"
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute("PRAGMA journal_mode = WAL")
        opened.execute("CREATE TABLE book (id INTEGER PRIMARY KEY, text TEXT)")
        opened.execute("CREATE TABLE loan (book INTEGER REFERENCES book)")
        opened.executemany("INSERT INTO book (text) VALUES (?)", [("x" * 900,)] * 200)
        opened.execute("INSERT INTO loan VALUES (1)")
    return path


def count(path: Path) -> int:
    with closing(sqlite3.connect(path)) as opened:
        found: int = opened.execute("SELECT count(*) FROM book").fetchone()[0]
        return found


def test_a_copy_has_what_was_committed_and_no_more(source: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(source)) as writer:
        writer.execute("INSERT INTO book (text) VALUES ('not yet')")
        sqlite_copy.copy(source, tmp_path / "copy")
        writer.commit()
    assert (count(tmp_path / "copy"), count(source)) == (200, 201)
    assert sorted(path.name for path in tmp_path.glob("copy*")) == ["copy"]


def test_a_damaged_copy_is_refused(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sqlite_copy.written

    def torn(source: Path, path: Path) -> None:
        whole(source, path)
        with path.open("r+b") as file:
            file.seek(path.stat().st_size // 2)
            file.write(os.urandom(8192))

    monkeypatch.setattr(sqlite_copy, "written", torn)
    with pytest.raises(DatabaseUnavailable, match=r"damaged|cannot be copied"):
        sqlite_copy.copy(source, tmp_path / "copy")


def test_a_copy_with_a_reference_to_a_missing_row_is_refused(source: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(source)) as opened, opened:
        opened.execute("INSERT INTO loan VALUES (1000)")
    with pytest.raises(DatabaseUnavailable, match="1 rows with references"):
        sqlite_copy.copy(source, tmp_path / "copy")


def test_a_file_that_is_no_database_or_missing_is_named(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no database, " * 100)
    for path in (text, tmp_path / "absent"):
        with pytest.raises(DatabaseUnavailable, match=f"{path.name} cannot be copied"):
            sqlite_copy.copy(path, tmp_path / "copy")
