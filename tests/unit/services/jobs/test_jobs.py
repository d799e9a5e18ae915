"""Test long work: one row for one press, left and come back to, and finished once."""

from datetime import timedelta

import pytest
from sqlmodel import select
from tests.unit.worlds import World

from penstock.errors import (
    BudgetExhausted,
    Conflict,
    IntegrityViolation,
    InvalidInput,
    NotFound,
    PenstockError,
    Unavailable,
)
from penstock.persistence.tables import Work
from penstock.services.jobs import idempotency, jobs
from penstock.services.jobs.jobs import JobRequest, JobStart, WorkView


def wanted(world: World, key: str = "k", fields: str = "name=x") -> JobRequest:
    print_ = idempotency.fingerprint(world.server, fields.encode())
    return JobRequest("register_query", key, print_, fields, "x")


def begin(world: World, name: str = "ada", key: str = "k", fields: str = "name=x") -> JobStart:
    return jobs.start_job(world.server, world.person(name), wanted(world, key, fields), "here")


def shown(world: World, piece: WorkView, name: str = "ada") -> WorkView:
    return jobs.show(world.server, world.person(name), piece.id)


def test_work_is_begun_once_for_a_key(world: World) -> None:
    first, second = begin(world), begin(world)
    assert (first.fresh, second.fresh) == (True, False)
    assert first.piece == second.piece
    assert first.piece.state == "running"
    assert not first.piece.over


def test_a_key_is_its_owners_alone(world: World) -> None:
    assert begin(world, "ada").piece.id != begin(world, "otto").piece.id


def test_a_key_that_came_with_something_else_is_refused(world: World) -> None:
    piece = begin(world).piece
    with pytest.raises(InvalidInput, match="being worked on"):
        begin(world, fields="name=y")
    jobs.finish(world.server, piece.id, 1, "x")
    with pytest.raises(InvalidInput, match="is done"):
        begin(world, fields="name=y")
    assert begin(world).piece.result == "x"


@pytest.mark.parametrize("key", ["", "k" * 256, "é", "k\x00"])
def test_a_key_that_is_none_is_refused(world: World, key: str) -> None:
    with pytest.raises(InvalidInput):
        begin(world, key=key)


def test_what_is_done_leads_to_its_result(world: World) -> None:
    piece = begin(world).piece
    jobs.beat(world.server, piece.id, 1, "counting", 40)
    found = shown(world, piece)
    assert (found.stage, found.percent) == ("counting", 40)
    world.clock.forward(minutes=5)
    jobs.finish(world.server, piece.id, 1, "visits")
    found = shown(world, piece)
    assert (found.state, found.result, found.problem) == ("done", "visits", None)
    assert found.finished_at == world.clock.now
    assert not begin(world).fresh


@pytest.mark.parametrize(
    "problem",
    [
        BudgetExhausted("Too little is left.", needed=3),
        InvalidInput("Two things.", errors=[("/name", "is taken"), ("/levels/a", "is noisier")]),
        Unavailable("Later."),
    ],
)
def test_a_refusal_says_what_it_would_have_said(world: World, problem: PenstockError) -> None:
    piece = begin(world).piece
    jobs.fail(world.server, piece.id, 1, problem)
    found = shown(world, piece)
    assert found.state == "failed"
    assert found.fields == "name=x"
    assert type(found.problem) is type(problem)
    assert found.problem is not None
    assert found.problem.detail == problem.detail
    if isinstance(problem, InvalidInput):
        assert isinstance(found.problem, InvalidInput)
        assert found.problem.errors == problem.errors


def test_what_was_refused_is_begun_again_with_what_was_mended(world: World) -> None:
    piece = begin(world).piece
    jobs.fail(world.server, piece.id, 1, Conflict("No."))
    begun = begin(world, fields="name=y")
    assert begun.fresh
    assert (begun.piece.id, begun.piece.attempt) == (piece.id, 2)
    assert (begun.piece.fields, begun.piece.problem) == ("name=y", None)


def test_a_refusal_that_was_shown_at_once_is_forgotten(world: World) -> None:
    running = begin(world, key="other").piece
    piece = begin(world).piece
    jobs.fail(world.server, piece.id, 1, Conflict("No."))
    jobs.forget(world.server, world.person("otto"), piece.id)
    assert shown(world, piece).state == "failed"
    for one in (piece, running):
        jobs.forget(world.server, world.person("ada"), one.id)
    assert [one.id for one in jobs.listing(world.server, world.person("ada"))] == [running.id]


