"""Test chunks in a folder: written once, durable, and never taken from who writes them."""

import os
import time
from contextlib import closing
from pathlib import Path

import pytest

from penstock.errors import NoRoom, Unavailable
from penstock.persistence.chunks.folder import FolderStore
from penstock.persistence.chunks.store import ChunkMissing

ONE, OTHER = "1" * 32, "2" * 32


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "home" / "chunks", lambda: 0)


def test_a_chunk_is_read_as_it_was_written(store: FolderStore) -> None:
    writing = store.begin(ONE)
    writing.put(1, b"second")
    writing.put(0, b"first")
    writing.settle()
    assert store.read(ONE, 0) == b"first"
    assert list(store.chunks(ONE)) == [0, 1]
    assert list(store.attempts()) == [ONE]
    assert (store.folder / ONE / "00000000").stat().st_mode & 0o777 == 0o600


def test_a_chunk_is_written_once(store: FolderStore) -> None:
    writing = store.begin(ONE)
    writing.put(0, b"first")
    with pytest.raises(Unavailable, match="File exists"):
        writing.put(0, b"other")
    assert store.read(ONE, 0) == b"first"


def test_an_attempt_begins_once(store: FolderStore) -> None:
    store.begin(ONE).close()
    with pytest.raises(Unavailable):
        store.begin(ONE)


def test_what_died_before_its_attempt_had_a_name_is_removed_after_a_day(
    store: FolderStore,
) -> None:
    for name, age in ((f".{ONE}", 90_000), (f".{OTHER}", 80_000), (".trash", 90_000)):
        (store.folder / name).mkdir(parents=True)
        made = time.time() - age
        os.utime(store.folder / name, (made, made))
    store.begin("3" * 32)
    left = {path.name for path in store.folder.iterdir()}
    assert left == {f".{OTHER}", ".trash", "3" * 32}


def test_a_chunk_is_read_into_the_room_that_fits_it(store: FolderStore) -> None:
    store.begin(ONE).put(0, memoryview(b"first"))
    room = bytearray(5)
    assert store.read(ONE, 0, memoryview(room)) == b"first"
    assert room == b"first"
    assert store.read(ONE, 0, memoryview(bytearray(4))) == b"first"


def test_a_missing_chunk_is_reported(store: FolderStore) -> None:
    with pytest.raises(ChunkMissing):
        store.read(ONE, 0)
    store.begin(ONE)
    with pytest.raises(ChunkMissing):
        store.read(ONE, 0)


def test_contents_and_names_are_synced_in_this_order(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []

    def note(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)

    monkeypatch.setattr(os, "fdatasync", note)
    monkeypatch.setattr(os, "fsync", note)
    writing = store.begin(ONE)
    writing.put(0, b"first")
    assert synced == ["00000000"]
    writing.settle()
    assert synced == ["00000000", ONE, "chunks"]


def test_only_what_nobody_writes_can_be_claimed(store: FolderStore) -> None:
    writing = store.begin(ONE)
    with store.claimed(ONE) as mine:
        assert not mine
    writing.close()
    with store.claimed(ONE) as mine:
        assert mine
    with store.claimed(OTHER) as mine:
        assert not mine


def test_what_is_kept_or_marked_is_not_abandoned(store: FolderStore) -> None:
    first, second = store.begin(ONE), store.begin(OTHER)
    assert list(store.abandoned()) == [ONE, OTHER]
    first.keep()
    assert list(store.abandoned()) == [OTHER]
    store.mark(OTHER)
    assert list(store.abandoned()) == []
    second.close()


def test_an_attempt_that_is_kept_is_looked_at_once(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(store.begin(ONE)) as writing:
        writing.keep()
    assert list(store.abandoned()) == []
    looked: list[str] = []
    exists = Path.exists

    def counted(path: Path) -> bool:
        looked.append(path.parent.name)
        return exists(path)

    store.begin(OTHER).close()
    monkeypatch.setattr(Path, "exists", counted)
    assert list(store.abandoned()) == list(store.abandoned()) == [OTHER]
    assert [name for name in looked if name in (ONE, OTHER)] == [OTHER, OTHER]


def test_an_attempt_is_removed_whole(store: FolderStore) -> None:
    writing = store.begin(ONE)
    writing.put(0, b"first")
    store.remove(ONE)
    assert list(store.attempts()) == []
    store.remove(ONE)


def test_room_is_asked_for_before_anything_is_written(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "none", lambda: 1 << 62)
    with pytest.raises(NoRoom, match="kept free") as caught:
        store.require_room(1)
    assert str(tmp_path) not in caught.value.detail
    FolderStore(tmp_path / "none", lambda: 0).require_room(1)
    assert not store.folder.exists()


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="PENSTOCK_CHUNKS_FOLDER") as caught:
        FolderStore(tmp_path / "file", lambda: 0).begin(ONE)
    assert str(tmp_path) not in caught.value.detail
    assert ONE not in caught.value.detail
    assert caught.value.data["path"] == str(tmp_path / "file" / ONE)
