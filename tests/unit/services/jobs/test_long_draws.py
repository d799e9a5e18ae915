"""Test long vectors that a worker draws while their reader waits: given once, gone on with."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from sqlmodel import select
from tests.databases.homes import PATIENCE
from tests.unit.services.jobs.registering import looking_after_the_first
from tests.unit.worlds import World

from penstock.errors import QuotaUsedUp
from penstock.persistence.chunks.folder import FolderWriting
from penstock.persistence.tables import Grant, Release
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.jobs import jobs, long_draws, queue
from penstock.services.jobs.runner import Run, Runner
from penstock.services.releases.releases import Answer
from penstock.services.schemas.queries import ReleaseRequest
from penstock.services.verification.verification import verify

pytestmark = pytest.mark.only("postgresql")


@pytest.fixture(autouse=True)
def _served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "is_served", lambda _: True)


@contextmanager
def asked(world: World, **wanted: Any) -> Iterator["Future[Answer]"]:
    """Yield the answer that a reader waits for, once its job is in the queue."""
    pia = world.person("pia")
    request = ReleaseRequest.model_validate(wanted)
    with ThreadPoolExecutor(1) as reader:
        answer = reader.submit(long_draws.release, world.server, pia, "long", request)
        pause = threading.Event()
        while not jobs.listing(world.server, pia) and not answer.done():
            pause.wait(0.01)
        yield answer


def worked(world: World, runs: list[Run] | None = None) -> bool:
    """Do what waits, as a worker does; keep its runs."""
    (piece,) = jobs.listing(world.server, world.person("pia"))
    kinds, runner = long_draws.FOR_WORKERS, Runner(world.server, pulse=None, host="a worker")

    def act(claim: queue.Claim, run: Run) -> str:
        if runs is not None:
            runs.append(run)
        return kinds[claim.kind](world.server, claim.principal, claim.fields)(run)

    return runner.work_on(piece.id, act)


def stored(world: World) -> tuple[int, int]:
    """Return how many releases and hand-outs there are."""
    with world.server.database.read() as session:
        return tuple(len(session.exec(select(table)).all()) for table in (Release, Grant))  # type: ignore[return-value]  # of two tables


def test_a_worker_draws_what_its_reader_waits_for_and_hands_it_out_in_their_name(
    long: World,
) -> None:
    before, runs = stored(long), list[Run]()
    with asked(long) as answer:
        assert stored(long) == before
        assert worked(long, runs)
    given = answer.result(PATIENCE)
    assert given.first
    assert [(run.stage, run.percent) for run in runs] == [("drawing", 100)]
    assert stored(long) == (before[0] + 1, before[1] + 1)
    assert jobs.listing(long.server, long.person("pia")) == []
    again = long_draws.release(long.server, long.person("pia"), "long", ReleaseRequest())
    assert not again.first
    assert np.array_equal(np.asarray(again.view.values), np.asarray(given.view.values))
    assert verify(long.server, OPERATOR).problems == []


def test_a_draw_that_is_stopped_between_chunks_is_gone_on_with_and_handed_out_once(
    long: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, put = stored(long), FolderWriting.put

    def stopped(writing: FolderWriting, index: int, content: bytes | memoryview) -> None:
        if index == 1:
            raise KeyboardInterrupt
        put(writing, index, content)

    with asked(long) as answer:
        with monkeypatch.context() as patch:
            patch.setattr(FolderWriting, "put", stopped)
            worked(long)
        assert stored(long) == before
        long.clock.now += timedelta(minutes=2)
        assert worked(long)
    assert answer.result(PATIENCE).first
    assert stored(long) == (before[0] + 1, before[1] + 1)
    assert verify(long.server, OPERATOR).problems == []


def test_the_same_request_twice_at_once_is_drawn_once_and_answered_twice(
    long: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, until_two_wait = stored(long), looking_after_the_first(monkeypatch)
    with asked(long) as one, asked(long) as other:
        until_two_wait()
        assert worked(long)
    first, second = one.result(PATIENCE).view, other.result(PATIENCE).view
    assert first.id == second.id
    assert stored(long) == (before[0] + 1, before[1] + 1)


def test_a_refusal_of_the_worker_is_the_readers(
    long: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise QuotaUsedUp("used up")

    with asked(long) as answer, monkeypatch.context() as patch:
        patch.setattr("penstock.services.releases.releases._drawn_ahead", refuse)
        worked(long)
    with pytest.raises(QuotaUsedUp):
        answer.result(PATIENCE)


def test_who_acts_in_anothers_name_and_who_asks_for_little_draws_at_once(visits: World) -> None:
    given = long_draws.release(visits.server, visits.person("pia"), "visits", ReleaseRequest())
    assert given.first
    acting = acting_as(visits.server, "paul", OPERATOR)
    assert not long_draws._by_worker(visits.server, acting, "visits", ReleaseRequest())
    assert jobs.listing(visits.server, visits.person("pia")) == []
