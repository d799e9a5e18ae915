"""Test that a primary can be lost at any moment, and its standby promoted, under every write."""

import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.databases.cluster import OWNER
from tests.databases.homes import Homes
from tests.databases.replication import Pair, launch
from tests.faults import processes, reports
from tests.faults.figures import amounts
from tests.faults.findings import examine
from tests.faults.postgresql import load
from tests.faults.postgresql.diaries import NAMES, READERS, Diary, wait_for_more, working_on
from tests.faults.postgresql.load import Story
from tests.faults.reports import Reported
from tests.faults.stage import Ask, analyst, answer, asks, build, open_home, opened, write_urls

from penstock.errors import Suspended
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import restores
from penstock.services.context import Server
from penstock.services.verification.verification import verify

pytestmark = pytest.mark.only("postgresql")

DONE_BETWEEN = 10
"""Things that each process does before the primary is lost again."""

KNOWN, LOST = range(1, 4), range(4, 7)
"""Rungs that are told before the standby is cut off, and after it."""


@dataclass(frozen=True)
class Deployment:
    """Hold two servers, and the home that lives in them."""

    pair: Pair
    home: Path


@pytest.fixture
def pair(postgresql_programs: Path) -> Iterator[Pair]:
    running = launch(postgresql_programs)
    yield running
    running.remove()


Deploy = Callable[[Callable[[Path], None], str], Deployment]


@pytest.fixture
def deploy(pair: Pair, tmp_path: Path) -> Deploy:
    """Return ``deploy(furnish, replicas)``, with a standby that has what ``furnish`` made."""

    def deployed(furnish: Callable[[Path], None], replicas: str) -> Deployment:
        home = tmp_path / "home"
        database = Homes(pair.primary).bare(home).database or ""
        urls = {"database_url": pair.url(database)}
        urls["migration_database_url"] = pair.url(database, OWNER)
        write_urls(home, urls)
        furnish(home)
        if replicas == "required":
            # Before the standby is made, which has the primary's settings: it may become one.
            pair.confirm()
            write_urls(home, {**urls, "replicas": replicas})
        pair.follow()
        return Deployment(pair, home)

    return deployed


def with_stream(home: Path) -> None:
    build(home, analysts=READERS, names=NAMES)
    with opened(home) as server:
        load.open_stream(server)


def with_one_query(home: Path) -> None:
    build(home, analysts=1, names=NAMES[:1])


def tell(server: Server, ask: Ask) -> Reported:
    return Reported.of(analyst(0), ask, answer(server, analyst(0), ask))


@pytest.mark.parametrize("times", amounts("FAULTS_FAIL_OVERS", few=1, many=6))
def test_what_was_answered_before_a_fail_over_is_stored_proven_and_told_again(
    deploy: Deploy, tmp_path: Path, times: int
) -> None:
    deployment = deploy(with_stream, "required")
    working = working_on(deployment.home, tmp_path)
    for _ in range(times):
        wait_for_more(working, "done", DONE_BETWEEN)
        deployment.pair.fail_over(signal.SIGQUIT)
        # Nothing is confirmed before there is another standby.
        deployment.pair.follow()
    wait_for_more(working, "done", 1)
    Diary(tmp_path, "any").end()
    processes.finish([worker for worker, _ in working])
    answers = [
        told for number in range(READERS) for told in reports.read(tmp_path / f"told-{number}")
    ]
    pushed = Diary(tmp_path, "pusher").entries()
    with opened(deployment.home) as server:
        Story(answers).require_true(server)
        totals = load.totals(server)
        assert all(totals[first - 1 :][: len(told)] == told for first, told in pushed)
        for name in set(Diary(tmp_path, "registrar").entries()):
            (ask,) = asks(server, name, [1])
            assert answer(server, analyst(0), ask).first


def lost(deployment: Deployment, server: Server) -> tuple[list[Reported], list[Reported]]:
    """Tell levels before and after the standby is cut off, and promote it."""
    known = [tell(server, ask) for ask in asks(server, NAMES[0], KNOWN)]
    deployment.pair.part()
    more = [tell(server, ask) for ask in asks(server, NAMES[0], LOST)]
    deployment.pair.fail_over()
    return known, more


def test_a_standby_that_no_commit_waited_for_has_lost_answers_and_nothing_is_drawn_from_it(
    deploy: Deploy,
) -> None:
    """The broken variant: PENSTOCK_REPLICAS=none, and a standby that is behind."""
    deployment = deploy(with_one_query, "none")
    with opened(deployment.home) as server:
        known, more = lost(deployment, server)
    with opened(deployment.home) as server:
        assert examine(server, [*known, *more], is_traced=False).lost == len(more)
        for told in more:
            with pytest.raises(Suspended, match="acknowledge-restore"):
                answer(server, analyst(0), told.ask)
        assert [tell(server, told.ask) for told in known] == known
        restores.acknowledge(server, OPERATOR)
        assert server.sequencer.suspended is None
        assert [tell(server, told.ask) for told in known] == known
        for told in more:
            with pytest.raises(Exception, match=r"frozen|restore"):
                answer(server, analyst(0), told.ask)
        assert verify(server, OPERATOR).problems == []


def test_a_running_server_knows_the_standby_for_another_server_before_it_writes(
    deploy: Deploy,
) -> None:
    deployment = deploy(with_one_query, "none")
    server = open_home(deployment.home)
    known, _ = lost(deployment, server)
    load.attempt(lambda: tell(server, known[0].ask))  # on the connection that was lost
    assert tell(server, known[0].ask) == known[0]
    assert server.sequencer.suspended is not None
    server.database.close()
