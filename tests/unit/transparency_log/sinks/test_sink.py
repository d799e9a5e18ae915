"""Test a log with a second place.

It takes everything first, and nobody is answered before it did.
"""

import fcntl
from pathlib import Path

import pytest
from tests.databases.homes import PATIENCE
from tests.unit.transparency_log.sinks.placing import (
    Placed,
    leaves_of,
    lines,
    refused,
    status_of,
    taken,
)
from tests.unit.worlds import World

from penstock.errors import InvalidInput, LogUnavailable
from penstock.services.operations import home
from penstock.transparency_log import checkpoints, leaves
from penstock.transparency_log.sinks import forwarding, sink


def test_a_file_has_the_whole_log_once_with_its_signed_checkpoint(
    visits: World, placed: Placed, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    first, second = placed(f"file:{path}"), placed(f"file:{path}")
    first.ask("pia")
    second.ask("paul")
    first.ask("ines")
    told = lines(path)
    assert taken(told) == leaves_of(visits)
    for one in told:
        if "leaf" in one:
            assert leaves.leaf_hash(one["leaf"].encode()).hex() == one["hash"]
    with visits.server.database.read() as session:
        newest = checkpoints.newest(session)
        assert newest is not None
        assert told[-1] == {"size": newest.size, "root": newest.root.hex(), "note": newest.note}
    assert path.stat().st_mode & 0o777 == 0o600
    assert status_of(first) == (True, f"has {newest.size} leaves of the log")


def test_a_full_disk_is_told_of_and_nothing_is_answered(visits: World, placed: Placed) -> None:
    full = placed("file:/dev/full")
    drawn = visits.streams.taken
    seen = home.witness(visits.server.settings).seen()
    refused(full)
    assert visits.streams.taken == drawn + 1
    assert home.witness(visits.server.settings).seen() == seen
    with pytest.raises(LogUnavailable, match="PENSTOCK_LOG_SINK"):
        forwarding.require(placed("file:/nowhere/log").server.sequencer.witness)


def test_a_torn_line_is_mended(visits: World, placed: Placed, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    world = placed(f"file:{path}")
    world.ask("pia")
    whole = path.read_bytes()
    world.ask("paul")
    longer = path.read_bytes()
    for end in range(len(whole), len(longer)):
        path.write_bytes(longer[:end])
        with world.server.database.read() as session:
            forwarding.forward(session, sink.FileSink(path, PATIENCE), None)
        assert path.read_bytes() == longer, end
    path.write_bytes(longer[: len(whole) // 4])
    world.ask("ines")
    assert taken(lines(path)) == leaves_of(visits)


@pytest.mark.parametrize("block", [1, 7, 100])
def test_the_last_checkpoint_is_found_in_blocks_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(sink, "_BLOCK", block)
    path = tmp_path / "x"
    note = sink.checkpoint_line(1, b"r", 'says {"note":"x"}\n')
    leaf = sink.leaf_line(0, b"h", b'{"note":"y"}')
    for content, end, found in (
        (b"", 0, b""),
        (leaf + b"\n", 0, b""),
        (note, 0, b""),
        (note + b"\n", len(note) + 1, note),
        (leaf + b"\n" + note + b"\n" + leaf + b"\n" + leaf, len(leaf + note) + 2, note),
        (note + b"\n" + leaf + b"\n" + note, len(note) + 1, note),
    ):
        path.write_bytes(content)
        with path.open("rb") as file:
            assert sink.last_checkpoint(file) == (end, found)


def test_a_file_of_something_else_is_not_written_to(placed: Placed, tmp_path: Path) -> None:
    path = tmp_path / "diary.txt"
    path.write_text("Dear diary\n", encoding="utf-8")
    refused(placed(f"file:{path}"))
    assert path.read_text(encoding="utf-8") == "Dear diary\n"


def test_a_file_that_others_lock_is_told_of(visits: World, placed: Placed, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    placed(f"file:{path}").ask("pia")
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        refused(placed(f"file:{path}", 0.1), "paul")
    placed(f"file:{path}").ask("paul")
    assert taken(lines(path)) == leaves_of(visits)


@pytest.mark.parametrize(
    "setting", ["file:log", "file:", "syslog:x", "syslog+tcp:h", "syslog+tcp:h:0", "x:/y", "/y"]
)
def test_a_second_place_that_cannot_be_meant_is_refused(setting: str) -> None:
    with pytest.raises(InvalidInput, match="PENSTOCK_LOG_SINK"):
        forwarding.sink_of(setting, 1)
