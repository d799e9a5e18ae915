"""Test that only chunks are removed that no release names and nobody writes."""

import errno
import shutil

import pytest
from tests.unit.services.noise.long_vectors.stored_vectors import rows, store, vectors
from tests.unit.worlds import World

from penstock.services.noise.long_vectors import abandoned

LEFT = "e" * 32


def test_what_an_interrupted_attempt_left_is_removed(long: World) -> None:
    writing = store(long).begin(LEFT)
    writing.put(0, b"never readable")
    assert abandoned.sweep(long.server) == 0, "it is still being written"
    writing.close()
    assert abandoned.sweep(long.server) == 1
    assert LEFT not in store(long).attempts()
    assert len(list(store(long).attempts())) == 1


def test_the_next_draw_removes_it(long: World) -> None:
    store(long).begin(LEFT).close()
    long.ask("pia", "long")
    assert LEFT not in store(long).attempts()


def test_what_a_release_names_is_marked_and_stays(long: World) -> None:
    """As after a crash between the commit and the mark."""
    folder = store(long).folder
    (attempt,) = store(long).attempts()
    (folder / attempt / "kept").unlink()
    assert abandoned.sweep(long.server) == 0
    assert list(store(long).abandoned()) == []
    next(iter(vectors(long).values())).require_whole()


def test_marked_chunks_stay_when_no_release_names_them(long: World) -> None:
    """As after an older database was put back: the newer one may return."""
    folder = store(long).folder
    (attempt,) = store(long).attempts()
    shutil.copytree(folder / attempt, folder / LEFT)
    assert abandoned.sweep(long.server) == 0
    assert LEFT in store(long).attempts()


def test_the_attempts_of_a_dataset_are_listed(long: World) -> None:
    long.push("short")
    with long.server.database.read() as session:
        dataset, _, _ = rows(session)
        named = list(abandoned.named(session, dataset.id))
        assert named == list(abandoned.named(session)) == list(store(long).attempts())
        assert list(abandoned.named(session, 99)) == []
    abandoned.remove_all(long.server, named)
    assert list(store(long).attempts()) == []


def test_what_cannot_be_removed_yet_hinders_no_draw(
    long: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker elsewhere still writes into it, though who began it is dead."""
    store(long).begin(LEFT).close()
    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", not_empty)
        assert abandoned.sweep(long.server) == 0
        assert long.ask("pia", "long").first
    assert abandoned.sweep(long.server) == 1


def not_empty(*_: object) -> None:
    raise OSError(errno.ENOTEMPTY, "Directory not empty")
