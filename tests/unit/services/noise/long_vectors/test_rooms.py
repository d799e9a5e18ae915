"""Test that chunks pass through the same memory, and that no use disturbs another."""

from contextlib import suppress

import numpy as np
import pytest
from tests.altered_bytes import altered
from tests.unit.services.noise.long_vectors.stored_vectors import files, vectors
from tests.unit.worlds import World

from penstock.errors import IntegrityViolation
from penstock.persistence.chunks.direct import BLOCK
from penstock.services.noise.long_vectors.rooms import HUGE_PAGE, Rooms, reused_rooms


def test_a_use_has_one_place_as_large_as_it_needed() -> None:
    rooms = Rooms()
    first = rooms.room("one", 8)
    assert np.shares_memory(first, rooms.room("one", 5))
    assert len(rooms.room("one", 5)) == 5
    assert not np.shares_memory(first, rooms.room("other", 8))
    assert len(rooms.room("one", 9)) == 9
    assert np.shares_memory(rooms.sealed(3), rooms.sealed(2))


@pytest.mark.parametrize("fails", [False, True])
def test_the_next_draw_gets_the_memory_of_the_last_with_what_was_opened_erased(fails: bool) -> None:
    with suppress(IntegrityViolation), reused_rooms() as rooms:
        opened, sealed = rooms.opened("noisy")(8), rooms.sealed(1)
        opened.fill(7)
        sealed.fill(7)
        if fails:
            raise IntegrityViolation("A chunk was altered.")
    with reused_rooms() as later, reused_rooms() as beside:
        assert np.shares_memory(later.room("noisy", 8), opened)
        assert later.room("noisy", 8).tolist() == [0] * 8
        assert later.sealed(1).tolist() == [7] * len(sealed)
        assert not np.shares_memory(beside.room("noisy", 8), opened)


def test_every_place_is_of_whole_huge_pages() -> None:
    """Of the memory behind a place, as much as it takes up to the next huge page is its own."""
    room = Rooms().room("one", HUGE_PAGE - 1)
    behind = room.base
    assert isinstance(behind, np.ndarray)
    assert room.ctypes.data % HUGE_PAGE == 0
    left = behind.ctypes.data + behind.nbytes - room.ctypes.data
    assert left >= HUGE_PAGE


def test_every_place_begins_with_a_block() -> None:
    rooms = Rooms()
    for use, size in (("one", 1), ("other", 3 * BLOCK + 70), ("one", BLOCK)):
        assert rooms.room(use, size).ctypes.data % BLOCK == 0


def test_chunks_are_read_through_rooms_as_without_them(long: World) -> None:
    vector, rooms = vectors(long)[min(vectors(long))], Rooms()
    for index in (2, 0, 1, 2):
        assert vector.chunk(index, rooms).tolist() == vector.chunk(index).tolist()
    one, other = vector.chunk(0, rooms, "one"), vector.chunk(1, rooms, "other")
    assert one.tolist() == vector.chunk(0).tolist() != other.tolist()


@pytest.mark.parametrize("damage", ["longer", "shorter", "altered"])
def test_a_damaged_chunk_is_refused_whatever_was_read_before(long: World, damage: str) -> None:
    vector, rooms = vectors(long)[min(vectors(long))], Rooms()
    vector.chunk(0, rooms)
    file = files(long, min(vectors(long)))[1]
    content = file.read_bytes()
    file.write_bytes(
        {
            "longer": content + b"x",
            "shorter": content[:-1],
            "altered": altered(content),
        }[damage]
    )
    with pytest.raises(IntegrityViolation, match="Chunk 1 of 3"):
        vector.chunk(1, rooms)
