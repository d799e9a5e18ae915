"""Test that the end of the room is kept for taking access away: what grows stops first."""

from pathlib import Path

import pytest

from penstock.errors import NoRoom
from penstock.persistence import Need
from penstock.services.disk_room import NOBODY_KNOWS, SECONDS, Room, UpTo, on_disk

MEBIBYTE = 1024 * 1024


@pytest.mark.parametrize(
    ("left", "refused"),
    [
        (100, set()),
        (99, {Need.GROWTH}),
        (50, {Need.GROWTH}),
        (49, {Need.GROWTH, Need.LITTLE}),
        (-5, {Need.GROWTH, Need.LITTLE}),
    ],
)
def test_each_need_stops_at_its_share_of_the_reserve(left: int, refused: set[Need]) -> None:
    room = Room(lambda: left * MEBIBYTE, 100 * MEBIBYTE)
    for need in Need:
        if need in refused:
            with pytest.raises(NoRoom, match=f"has {max(left, 0)} MiB of room"):
                room.require(need)
        else:
            room.require(need)


def test_what_is_about_to_be_written_counts_twice() -> None:
    room = Room(lambda: 110, 100)
    room.require(Need.GROWTH, grows=5)
    with pytest.raises(NoRoom):
        room.require(Need.GROWTH, grows=6)


def test_without_a_reserve_nothing_is_refused_and_nothing_is_said() -> None:
    room = Room(lambda: 0, 0)
    room.require(Need.GROWTH, grows=10**12)
    assert room.warning() is None


def test_a_warning_comes_before_anything_is_refused() -> None:
    assert Room(lambda: 200 * MEBIBYTE, 100 * MEBIBYTE).warning() is None
    warning = Room(lambda: 199 * MEBIBYTE, 100 * MEBIBYTE).warning()
    assert warning is not None
    assert "199 MiB of room; with less than 100 nothing more is released" in warning


def test_the_write_ahead_log_is_room_that_is_gone(tmp_path: Path) -> None:
    log = tmp_path / "penstock.db-wal"
    whole = on_disk(tmp_path)
    with log.open("wb") as file:
        file.truncate(2**40)  # a hole, which takes no room by itself
    assert whole() - on_disk(tmp_path, log)() >= 2**39
    assert on_disk(tmp_path / "missing")() == NOBODY_KNOWS


def test_the_size_of_a_database_is_believed_for_a_while() -> None:
    now, sizes = [0.0], iter([10, 40])
    left = UpTo(100, lambda: next(sizes), lambda: now[0])
    assert left() == 90
    now[0] = SECONDS - 0.1
    assert left() == 90
    now[0] = SECONDS
    assert left() == 60
