"""Test that a file is whole under its name or not there at all, and replaces nothing."""

import errno
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from penstock.errors import NameTaken, Unavailable
from penstock.services.uploads.incoming import ABANDONED, UNFINISHED, Incoming, tidy

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def arriving(folder: Path, name: str = "visits.csv", reserve: int = 0) -> Incoming:
    return Incoming(folder, name, key=b"k" * 32, reserve=reserve)


def test_a_file_has_its_name_when_it_is_whole_and_is_readable_by_its_owner_alone(
    tmp_path: Path,
) -> None:
    with arriving(tmp_path) as file:
        file.write(b"person\n")
        file.write(b"1\n")
        assert not (tmp_path / "visits.csv").exists()
        assert file.path.suffix == ".csv"
        file.keep()
        file.publish()
    assert [path.name for path in tmp_path.iterdir()] == ["visits.csv"]
    made = tmp_path / "visits.csv"
    assert made.read_bytes() == b"person\n1\n"
    assert (made.stat().st_mode & 0o777, made.stat().st_nlink) == (0o600, 1)


def test_the_hash_depends_on_its_key_and_on_every_byte(tmp_path: Path) -> None:
    def digest(key: bytes, content: bytes) -> str:
        with Incoming(tmp_path, "a.csv", key=key, reserve=0) as file:
            file.write(content)
            return file.digest

    one = digest(b"k" * 32, b"person\n")
    assert one == digest(b"k" * 32, b"person\n")
    assert len({one, digest(b"j" * 32, b"person\n"), digest(b"k" * 32, b"persons\n")}) == 3


def test_what_is_given_up_leaves_nothing(tmp_path: Path) -> None:
    with arriving(tmp_path) as file:
        file.write(b"person\n")
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("there", ["file", "folder", "link", "dangling"])
def test_nothing_of_the_same_name_is_replaced_or_followed(tmp_path: Path, there: str) -> None:
    place, other = tmp_path / "visits.csv", tmp_path / "other.csv"
    other.write_text("kept")
    if there == "file":
        place.write_text("kept")
    elif there == "folder":
        place.mkdir()
    else:
        place.symlink_to(other if there == "link" else tmp_path / "nowhere.csv")
    with arriving(tmp_path) as file:
        with pytest.raises(NameTaken):
            file.require_free()
        file.write(b"new")
        with pytest.raises(NameTaken):
            file.publish()
        file.withdraw()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.csv", "visits.csv"]
    assert other.read_text() == "kept"
    assert there != "file" or place.read_text() == "kept"


def test_of_two_files_of_one_name_one_is_there(tmp_path: Path) -> None:
    with arriving(tmp_path) as first, arriving(tmp_path) as second:
        for file in (first, second):
            file.require_free()
            file.write(b"first" if file is first else b"second")
        first.publish()
        with pytest.raises(NameTaken):
            second.publish()
        second.withdraw()
    assert (tmp_path / "visits.csv").read_bytes() == b"first"


def test_a_name_is_taken_away_again(tmp_path: Path) -> None:
    with arriving(tmp_path) as file:
        file.write(b"person\n")
        file.publish()
        file.withdraw()
    assert list(tmp_path.iterdir()) == []


def full(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture(params=["write", "fsync"])
def filled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(os, request.param, full)
    yield
    monkeypatch.undo()


@pytest.mark.usefixtures("filled")
def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    def store() -> None:
        with arriving(tmp_path) as file:
            file.write(b"person\n")
            file.keep()

    with pytest.raises(Unavailable, match="No space left on device"):
        store()
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_takes_little_at_a_time_gets_every_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, rest: write(file, rest[:3]))
    with arriving(tmp_path) as file:
        file.write(b"person,area\n")
        file.publish()
    assert (tmp_path / "visits.csv").read_bytes() == b"person,area\n"


def test_the_reserve_of_the_disk_is_not_touched(tmp_path: Path) -> None:
    with (
        pytest.raises(Unavailable, match="no room"),
        arriving(tmp_path, reserve=2**62) as file,
    ):
        file.write(b"p")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot be written"), arriving(tmp_path / "gone"):
        pass


def test_what_a_killed_process_left_is_removed_after_a_while(tmp_path: Path) -> None:
    names = (f"{UNFINISHED}old.csv", f"{UNFINISHED}new.csv", "old.csv")
    for name in names:
        path = tmp_path / name
        path.write_text("")
        age = ABANDONED + timedelta(minutes=-1 if "new" in name else 1)
        os.utime(path, (0, (NOW - age).timestamp()))
    tidy(tmp_path, NOW)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[1:])
