"""Test a log whose witness is hostile to it.

Full, locked, hanging, or with anything in its file.
"""

import errno
import fcntl
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from tests.databases.homes import PATIENCE
from tests.support.forked import begun, ended_well
from tests.unit.transparency_log.witness.earlier import in_a_file
from tests.unit.worlds import World

from penstock.errors import LogUnavailable
from penstock.services.operations import home, status
from penstock.transparency_log.sights import NOTHING, Sight, Unauthentic
from penstock.transparency_log.witness import FileWitness, slots
from penstock.transparency_log.witness.slots import BLOCK

KEY = b"k" * 32
SEEN = Sight(3, bytes(range(32)), {"sites@1/1": (5, 7)})


def started(folder: Path) -> FileWitness:
    """Return a witness that has seen nothing yet."""
    witness = FileWitness(folder, PATIENCE, lambda: [KEY])
    witness.start_over(NOTHING)
    return witness


@contextmanager
def impatient(world: World, patience: float = 0.1) -> Iterator[World]:
    """Yield another process's server of the same home, which waits no longer."""
    settings = world.server.settings.model_copy(update={"log_patience": patience})
    server = home.open_server(settings, clock=world.clock, randomness=world.streams)
    yield World(server, world.clock, world.streams)
    server.database.close()


def file_of(world: World) -> Path:
    return world.server.settings.witness_path / "log.json"


def refuses(world: World, name: str = "pia") -> None:
    for _ in range(2):
        with pytest.raises(LogUnavailable):
            world.ask(name)


def goes_on(world: World, taken: int) -> None:
    """Require that what was drawn before is handed out, and nothing was drawn twice."""
    assert world.ask("pia").view.receipt.index is not None
    assert world.streams.taken == taken


