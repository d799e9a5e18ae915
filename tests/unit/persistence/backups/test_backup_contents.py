"""Test that a backup's keys are read from its file alone, of either kind, or it is refused."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from penstock.errors import InvalidInput, Unavailable
from penstock.persistence.backups import backup_contents

pytestmark = pytest.mark.only("sqlite")

TEXT = r"""--
-- PostgreSQL database dump
--
COPY public.alembic_version (version_num) FROM stdin;
0009
0024
\.
COPY public.dataset (id, name, version, folded, wrapped_kek) FROM stdin;
7	a\tb\\c	1	a	\\x00ff
8	line\nbreak	2	b	\\x
\.
COPY public.release (id) FROM stdin;
5
\.
COPY public."secret_check" ("name", digest) FROM stdin;
\.
"""


def restoring(folder: Path, monkeypatch: pytest.MonkeyPatch, *, code: int = 0) -> Path:
    """Return an archive, with a program beside it that reads it as ``pg_restore`` does."""
    program = folder / "pg_restore"
    program.write_text(f"#!/bin/sh\n/bin/cat {folder / 'text'}\nexit {code}\n")
    program.chmod(0o700)
    (folder / "text").write_text(TEXT)
    monkeypatch.setenv("PATH", str(folder))
    archive = folder / "archive"
    archive.write_bytes(b"PGDMP and more")
    return archive


def test_an_archives_rows_are_read_by_name_and_unescaped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = backup_contents.read(restoring(tmp_path, monkeypatch))
    assert found.kind == "postgresql"
    assert found.rows == {
        "alembic_version": [(b"0009",), (b"0024",)],
        "dataset": [(b"a\tb\\c", b"a", b"1", b"\x00\xff"), (b"line\nbreak", b"b", b"2", b"")],
        "secret_check": [],
    }
    assert backup_contents.newest(found.rows["alembic_version"]) == "0024"


def test_an_archive_that_cannot_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = restoring(tmp_path, monkeypatch, code=3)
    with pytest.raises(InvalidInput, match="pg_restore failed with 3"):
        backup_contents.read(archive)
    (tmp_path / "pg_restore").unlink()
    with pytest.raises(Unavailable, match="pg_restore is not installed"):
        backup_contents.read(archive)


def database(path: Path) -> Path:
    """Return a SQLite file of an old schema, which has two of the tables."""
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute("CREATE TABLE alembic_version (version_num TEXT)")
        opened.execute("INSERT INTO alembic_version VALUES ('0003')")
        opened.execute("CREATE TABLE log_key (id INTEGER, wrapped BLOB, public BLOB)")
        opened.execute("INSERT INTO log_key VALUES (1, x'0102', x'ff')")
        opened.execute("CREATE TABLE more (text TEXT)")
        opened.executemany("INSERT INTO more VALUES (?)", [("x" * 900,)] * 100)
    return path


def test_a_files_rows_are_read_as_bytes_and_tables_that_it_lacks_are_left_out(
    tmp_path: Path,
) -> None:
    found = backup_contents.read(database(tmp_path / "copy 100%?"))
    assert found.kind == "sqlite"
    assert found.rows == {"alembic_version": [(b"0003",)], "log_key": [(b"\xff", b"\x01\x02")]}
    assert [path.name for path in tmp_path.iterdir()] == ["copy 100%?"], "it is only read"


def test_a_truncated_file_is_refused_though_its_tables_can_be_read(tmp_path: Path) -> None:
    path = database(tmp_path / "copy")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2 // 4096 * 4096])
    with pytest.raises(InvalidInput, match="penstock backup"):
        backup_contents.read(path)


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no backup")
    with pytest.raises(InvalidInput, match="neither a SQLite database nor an archive"):
        backup_contents.read(tmp_path / "text")
    with pytest.raises(Unavailable, match="No such file or directory"):
        backup_contents.read(tmp_path / "absent")


def test_without_a_row_there_is_no_schema() -> None:
    assert backup_contents.newest([]) == ""
