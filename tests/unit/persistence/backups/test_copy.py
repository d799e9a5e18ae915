"""Test that a backup is a whole new file, or there is none."""

import fcntl
import os
import stat
from pathlib import Path

import pytest

from penstock.errors import Conflict, SchemaUnknown, Unavailable
from penstock.persistence import migrate
from penstock.persistence.backups.copy import PART, back_up

pytestmark = pytest.mark.only("sqlite")


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Return the address of an empty database of this version's schema."""
    address = f"sqlite:///{tmp_path / 'penstock.db'}"
    migrate.upgrade(address)
    return address


def test_a_copy_is_readable_by_its_owner_only_and_leaves_nothing_else(
    url: str, tmp_path: Path
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    copy = back_up(url, folder / "copy")
    assert [path.name for path in folder.iterdir()] == ["copy"]
    assert stat.S_IMODE(copy.path.stat().st_mode) == 0o600
    assert copy.size == copy.path.stat().st_size > 0


def test_an_existing_file_is_never_overwritten(url: str, tmp_path: Path) -> None:
    path = tmp_path / "copy"
    path.write_text("precious")
    with pytest.raises(Conflict, match="exists already"):
        back_up(url, path)
    assert path.read_text() == "precious"


def test_what_a_killed_writer_left_is_replaced(url: str, tmp_path: Path) -> None:
    path = tmp_path / "copy"
    left = path.with_name(path.name + PART)
    left.write_text("half")
    assert back_up(url, path).size == path.stat().st_size
    assert not left.exists()


def test_a_file_that_another_process_writes_is_left_alone(url: str, tmp_path: Path) -> None:
    path = tmp_path / "copy"
    other = os.open(path.with_name(path.name + PART), os.O_CREAT | os.O_WRONLY)
    try:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(Conflict, match="another process"):
            back_up(url, path)
    finally:
        os.close(other)
    assert not path.exists()


def test_a_missing_folder_is_named(url: str, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="folder that exists"):
        back_up(url, tmp_path / "missing" / "copy")


def test_a_database_without_a_schema_is_not_copied(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    with pytest.raises(SchemaUnknown):
        back_up(f"sqlite:///{tmp_path / 'empty.db'}", tmp_path / "copy")
    assert [path.name for path in tmp_path.glob("copy*")] == []
