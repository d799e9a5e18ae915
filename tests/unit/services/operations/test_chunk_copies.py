"""Test that a backup has the chunks, that a restored one is read, and that a loss is named."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.unit.services.noise.long_vectors.stored_vectors import files, store, vectors
from tests.unit.worlds import World

from penstock.errors import Conflict, IntegrityViolation
from penstock.services.access.principals import OPERATOR
from penstock.services.operations import backup, chunk_copies, key_rotation
from penstock.services.verification.verification import verify


@pytest.fixture
def copy(long: World, tmp_path: Path) -> Path:
    long.ask("pia", "long")
    return Path(backup.create(long.server.settings, tmp_path / "copy").path)


def test_a_backup_has_every_chunk_and_its_check_says_so(long: World, copy: Path) -> None:
    folder = chunk_copies.folder_of(copy)
    for rung in vectors(long):
        for file in files(long, rung):
            assert (folder / file.parent.name / file.name).read_bytes() == file.read_bytes()
    checked = backup.check(long.server.settings, copy)
    assert checked.opens, checked.problems


@pytest.mark.parametrize("damage", ["missing", "altered"])
def test_a_check_names_the_first_chunk_that_is_wrong(long: World, copy: Path, damage: str) -> None:
    *_, last = sorted(chunk_copies.folder_of(copy).glob("*/0*"))
    if damage == "missing":
        last.unlink()
    else:
        last.write_bytes(b"x")
    (problem,) = backup.check(long.server.settings, copy).problems
    assert f"{last.parent.name}/{last.name}" in problem
    assert problem.startswith("1 of 6 chunks")


def test_chunks_that_were_lost_are_read_from_the_backup(long: World, copy: Path) -> None:
    view = long.ask("pia", "long").view
    before = list(np.asarray(view.values))
    shutil.rmtree(store(long).folder)
    with pytest.raises(IntegrityViolation, match="Chunk 0 of 3"):
        list(long.ask("pia", "long").view.values)
    taken = long.streams.taken
    shutil.copytree(chunk_copies.folder_of(copy), store(long).folder)
    assert list(np.asarray(long.ask("pia", "long").view.values)) == before
    assert verify(long.server, OPERATOR).problems == []
    assert long.streams.taken == taken, "nothing is drawn in place of what was lost"


def test_without_long_vectors_nothing_is_written_beside_a_backup(
    visits: World, tmp_path: Path
) -> None:
    made = backup.create(visits.server.settings, tmp_path / "copy")
    assert made.chunks is None
    assert not chunk_copies.folder_of(tmp_path / "copy").exists()


def test_the_chunks_of_another_backup_are_not_mixed_with(long: World, tmp_path: Path) -> None:
    chunk_copies.folder_of(tmp_path / "copy").mkdir()
    with pytest.raises(Conflict, match="another backup"):
        backup.create(long.server.settings, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_shredding_makes_chunks_unreadable_and_removes_them(long: World, copy: Path) -> None:
    kept = vectors(long)
    key_rotation.shred(long.server, OPERATOR, "sites")
    assert list(store(long).attempts()) == []
    assert not backup.check(long.server.settings, copy).opens
    with pytest.raises(IntegrityViolation, match="is missing"):
        replace(kept[min(kept)]).chunk(0)
