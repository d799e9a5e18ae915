"""Test how ``pg_dump`` is called, by programs that stand in for PostgreSQL's own."""

from pathlib import Path

import pytest

from penstock.errors import DatabaseUnavailable, Unavailable
from penstock.persistence.backups import postgresql_dump
from penstock.persistence.tables import metadata

pytestmark = pytest.mark.only("sqlite")

OPTIONS = {"host": "db.example", "user": "owner", "dbname": "budget", "password": "s3cr3t"}


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a ``pg_dump`` that notes its call, and a ``pg_restore`` that lists."""
    folder = tmp_path / "bin"
    folder.mkdir()
    write(folder, "pg_dump", f'echo "$@" > {folder}/called; echo "$PGPASSWORD" > {folder}/secret')
    listing(folder, list(metadata.tables))
    monkeypatch.setenv("PATH", str(folder))
    return folder


def write(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o700)


def listing(folder: Path, tables: list[str]) -> None:
    lines = "; ".join(f"echo '12; 0 34 TABLE DATA public {table} owner'" for table in tables)
    write(folder, "pg_restore", lines)


def test_the_dump_is_in_the_programs_own_format_and_gives_no_rights_away(
    programs: Path, tmp_path: Path
) -> None:
    postgresql_dump.copy(OPTIONS, tmp_path / "copy")
    called = (programs / "called").read_text()
    for part in ("--format=custom", "--no-owner", "--no-privileges", f"--file={tmp_path / 'copy'}"):
        assert part in called
    assert "host=db.example" in called


def test_the_password_is_in_the_environment_and_not_among_the_arguments(
    programs: Path, tmp_path: Path
) -> None:
    postgresql_dump.copy(OPTIONS, tmp_path / "copy")
    assert "s3cr3t" not in (programs / "called").read_text()
    assert (programs / "secret").read_text() == "s3cr3t\n"


def test_a_table_that_the_dump_lacks_is_named(programs: Path, tmp_path: Path) -> None:
    listing(programs, [table for table in metadata.tables if table not in {"leaf", "charge"}])
    with pytest.raises(DatabaseUnavailable, match="The dump lacks charge, leaf"):
        postgresql_dump.copy(OPTIONS, tmp_path / "copy")


@pytest.mark.parametrize("name", ["pg_dump", "pg_restore"])
def test_a_program_that_fails_is_named_with_its_code_and_without_its_message(
    programs: Path, tmp_path: Path, name: str
) -> None:
    write(programs, name, 'echo "no entry for s3cr3t" >&2; exit 4')
    with pytest.raises(DatabaseUnavailable, match=f"{name} failed with exit code 4") as raised:
        postgresql_dump.copy(OPTIONS, tmp_path / "copy")
    assert "s3cr3t" not in str(raised.value)


def test_a_program_that_is_missing_is_named_with_the_command(
    programs: Path, tmp_path: Path
) -> None:
    (programs / "pg_dump").unlink()
    with pytest.raises(Unavailable, match="pg_dump --format=custom"):
        postgresql_dump.copy(OPTIONS, tmp_path / "copy")
