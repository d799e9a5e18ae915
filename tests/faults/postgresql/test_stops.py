"""Test that PostgreSQL can be stopped at once, as by a crash, during every kind of write."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.databases.cluster import Cluster
from tests.faults import processes, reports
from tests.faults.figures import amounts
from tests.faults.kills.aftermath import Aftermath
from tests.faults.postgresql import load
from tests.faults.postgresql.diaries import (
    NAMES,
    READERS,
    Diary,
    wait_for_more,
    working_on,
)
from tests.faults.postgresql.load import Story
from tests.faults.reports import Reported
from tests.faults.stage import Ask, analyst, answer, asks, build, opened

from penstock.persistence.postgresql import durability
from penstock.services.context import Server

pytestmark = pytest.mark.only("postgresql")

DONE_BETWEEN_STOPS = 10
"""Things that each process does before the database is stopped again."""


def with_stream(folder: Path) -> None:
    build(folder, analysts=READERS, names=NAMES)
    with opened(folder) as server:
        load.open_stream(server)


@pytest.fixture
def home(tmp_path: Path, template: Callable[..., Path], settle: Callable[[], None]) -> Path:
    copied = template(tmp_path / "home", "stops", with_stream)
    settle()
    return copied


@pytest.mark.parametrize("stops", amounts("FAULTS_STOPS", few=1, many=3))
def test_what_was_answered_before_an_immediate_stop_is_stored_proven_and_told_again(
    home: Path, tmp_path: Path, cluster: Cluster, stops: int
) -> None:
    working = working_on(home, tmp_path)
    for _ in range(stops):
        wait_for_more(working, "done", DONE_BETWEEN_STOPS)
        cluster.stop()
        wait_for_more(working, "refused", 1)
        cluster.start()
    wait_for_more(working, "done", 1)
    Diary(tmp_path, "any").end()
    processes.finish([worker for worker, _ in working])
    answers = [
        told for number in range(READERS) for told in reports.read(tmp_path / f"told-{number}")
    ]
    pushed = Diary(tmp_path, "pusher").entries()
    with opened(home) as server:
        Story(answers).require_true(server)
        totals = load.totals(server)
        assert all(totals[first - 1 :][: len(told)] == told for first, told in pushed)
        for name in set(Diary(tmp_path, "registrar").entries()):
            (ask,) = asks(server, name, [1])
            assert answer(server, analyst(0), ask).first
    refusals = {line for path in tmp_path.glob("refused-*") for line in path.read_text().split()}
    assert refusals == {'"DATABASE_UNAVAILABLE"'}


@contextmanager
def forgetful(cluster: Cluster, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let PostgreSQL answer commits before they are durable, and the server accept that.

    Nobody writes the log of the database out: the process that does is held.
    """
    patch.setattr(durability, "require", lambda *_, **__: None)
    with ExitStack() as undo:
        undo.enter_context(cluster.set("synchronous_commit", "off"))
        undo.enter_context(cluster.set("bgwriter_lru_maxpages", "0"))
        yield


def hold_the_log_writer(cluster: Cluster) -> None:
    """Let the process that writes out what was committed sleep until it is ended."""
    with cluster.administered() as connection:
        row = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'"
        ).fetchone()
    assert row is not None
    os.kill(row[0], signal.SIGSTOP)


def answered_then_stopped(home: Path, cluster: Cluster) -> tuple[Aftermath, list[Reported]]:
    """Make some releases, and stop immediately after the last answer."""
    with opened(home) as server:
        aftermath = Aftermath(server)
        hold_the_log_writer(cluster)
        told = [tell(server, ask) for ask in asks(server, NAMES[0], range(1, 6))]
        cluster.stop()
    cluster.start()
    return aftermath, told


def tell(server: Server, ask: Ask) -> Reported:
    return Reported.of(analyst(0), ask, answer(server, analyst(0), ask))


def test_commits_that_are_not_synchronous_lose_what_was_answered(
    home: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with forgetful(cluster, monkeypatch):
        aftermath, told = answered_then_stopped(home, cluster)
        with opened(home) as server:
            complaints = aftermath.complaints(server, told)
            assert f"release {told[-1].release} is lost" in complaints
            # And it is known: nothing is drawn a second time.
            assert server.sequencer.suspended in complaints


def test_commits_that_are_synchronous_lose_nothing_however_late_the_log_is_written(
    home: Path, cluster: Cluster
) -> None:
    aftermath, told = answered_then_stopped(home, cluster)
    with opened(home) as server:
        assert aftermath.final_complaints(server, told) == []
