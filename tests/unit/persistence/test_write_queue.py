"""Test that writers take turns in the order in which they came, and that nobody waits in vain."""

import fcntl
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlmodel import SQLModel, col, select
from tests.databases.homes import PATIENCE
from tests.support.forked import begun, ended_well, in_child
from tests.support.threads import no_thread_left

from penstock.errors import DatabaseUnavailable
from penstock.persistence import Database, tables, write_queue
from penstock.persistence.write_queue import Place, WriteQueue

MakeRow = Callable[..., SQLModel]

pytestmark = pytest.mark.only("sqlite")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return where a database is, as far as its queue needs to know."""
    path = tmp_path / "queued.db"
    path.touch()
    return path


def file_of(database: Path) -> Path:
    return database.with_name(f"{database.name}-queue")


def numbers(database: Path) -> int:
    """Return how many numbers were taken."""
    file = file_of(database)
    return int.from_bytes(file.read_bytes(), "little") if file.exists() else 0


def turn_of(queue: WriteQueue) -> Place:
    turn = queue.wait(PATIENCE)
    assert turn is not None
    return turn


class Line:
    """Hold threads that wait one behind the other, and in ``order`` how their turns came."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._threads: list[threading.Thread] = []
        self.order: list[int] = []

    def join(self, queue: WriteQueue, number: int) -> None:
        """Let a thread wait for its turn; return when it is in line."""

        def take() -> None:
            turn = turn_of(queue)
            self.order.append(number)
            queue.leave(turn)

        before = numbers(self._database)
        self._threads.append(threading.Thread(target=take))
        self._threads[-1].start()
        while numbers(self._database) == before:
            time.sleep(0.001)

    def end(self) -> None:
        """Wait until everybody had a turn."""
        for thread in self._threads:
            thread.join()


def test_turns_come_in_the_order_in_which_they_were_asked_for(place: Path) -> None:
    """Within a process, and across several: each has a queue of its own."""
    processes = [WriteQueue(place) for _ in range(3)]
    turn = turn_of(processes[0])
    line = Line(place)
    for number, process in enumerate([1, 2, 0, 0, 1, 1, 1, 2, 0, 2]):
        line.join(processes[process], number)
    assert line.order == []
    processes[0].leave(turn)
    line.end()
    assert line.order == list(range(10))


def test_who_ends_a_turn_and_wants_another_is_behind_those_that_wait(place: Path) -> None:
    mine, other = WriteQueue(place), WriteQueue(place)
    turn = turn_of(mine)
    line = Line(place)
    line.join(other, 0)
    line.join(mine, 1)
    mine.leave(turn)
    turn = turn_of(mine)
    assert line.order == [0, 1]
    mine.leave(turn)
    line.end()


def test_nobody_waits_longer_than_it_said(place: Path) -> None:
    """Those behind it get their turn, in its own process and in others."""
    mine, other = WriteQueue(place), WriteQueue(place)
    turn = turn_of(mine)
    for queue in (mine, other, other):
        assert queue.wait(0.01) is None
    line = Line(place)
    for number, queue in enumerate((other, mine)):
        line.join(queue, number)
    assert mine.wait(0.01) is None
    mine.leave(turn)
    line.end()
    assert line.order == [0, 1]
    mine.leave(turn_of(mine))


def test_who_has_no_thread_to_wait_for_its_turn_keeps_nobody_from_theirs(place: Path) -> None:
    """In its own process and in others; and the next one has a thread again."""

    mine, other = WriteQueue(place), WriteQueue(place)
    turn = turn_of(other)
    with no_thread_left():
        assert mine.wait(PATIENCE) is None
    line = Line(place)
    line.join(mine, 0)
    line.join(other, 1)
    other.leave(turn)
    line.end()
    assert line.order == [0, 1]


def test_a_process_that_is_killed_gives_up_its_turn_and_its_places(place: Path) -> None:
    queue = WriteQueue(place)

    def hold() -> bool:
        held = WriteQueue(place)
        turn_of(held)
        for _ in range(2):
            threading.Thread(target=held.wait, args=(PATIENCE,), daemon=True).start()
        signal.pause()
        return True

    child = begun(hold)
    while numbers(place) < 4:  # the first number is 2
        time.sleep(0.001)
    assert queue.wait(0.01) is None
    line = Line(place)
    line.join(queue, 0)
    os.kill(child, signal.SIGKILL)
    line.end()
    assert not ended_well(child)
    assert line.order == [0]