def test_a_disk_that_takes_nothing_is_told_of_and_nothing_is_drawn_twice(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = visits.streams.taken
    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", fail)
        refuses(visits)
    goes_on(visits, taken + 1)


def test_a_full_disk_stops_nothing_as_long_as_the_record_fits(visits: World) -> None:
    """Its file does not grow."""
    file_of(visits).with_suffix(".new").symlink_to("/dev/full")
    taken = visits.streams.taken
    goes_on(visits, taken + 1)


def test_a_full_disk_keeps_the_record_that_did_not_outgrow_its_slot(tmp_path: Path) -> None:
    witness = FileWitness(tmp_path, PATIENCE, lambda: [KEY])
    witness.start_over(SEEN)
    beside = tmp_path / "log.new"
    beside.symlink_to("/dev/full")
    grown = replace(SEEN, accounts={f"sites@1/{number}": (9, 9) for number in range(500)})
    with pytest.raises(LogUnavailable, match="No space left"):
        witness.advance(grown)
    assert witness.seen() == SEEN
    beside.unlink()
    witness.advance(grown)
    assert witness.seen() == grown
    assert (tmp_path / "log.json").stat().st_size > 2 * BLOCK


def test_a_witness_that_others_keep_locked_is_told_of(visits: World) -> None:
    taken = visits.streams.taken
    with impatient(visits) as other:
        folder = os.open(file_of(visits).parent, os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        refuses(other)
        os.close(folder)
    goes_on(visits, taken + 1)


def test_a_disk_that_hangs_holds_nobody_longer_than_the_patience(visits: World) -> None:
    """Reading a pipe that nobody writes to waits forever, as a lost file server does."""
    taken, path = visits.streams.taken, file_of(visits)
    kept = path.read_bytes()
    with impatient(visits) as other:
        path.unlink()
        os.mkfifo(path)
        refuses(other)
        with pytest.raises(LogUnavailable, match="did not answer"):
            other.server.sequencer.require_sound()
        with pytest.raises(LogUnavailable):
            other.push("more")
        with impatient(visits) as late:
            refuses(late)
            (told,) = (
                part
                for part in status.examine(late.server.settings).parts
                if part.part == "witness"
            )
            assert not told.good
            assert "does not answer" in told.state
        assert visits.streams.taken == taken
        path.rename(path.with_name("pipe"))
        path.write_bytes(kept)
        with path.with_name("pipe").open("wb") as pipe:  # whoever waits reads nothing
            pipe.flush()
    goes_on(visits, taken + 1)


def test_what_hangs_holds_up_no_other_writer(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The witness is looked at before the one lock of the database is taken."""
    product = FileWitness.seen

    def seen(witness: FileWitness) -> Sight:
        for one in (visits.server.database, other.server.database):
            with one.write_unwatched() as session:  # nobody has it
                session.connection()
        return product(witness)

    with impatient(visits, PATIENCE) as other:
        monkeypatch.setattr(FileWitness, "seen", seen)
        assert visits.ask("pia").view.receipt.index is not None


def test_nobody_waits_anew_for_a_witness_that_hangs(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever writes one after the other would wait that often."""
    free = threading.Event()
    looks: list[None] = []

    def hang(_: FileWitness) -> Sight:
        looks.append(None)
        free.wait()
        return NOTHING

    sequencer = visits.server.sequencer
    with monkeypatch.context() as patched:
        patched.setattr(FileWitness, "seen", hang)
        sequencer.patience = 0.05
        for _ in range(20):
            with pytest.raises(LogUnavailable, match="did not answer"):
                sequencer.look()
        assert len(looks) == 1
    sequencer.patience = PATIENCE
    free.set()
    found = NOTHING
    while found == NOTHING:  # the look that hung is over soon
        with suppress(LogUnavailable):
            found = sequencer.look()
    assert found.size > 0


def test_a_witness_of_an_earlier_version_is_taken_over_once(tmp_path: Path) -> None:
    witness = FileWitness(tmp_path, PATIENCE, lambda: [KEY])
    earlier = {"format": "penstock-witness", "version": 1, "size": 3, "root": SEEN.root.hex()}
    (tmp_path / "log.json").write_text(json.dumps(earlier))
    with pytest.raises(LogUnavailable, match="before witnesses were authenticated"):
        witness.seen()
    witness.take_over()
    assert witness.seen() == replace(SEEN, accounts={})
    witness.start_over(SEEN)
    witness.take_over()
    assert witness.seen() == SEEN
    (tmp_path / "log.json").write_text("{}")
    with pytest.raises(LogUnavailable, match="not what the server wrote"):
        witness.take_over()


def test_an_upgraded_home_takes_over_no_witness_of_an_earlier_version(visits: World) -> None:
    """Whoever can write to the folder of the witness alone does not end a suspension by it."""
    seen = visits.server.sequencer.witness.seen()
    earlier = {"format": "penstock-witness", "version": 1, "size": 0, "root": "", "accounts": {}}
    file_of(visits).write_text(json.dumps(earlier))
    home.upgrade(visits.server.settings)
    refuses(visits)
    assert seen.size


def fail(_: int) -> None:
    raise OSError(errno.EIO, "")


def test_a_slot_that_is_being_written_is_waited_for(tmp_path: Path) -> None:
    """Its reader would otherwise see what was true before the last two changes."""
    witness = FileWitness(tmp_path, 0.05, lambda: [KEY])
    witness.start_over(SEEN)
    path = tmp_path / "log.json"
    content = path.read_bytes()
    path.write_bytes(content[:BLOCK] + content[BLOCK : BLOCK + 100].ljust(BLOCK))
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    with pytest.raises(LogUnavailable, match="locked"):
        witness.seen()
    os.close(folder)
    assert witness.seen() == SEEN
    witness.advance(replace(SEEN, size=4))
    assert slots.read(path.read_bytes(), [KEY]).is_whole, "the torn slot is written next"


def test_processes_that_share_a_witness_move_it_forward_together(tmp_path: Path) -> None:
    FileWitness(tmp_path, PATIENCE, lambda: [KEY]).begin()

    def advance(first: int) -> bool:
        witness = FileWitness(tmp_path, PATIENCE, lambda: [KEY])
        for size in range(first, 41, 4):
            witness.advance(Sight(size, SEEN.root, {f"sites@1/{first}": (size, 0)}))
            if witness.seen().size < size:
                return False
        return True

    children = [begun(partial(advance, first)) for first in range(1, 5)]
    assert [ended_well(child) for child in children] == [True] * 4
    seen = FileWitness(tmp_path, PATIENCE, lambda: [KEY]).seen()
    assert (seen.size, seen.root) == (40, SEEN.root)
    assert seen.accounts == {f"sites@1/{first}": (36 + first, 0) for first in range(1, 5)}


def test_a_text_of_an_earlier_version_becomes_slots_with_the_next_change(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    suspended = replace(SEEN, suspended_at="2026-01-01T00:00:00.000000Z")
    changes: dict[str, Callable[[FileWitness], None]] = {
        "advance": lambda witness: witness.advance(replace(SEEN, size=4)),
        "advance to no more": lambda witness: witness.advance(NOTHING),
        "resume": lambda witness: witness.resume(),
        "renew": lambda witness: witness.renew(),
    }
    for name, change in changes.items():
        path.write_bytes(in_a_file(suspended, KEY))
        witness = FileWitness(tmp_path, PATIENCE, lambda: [KEY])
        witness.take_over()
        assert path.read_bytes() == in_a_file(suspended, KEY)
        assert witness.seen() == SEEN
        change(witness)
        assert path.stat().st_size == 2 * BLOCK, name
        content = slots.read(path.read_bytes(), [KEY])
        assert content.is_settled, name
        assert content.sight.accounts == SEEN.accounts
        assert bool(content.sight.suspended_at) == (name != "resume")


def test_a_renewed_record_is_under_the_newest_key_alone(tmp_path: Path) -> None:
    """In neither slot is one left that somebody with the earlier key could have written."""
    keys = [KEY]
    witness = FileWitness(tmp_path, PATIENCE, lambda: keys)
    witness.begin()
    witness.advance(SEEN)
    keys.insert(0, b"n" * 32)
    witness.renew()
    content = (tmp_path / "log.json").read_bytes()
    with pytest.raises(Unauthentic):
        slots.read(content, [KEY])
    assert slots.read(content, keys[:1]).sight == SEEN


def test_a_witness_is_never_moved_backward(tmp_path: Path) -> None:
    witness = FileWitness(tmp_path, PATIENCE, lambda: [KEY])
    witness.begin()
    witness.advance(SEEN)
    witness.begin()
    for less in (
        NOTHING,
        Sight(2, bytes(32)),
        Sight(3, bytes(32)),
        Sight(3, SEEN.root, {"sites@1/1": (4, 7)}),
    ):
        witness.advance(less)
        assert witness.seen() == SEEN
    witness.advance(Sight(2, bytes(32), {"sites@1/1": (4, 8), "sites@1/2": (1, 0)}))
    assert witness.seen() == replace(SEEN, accounts={"sites@1/1": (5, 8), "sites@1/2": (1, 0)})
    witness.advance(Sight(4, bytes(32)))
    assert (witness.seen().size, witness.seen().root) == (4, bytes(32))
    assert witness.seen().accounts == {"sites@1/1": (5, 8), "sites@1/2": (1, 0)}


def test_a_restore_takes_the_place_of_what_it_was_of_and_of_nothing_newer(tmp_path: Path) -> None:
    witness = FileWitness(tmp_path, PATIENCE, lambda: [KEY])
    witness.begin()
    witness.advance(SEEN)
    anew = Sight(1, bytes(32))
    witness.start_over(anew, instead_of=Sight(2, bytes(32)))
    assert witness.seen() == SEEN
    witness.start_over(anew, instead_of=SEEN)
    assert witness.seen() == anew
