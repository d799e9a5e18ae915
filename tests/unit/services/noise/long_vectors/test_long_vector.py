"""Test that stored chunks are read whole and in their places, or not at all."""

import shutil

import pytest
from tests.unit.services.noise.long_vectors.stored_vectors import files, store, vectors
from tests.unit.worlds import World

from penstock.errors import IntegrityViolation


@pytest.fixture
def anchor(long: World) -> int:
    return min(vectors(long))


def test_a_vector_is_read_in_chunks_or_whole(long: World, anchor: int) -> None:
    vector = vectors(long)[anchor]
    assert [len(vector.chunk(index)) for index in range(3)] == [8, 8, 4]
    pieces = [steps.tolist() for _, steps in vector.steps(6, 17)]
    assert [len(piece) for piece in pieces] == [2, 8, 1]
    assert [step for piece in pieces for step in piece] == vector.whole()[6:17].tolist()
    vector.require_whole()


@pytest.mark.parametrize("damage", ["missing", "altered", "cut", "swapped", "emptied"])
def test_a_damaged_chunk_is_named_and_nothing_is_read_from_it(
    long: World, anchor: int, damage: str
) -> None:
    first, second, _ = files(long, anchor)
    content = second.read_bytes()
    if damage == "missing":
        second.unlink()
    else:
        second.write_bytes(
            {
                "altered": content[:-20] + bytes([content[-20] ^ 1]) + content[-19:],
                "cut": content[:-1],
                "swapped": first.read_bytes(),
                "emptied": b"",
            }[damage]
        )
    vector = vectors(long)[anchor]
    with pytest.raises(IntegrityViolation) as caught:
        vector.chunk(1)
    assert "Chunk 1 of 3 of release" in caught.value.detail
    assert "query 'long'" in caught.value.detail
    # An analyst is told which chunk, and the operator where it is.
    assert second.parent.name not in caught.value.detail
    assert str(store(long).folder) not in caught.value.detail
    assert caught.value.data == {"path": str(second)}
    with pytest.raises(IntegrityViolation):
        vector.require_whole()
    assert len(vector.chunk(0)) == 8


def test_chunks_of_another_attempt_do_not_open(long: World, anchor: int) -> None:
    """Whoever can write files puts the chunks of one release in place of another's."""
    long.ask("pia", "long")
    for one, other in zip(files(long, anchor), files(long, max(vectors(long))), strict=True):
        shutil.copy(other, one)
    with pytest.raises(IntegrityViolation, match="belongs elsewhere"):
        vectors(long)[anchor].chunk(0)


def test_an_attempt_that_was_copied_is_read_under_its_own_name_alone(
    long: World, anchor: int
) -> None:
    attempt = vectors(long)[anchor].manifest.attempt
    folder = store(long).folder
    shutil.copytree(folder / attempt, folder / ("f" * 32))
    vectors(long)[anchor].require_whole()
    assert len(list(store(long).attempts())) == 2


def test_a_vector_that_is_thrown_away_leaves_nothing(long: World, anchor: int) -> None:
    vectors(long)[anchor].thrown_away()
    assert list(store(long).attempts()) == []