def open_files(path: Path) -> int:
    targets = []
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            targets.append(descriptor.readlink())
        except OSError:
            continue
    return targets.count(path)


def test_a_child_inherits_neither_turns_nor_places(place: Path) -> None:
    queue = WriteQueue(place)
    turn = turn_of(queue)
    line = Line(place)
    line.join(queue, 0)
    assert open_files(file_of(place)) == 2
    assert in_child(lambda: open_files(file_of(place)) == 0 and queue.wait(0.01) is None)
    queue.leave(turn)
    line.end()
    assert line.order == [0]
    assert in_child(lambda: queue.wait(PATIENCE) is not None)
    queue.leave(turn_of(queue))
    assert open_files(file_of(place)) == 0


@pytest.fixture(params=["a folder in its place", "no locks", "a counter that is kept locked"])
def without_queue(
    request: pytest.FixtureRequest, path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Let the database's queue be of no use."""
    file, kept = file_of(path), None
    file.unlink(missing_ok=True)
    match request.param:
        case "a folder in its place":
            file.mkdir()
        case "no locks":
            monkeypatch.setattr(write_queue, "_WAIT", None)
        case _:
            monkeypatch.setattr(write_queue, "NAP_SECONDS", 0.0)
            turn = turn_of(WriteQueue(path))
            kept = turn.descriptor
            write_queue._set(kept, fcntl.F_WRLCK, write_queue.COUNTER)
    yield
    if kept is not None:
        os.close(kept)


def test_without_a_queue_writers_write_all_the_same(
    filled: Database, without_queue: None, url: str, row: MakeRow
) -> None:
    other = Database(url, busy_timeout_seconds=0.02)
    with filled.write() as session:
        session.add(row("tier", folded="b", rank=11))
        session.flush()
        with pytest.raises(DatabaseUnavailable, match="locked"), other.write():
            pass
    with other.write() as session:
        assert len(session.exec(select(tables.Tier)).all()) == 2


def test_a_turn_ends_when_its_transaction_begins_or_fails_to(
    filled: Database, url: str, path: Path
) -> None:
    """The next one is awake before the lock of the database gets free."""
    queue, impatient = WriteQueue(path), Database(url, busy_timeout_seconds=0.02)
    with filled.write():
        assert open_files(file_of(path)) == 0
        queue.leave(turn_of(queue))
        with pytest.raises(DatabaseUnavailable, match="locked"), impatient.write():
            pass
        assert open_files(file_of(path)) == 0
    queue.leave(turn_of(queue))


def test_who_does_not_know_the_queue_is_waited_for(
    filled: Database, url: str, path: Path, row: MakeRow
) -> None:
    """As a backup, an upgrade, an older version or a shell."""
    patient = Database(url, busy_timeout_seconds=PATIENCE)
    stranger = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    stranger.execute("BEGIN IMMEDIATE")
    before = numbers(path)

    def write() -> None:
        with patient.write() as session:
            session.add(row("tier", folded="b", rank=11))

    waiting = threading.Thread(target=write)
    waiting.start()
    while numbers(path) == before:
        time.sleep(0.001)
    stranger.execute("COMMIT")
    waiting.join()
    with filled.read() as session:
        assert len(session.exec(select(tables.Tier)).all()) == 2
    stranger.close()


def test_a_turn_that_does_not_come_keeps_nobody_from_a_free_database(
    filled: Database, url: str, path: Path
) -> None:
    """The database alone says who writes."""
    queue = WriteQueue(path)
    turn = turn_of(queue)
    other = Database(url, busy_timeout_seconds=0.02)
    with other.write() as session:
        assert len(session.exec(select(tables.Tier)).all()) == 1
    queue.leave(turn)


def test_writers_of_one_database_write_in_the_order_in_which_they_came(
    filled: Database, url: str, path: Path, row: MakeRow
) -> None:
    databases = [Database(url, busy_timeout_seconds=PATIENCE) for _ in range(3)]
    threads = []

    def write(database: Database, rank: int) -> None:
        with database.write() as session:
            session.add(row("tier", folded=str(rank), rank=rank))

    with databases[0].write():
        for rank in range(20, 28):
            before = numbers(path)
            threads.append(threading.Thread(target=write, args=(databases[rank % 3], rank)))
            threads[-1].start()
            while numbers(path) == before:
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    with filled.read() as session:
        ranks = session.exec(select(tables.Tier.rank).order_by(col(tables.Tier.id))).all()
    assert ranks[1:] == list(range(20, 28))
