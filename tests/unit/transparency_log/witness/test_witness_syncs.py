"""Test when the witness's file is written and synced: power may go at any time."""

import errno
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from tests.databases.homes import PATIENCE

from penstock.errors import LogUnavailable
from penstock.transparency_log.sights import NOTHING, Sight
from penstock.transparency_log.witness import FileWitness, slots
from penstock.transparency_log.witness.slots import BLOCK

KEY = b"k" * 32
SEEN = Sight(3, bytes(range(32)), {"sites@1/1": (5, 7)})


def started(folder: Path) -> FileWitness:
    """Return a witness that has seen nothing yet."""
    witness = FileWitness(folder, PATIENCE, lambda: [KEY])
    witness.start_over(NOTHING)
    return witness


def fail(_: int) -> None:
    raise OSError(errno.EIO, "")


def acts_of(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Sight | None]]:
    """Return what is going to be done with the disk, and what the file says after that."""
    acts: list[tuple[str, Sight | None]] = []
    write, sync_data, sync = os.pwrite, os.fdatasync, os.fsync

    def now() -> Sight | None:
        return slots.read(path.read_bytes(), [KEY]).sight if path.exists() else None

    def note(act: str, descriptor: int) -> None:
        # Threads of servers that other tests opened may still write to witnesses of their own.
        if Path(f"/proc/self/fd/{descriptor}").readlink().is_relative_to(path.parent):
            acts.append((act, now()))

    def written(descriptor: int, content: bytes, place: int) -> int:
        count = write(descriptor, content, place)
        note("write", descriptor)
        return count

    def data_synced(descriptor: int) -> None:
        sync_data(descriptor)
        note("sync", descriptor)

    def synced(descriptor: int) -> None:
        sync(descriptor)
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        note("name" if is_folder else "sync", descriptor)

    monkeypatch.setattr(os, "pwrite", written)
    monkeypatch.setattr(os, "fdatasync", data_synced)
    monkeypatch.setattr(os, "fsync", synced)
    return acts


def test_what_was_seen_last_is_on_the_disk_when_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a new file first its content, then its name in the folder: power may go at any time."""
    acts = acts_of(tmp_path / "log.json", monkeypatch)
    witness = FileWitness(tmp_path, PATIENCE, lambda: [KEY])
    witness.start_over(NOTHING)
    assert acts == [("write", None), ("sync", None), ("name", NOTHING), ("write", NOTHING)]
    acts.clear()
    witness.advance(SEEN)
    assert acts == [("write", SEEN), ("sync", SEEN), ("write", SEEN)]
    assert slots.read((tmp_path / "log.json").read_bytes(), [KEY]).is_settled


def test_who_finds_a_record_on_the_disk_does_not_store_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a process that waited for the lock, while another one wrote."""
    FileWitness(tmp_path, PATIENCE, lambda: [KEY]).start_over(SEEN)
    acts = acts_of(tmp_path / "log.json", monkeypatch)
    FileWitness(tmp_path, PATIENCE, lambda: [KEY]).advance(SEEN)
    assert acts == []


@pytest.mark.parametrize("stop", [OSError(errno.EIO, ""), KeyboardInterrupt()])
def test_nobody_relies_on_a_record_that_its_writer_did_not_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: BaseException
) -> None:
    """The writer was killed before, or the disk failed: it may be in memory alone."""

    def stopped(_: int) -> None:
        raise stop

    witness = started(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", stopped)
        with pytest.raises((LogUnavailable, KeyboardInterrupt)):
            witness.advance(SEEN)
    assert witness.seen() == SEEN
    acts = acts_of(tmp_path / "log.json", monkeypatch)
    FileWitness(tmp_path, PATIENCE, lambda: [KEY]).advance(SEEN)
    stored = [("write", SEEN), ("sync", SEEN), ("name", SEEN), ("write", SEEN)]
    assert acts == stored, "the same record is written and synced once more"


def test_the_older_record_is_not_written_over_before_the_newest_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    witness = started(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", fail)
        with pytest.raises(LogUnavailable, match="cannot be written"):
            witness.advance(SEEN)
    acts = acts_of(tmp_path / "log.json", monkeypatch)
    further = replace(SEEN, size=4)
    witness.advance(further)
    assert acts == [
        *(("write", SEEN), ("sync", SEEN), ("name", SEEN), ("write", SEEN)),
        *(("write", further), ("sync", further), ("write", further)),
    ]


def test_the_newest_record_is_not_written_over(tmp_path: Path) -> None:
    """A power cut may tear what is being written."""
    witness = FileWitness(tmp_path, PATIENCE, lambda: [KEY])
    witness.begin()
    for size in range(1, 6):
        path = tmp_path / "log.json"
        newest = slots.read(path.read_bytes(), [KEY])
        witness.advance(replace(SEEN, size=size))
        assert path.read_bytes()[newest.number * BLOCK :][:BLOCK] == newest.slot
