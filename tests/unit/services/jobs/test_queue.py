"""Test the queue of jobs on PostgreSQL: who takes what, and what a place in it reveals."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlmodel import Session
from tests.unit.worlds import World

from penstock.api.metrics import Health
from penstock.persistence.postgresql.job_queue import QueueState
from penstock.services.access.principals import OPERATOR
from penstock.services.jobs import jobs, queue
from penstock.services.jobs.jobs import WAITING, JobRequest
from penstock.services.people import users
from penstock.services.schemas.people.users import UserSpec

pytestmark = pytest.mark.only("postgresql")

REQUEST = JobRequest("kind", "key", b"x" * 32, fields="a secret", subject="counts")


def handed(world: World, over: Callable[[Session, str], None] = queue.hand_over) -> str:
    begun = jobs.start_job(world.server, world.person("ada"), REQUEST, "there", handed_over=over)
    return begun.piece.id


def in_queue(world: World) -> tuple[int, int]:
    state = queue.state(world.server)
    assert state is not None
    return state.waiting, state.taken


def taken_by_a_worker(world: World) -> None:
    """Take what waits as the library does, by a worker that is dead at once."""
    with world.server.database.write_own_rows() as session:
        session.connection().execute(
            text(
                "SELECT penstock_queue.procrastinate_fetch_job_v2(NULL,"
                " (SELECT worker_id FROM penstock_queue.procrastinate_register_worker_v1()))"
            )
        )
        session.connection().execute(text("DELETE FROM penstock_queue.procrastinate_workers"))


def test_a_job_and_its_place_are_stored_together_or_not_at_all(world: World) -> None:
    def stopped(session: Session, piece: str) -> None:
        queue.hand_over(session, piece)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        handed(world, stopped)
    assert in_queue(world) == (0, 0)
    assert jobs.listing(world.server, world.person("ada")) == []
    piece = handed(world)
    assert in_queue(world) == (1, 0)
    assert jobs.show(world.server, world.person("ada"), piece).stage == WAITING


def test_a_place_in_the_queue_holds_the_jobs_number_and_nothing_else(world: World) -> None:
    piece = handed(world)
    with world.server.database.read() as session:
        rows = session.connection().execute(
            text("SELECT args, lock, task_name, queue_name FROM penstock_queue.procrastinate_jobs")
        )
        assert [tuple(row) for row in rows] == [({"piece": piece}, None, "penstock.job", "jobs")]


def test_a_job_is_claimed_once_until_its_worker_falls_silent(world: World) -> None:
    piece = handed(world)
    first = queue.claim(world.server, piece, "here")
    assert first is not None
    assert (first.attempt, first.kind, first.fields) == (1, "kind", "a secret")
    assert (first.principal.name, first.principal.roles) == ("ada", frozenset({"admin"}))
    assert queue.claim(world.server, piece, "elsewhere") is None
    world.clock.forward(minutes=1)
    second = queue.claim(world.server, piece, "elsewhere")
    assert second is not None
    assert second.attempt == 2
    # What the first one still reports is ignored.
    jobs.finish(world.server, piece, 1, "wrong")
    assert jobs.show(world.server, world.person("ada"), piece).state == "running"
    jobs.finish(world.server, piece, 2, "right")
    assert queue.claim(world.server, piece, "here") is None
    assert queue.claim(world.server, "of nobody", "here") is None


def test_whoever_was_disabled_in_the_meantime_acts_without_a_role(world: World) -> None:
    piece = handed(world)
    users.create(world.server, OPERATOR, UserSpec(name="root", roles=["admin"]))
    users.disable(world.server, OPERATOR, "ada")
    claimed = queue.claim(world.server, piece, "here")
    assert claimed is not None
    assert claimed.principal.roles == frozenset()


def test_a_waiting_job_is_kept_by_sweeps_and_gets_a_place_that_was_lost(world: World) -> None:
    piece = handed(world)
    world.clock.forward(seconds=50)
    queue.sweep(world.server)
    world.clock.forward(seconds=50)
    assert jobs.show(world.server, world.person("ada"), piece).state == "running"
    with world.server.database.write_own_rows() as session:
        session.connection().execute(text("DELETE FROM penstock_queue.procrastinate_jobs"))
    queue.sweep(world.server)
    assert in_queue(world) == (1, 0)
    world.clock.forward(minutes=1)
    assert jobs.show(world.server, world.person("ada"), piece).state == "interrupted"


def test_what_a_dead_worker_took_is_given_back_when_its_heartbeat_is_old(world: World) -> None:
    piece = handed(world)
    taken_by_a_worker(world)
    assert queue.claim(world.server, piece, "there") is not None
    queue.sweep(world.server)
    assert in_queue(world) == (0, 1)
    world.clock.forward(minutes=1)
    queue.sweep(world.server)
    assert in_queue(world) == (1, 0)
    taken_by_a_worker(world)
    claimed = queue.claim(world.server, piece, "here")
    assert claimed is not None
    jobs.finish(world.server, piece, claimed.attempt, "done")
    queue.sweep(world.server)
    assert in_queue(world) == (0, 0)


def test_without_a_worker_nobody_serves_the_queue(world: World) -> None:
    assert not queue.is_served(world.server)
    with world.server.database.write_own_rows() as session:
        session.connection().execute(
            text("SELECT * FROM penstock_queue.procrastinate_register_worker_v1()")
        )
    assert queue.is_served(world.server)


def test_its_state_is_counted_and_said(world: World) -> None:
    handed(world)
    gauges = {name: value for name, _, value in Health(world.server).queue() or ()}
    oldest = gauges.pop("penstock_jobs_oldest_waiting_seconds")
    assert oldest >= 0
    assert gauges == {
        "penstock_workers": 0,
        "penstock_jobs_waiting": 1,
        "penstock_jobs_taken": 0,
    }
    at = world.clock()
    for state, words in (
        (
            QueueState(0, 0, 0, None),
            "no worker, so jobs run in the server; 0 jobs waiting, 0 taken",
        ),
        (QueueState(1, 1, 2, at), "1 worker; 1 job waiting, the oldest for 60 s, 2 taken"),
        (QueueState(3, 2, 0, at), "3 workers; 2 jobs waiting, the oldest for 60 s, 0 taken"),
    ):
        assert queue.in_words(state, at + timedelta(minutes=1)) == words