def test_work_whose_worker_fell_silent_is_interrupted_and_begun_again(world: World) -> None:
    piece = begin(world).piece
    world.clock.forward(seconds=59)
    jobs.beat(world.server, piece.id, 1, "counting", None)
    world.clock.forward(seconds=59)
    assert shown(world, piece).state == "running"
    world.clock.forward(seconds=1)
    assert shown(world, piece).state == "interrupted"
    begun = begin(world)
    assert begun.fresh
    assert (begun.piece.id, begun.piece.attempt) == (piece.id, 2)
    assert shown(world, piece).state == "running"


def test_whoever_was_replaced_is_not_heard_any_more(world: World) -> None:
    piece = begin(world).piece
    world.clock.forward(minutes=2)
    begin(world)
    jobs.beat(world.server, piece.id, 1, "old", 99)
    jobs.fail(world.server, piece.id, 1, Conflict("No."))
    jobs.finish(world.server, piece.id, 1, "old")
    found = shown(world, piece)
    assert (found.state, found.stage, found.attempt) == ("running", "beginning", 2)
    jobs.finish(world.server, piece.id, 2, "new")
    jobs.beat(world.server, piece.id, 2, "late", 5)
    assert shown(world, piece).result == "new"


def test_others_see_nothing_as_if_there_were_nothing(world: World) -> None:
    piece = begin(world).piece
    for name in ("otto", "pia"):
        with pytest.raises(NotFound) as there:
            shown(world, piece, name)
        with pytest.raises(NotFound) as missing:
            jobs.show(world.server, world.person(name), "absent")
        assert there.value.detail.replace(piece.id, "absent") == missing.value.detail
        assert jobs.listing(world.server, world.person(name)) == []
        assert not jobs.has_any(world.server, world.person(name))
    assert jobs.has_any(world.server, world.person("ada"))


def test_one_person_has_so_many_pieces_under_way(world: World) -> None:
    pieces = [begin(world, key=str(number)).piece for number in range(jobs.MOST_PER_PERSON)]
    with pytest.raises(Conflict, match="the most that one person may have"):
        begin(world, key="more")
    assert not begin(world, key="0").fresh
    assert begin(world, "otto", key="more").fresh
    jobs.finish(world.server, pieces[0].id, 1, "x")
    assert begin(world, key="more").fresh


def test_where_there_is_no_room_nothing_is_begun(world: World) -> None:
    ada = world.person("ada")
    with pytest.raises(Conflict, match="Nothing was started"):
        jobs.start_job(world.server, ada, wanted(world), "here", room=False)
    assert jobs.listing(world.server, ada) == []
    begin(world)
    assert not jobs.start_job(world.server, ada, wanted(world), "here", room=False).fresh


def test_work_is_kept_for_a_week(world: World) -> None:
    piece = begin(world).piece
    world.clock.forward(hours=1)
    jobs.finish(world.server, piece.id, 1, "x")
    world.clock.now += jobs.LIFE - timedelta(seconds=1)
    assert shown(world, piece).state == "done"
    assert jobs.has_any(world.server, world.person("ada"))
    world.clock.forward(seconds=1)
    with pytest.raises(NotFound):
        shown(world, piece)
    assert not jobs.has_any(world.server, world.person("ada"))
    begin(world, "otto")
    with world.server.database.read() as session:
        assert [row.public_id for row in session.exec(select(Work)).all()] != [piece.id]


def test_the_newest_work_stands_first(world: World) -> None:
    begin(world, key="1", fields="name=old")
    begin(world, key="2", fields="name=new")
    found = jobs.listing(world.server, world.person("ada"))
    assert [one.fields for one in found] == ["name=new", "name=old"]


def test_work_that_somebody_changed_in_the_database_is_not_done_in_their_name(
    world: World,
) -> None:
    from tests.unit.services.verification.tampered import alter

    piece = begin(world).piece
    alter(world, "UPDATE work SET fields = 'name=theirs'")
    with pytest.raises(IntegrityViolation):
        shown(world, piece)
    world.clock.forward(minutes=2)
    with pytest.raises(IntegrityViolation):
        begin(world)
