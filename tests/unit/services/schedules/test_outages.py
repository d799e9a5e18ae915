"""Test occurrences whose engine is away for a while, and schedules that cannot begin."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from croniter import croniter
from sqlmodel import col, select
from tests.unit.services.datasets.stays import ROWS
from tests.unit.services.schedules.planning import (
    file_of,
    runner,
    shown,
    spec_of,
    switched_on,
    with_stays,
)
from tests.unit.services.verification.tampered import alter
from tests.unit.worlds import Restore, World

from penstock.errors import Conflict, IntegrityViolation, Unavailable
from penstock.persistence.tables import Leaf, Occurrence, Release
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import restores
from penstock.services.people import users
from penstock.services.queries import registration
from penstock.services.schedules import occurrences, schedules
from penstock.services.schedules.occurrences import MOST_MISSED
from penstock.services.schemas.people.users import UserSpec
from penstock.services.verification.verification import verify
from penstock.transparency_log.leaves import timestamp


@pytest.fixture
def planned(world: World, tmp_path: Path) -> World:
    return with_stays(world, tmp_path)


def test_a_year_of_minutes_is_counted_before_others_wait_and_not_one_by_one(
    planned: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    switched_on(planned, tmp_path, cron="* * * * *")
    database, steps, waiting = planned.server.database, list[bool](), list[None]()
    get_next, write = croniter.get_next, database.write

    def counted(*given: Any, **more: Any) -> Any:
        steps.append(bool(waiting))
        return get_next(*given, **more)

    @contextmanager
    def keeping_others_waiting(**more: Any) -> Iterator[Any]:
        with write(**more) as session:
            waiting.append(None)
            try:
                yield session
            finally:
                waiting.pop()

    monkeypatch.setattr(croniter, "get_next", counted)
    monkeypatch.setattr(type(database), "write", lambda _, **more: keeping_others_waiting(**more))
    planned.clock.forward(hours=365 * 24 + 2)
    occurrences.look(planned.server, runner(planned))
    assert (len(steps) < 10_000, any(steps)) == (True, False)
    with planned.server.database.read() as session:
        stored = session.exec(select(Occurrence)).all()
        rows = session.exec(select(Leaf).where(col(Leaf.kind) == "schedule")).all()
    # The newest is due just now, and has no file.
    assert [each.state for each in stored] == ["skipped"] * (MOST_MISSED - 1) + ["refused"]
    (missed,) = [leaf for row in rows if (leaf := json.loads(row.bytes))["act"] == "missed"]
    assert (missed["occurrences"], missed["skipped"]) == (525_720, MOST_MISSED - 1)
    assert missed["next"] == timestamp(planned.clock() + timedelta(minutes=1))
    assert verify(planned.server, OPERATOR).problems == []


def anchors(world: World) -> int:
    with world.server.database.read() as session:
        return len(session.exec(select(Release)).all())


def away_at(monkeypatch: pytest.MonkeyPatch, name: str, times: int) -> list[str]:
    """Let the engine be away when a query is registered, so many times; return who was told so."""
    told: list[str] = []
    original = registration.register

    def register(server: Any, principal: Any, request: Any, **more: Any) -> Any:
        if request.name.startswith(name) and len(told) < times:
            told.append(request.name)
            raise Unavailable("The engine is away.")
        return original(server, principal, request, **more)

    monkeypatch.setattr(registration, "register", register)
    return told


def test_an_engine_that_is_away_for_a_while_ends_no_occurrence(
    planned: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (query,) = spec_of(tmp_path).queries
    levels = {"public": {"epsilon": 0.1}, "internal": {"epsilon": 1.0}}
    names = ("first-{date}", "second-{date}")
    queries = [{**query, "name": name, "levels": levels} for name in names]
    queries[1]["group_by"] = []
    switched_on(planned, tmp_path, queries=queries)
    told = away_at(monkeypatch, "second", 2)
    file_of(tmp_path, 1)
    planned.clock.forward(hours=3)
    for _ in range(2):
        occurrences.look(planned.server, runner(planned))
        (pending,) = shown(planned).occurrences
        assert (pending.state, pending.version) == ("pending", 2)
        planned.clock.forward(minutes=1)
    occurrences.look(planned.server, runner(planned))
    (done,) = shown(planned).occurrences
    assert (done.state, done.version, len(told)) == ("done", 2, 2)
    assert anchors(planned) == 2
    assert shown(planned).on


def test_an_engine_that_is_away_is_asked_less_and_less_often_however_many_look(
    planned: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    switched_on(planned, tmp_path)
    told = away_at(monkeypatch, "by_town", 1000)
    file_of(tmp_path, 1)
    planned.clock.forward(hours=3)
    asked = []
    for _ in range(60):
        for _ in range(3):  # processes
            occurrences.look(planned.server, runner(planned))
        asked.append(len(told))
        planned.clock.forward(minutes=1)
    # At once, a pause of 20, 40, 80, 160 and 320 seconds, then every ten minutes.
    assert asked[:12] == [1, 2, 3, 3, 4, 4, 4, 5, 5, 5, 5, 5]
    assert asked[-1] == 10
    assert all(asked[minute + 10] - asked[minute] == 1 for minute in range(10, 50))
    planned.clock.forward(minutes=-30)  # after it had gone wrong, it is corrected
    occurrences.look(planned.server, runner(planned))
    assert len(told) == 11


def test_an_engine_that_stays_away_ends_an_occurrence_at_last(
    planned: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    switched_on(planned, tmp_path)
    told = away_at(monkeypatch, "by_town", 100)
    file_of(tmp_path, 1)
    planned.clock.forward(hours=3)
    for _ in range(7):
        (state, *_) = [each.state for each in shown(planned).occurrences] or ["pending"]
        assert state == "pending"
        occurrences.look(planned.server, runner(planned))
        planned.clock.forward(hours=1)
    (refused,) = shown(planned).occurrences
    assert (refused.state, refused.problem, len(told)) == ("refused", "The engine is away.", 7)


@pytest.mark.parametrize("place", ["_begin", "_store_due"])
def test_a_schedule_that_cannot_begin_stops_no_other(
    planned: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    switched_on(planned, tmp_path)
    ada, server = planned.person("ada"), planned.server
    query = {**spec_of(tmp_path).queries[0], "name": "other-{date}", "group_by": []}
    version = {**spec_of(tmp_path).version}
    version["source"] = {**version["source"], "uri": str(tmp_path / "more-{date}.csv")}
    other = spec_of(tmp_path, name="other", version=version, queries=[query])
    schedules.create(server, ada, other)
    schedules.switch(server, ada, "other", on=True)
    (tmp_path / "more-2026-01-01.csv").write_text(ROWS + "r,south,2\n")
    planned.clock.forward(hours=3)
    original = getattr(occurrences, place)

    def first_fails(*given: Any) -> None:
        if given[-1] == 1:
            raise IntegrityViolation("A row was altered.")
        original(*given)

    monkeypatch.setattr(occurrences, place, first_fails)
    with pytest.raises(IntegrityViolation):
        occurrences.look(server, runner(planned))
    (done,) = schedules.show(server, ada, "other").occurrences
    assert done.state == "done"


@pytest.mark.only("sqlite")
def test_a_row_that_was_altered_stops_no_other_schedule(planned: World, tmp_path: Path) -> None:
    switched_on(planned, tmp_path)
    ada, server = planned.person("ada"), planned.server
    schedules.create(server, ada, spec_of(tmp_path, name="other"))
    schedules.switch(server, ada, "other", on=True)
    alter(planned, "UPDATE schedule SET spec = replace(spec, '24.0', '99.0') WHERE id = 1")
    file_of(tmp_path, 1)
    planned.clock.forward(hours=3)
    for _ in range(2):
        with pytest.raises(IntegrityViolation):
            occurrences.look(server, runner(planned))
    (done,) = schedules.show(server, ada, "other").occurrences
    assert done.state == "done"


def under_way(world: World, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an occurrence be pending, with its version and without its query."""
    switched_on(world, folder)
    away_at(monkeypatch, "by_town", 1)
    file_of(folder, 1)
    world.clock.forward(hours=3)
    occurrences.look(world.server, runner(world))
    assert [each.state for each in shown(world).occurrences] == ["pending"]


def test_what_is_under_way_for_one_admin_is_not_taken_over_by_another(
    planned: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_way(planned, tmp_path, monkeypatch)
    users.create(planned.server, OPERATOR, UserSpec(name="zoe", roles=["admin"]))
    zoe, ada = planned.person("zoe"), planned.person("ada")
    schedules.switch(planned.server, zoe, "nightly", on=False)
    with pytest.raises(Conflict, match="is under way for ada"):
        schedules.switch(planned.server, zoe, "nightly", on=True)
    assert schedules.switch(planned.server, ada, "nightly", on=True).by == "ada"
    planned.clock.forward(minutes=1)
    occurrences.look(planned.server, runner(planned))
    assert [each.state for each in shown(planned).occurrences] == ["done"]
    schedules.switch(planned.server, zoe, "nightly", on=False)
    assert schedules.switch(planned.server, zoe, "nightly", on=True).by == "zoe"


def test_a_schedule_is_not_removed_while_an_older_occurrence_is_under_way(
    planned: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_way(planned, tmp_path, monkeypatch)
    with planned.server.database.write() as session:
        for day in range(schedules.MOST_SHOWN + 1):
            due = planned.clock() + timedelta(days=day + 1)
            row = Occurrence(schedule_id=1, due_at=due, state="skipped", problem="late")
            row.finished_at = due
            session.add(row)
    ada = planned.person("ada")
    schedules.switch(planned.server, ada, "nightly", on=False)
    with pytest.raises(Conflict, match="is under way; wait"):
        schedules.remove(planned.server, ada, "nightly")


@pytest.fixture
def scheduled(visits: World, tmp_path: Path) -> World:
    with_stays(visits, tmp_path)
    switched_on(visits, tmp_path)
    return visits


def test_after_a_restore_nothing_is_carried_out_again_by_itself(
    scheduled: World, restore: Restore, tmp_path: Path
) -> None:
    """What was drawn since is lost; the same file would be drawn from a second time."""
    before = anchors(scheduled)
    file_of(tmp_path, 1)
    scheduled.clock.forward(hours=3)
    occurrences.look(scheduled.server, runner(scheduled))
    assert anchors(scheduled) == before + 1
    old = restore()
    restores.acknowledge(old.server, OPERATOR)
    for _ in range(2):
        occurrences.look(old.server, runner(old))
    view = shown(old)
    assert (view.on, view.occurrences, anchors(old)) == (False, [], before)
    assert "was restored to an older state" in (view.reason or "")
    assert verify(old.server, OPERATOR).problems == []


def test_after_a_restore_what_was_under_way_is_refused(
    planned: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_way(planned, tmp_path, monkeypatch)
    with planned.server.database.write() as session:
        restores._stop_schedules(session, OPERATOR, planned.clock())
    (refused,) = shown(planned).occurrences
    assert (refused.state, refused.version, shown(planned).on) == ("refused", 2, False)
    assert verify(planned.server, OPERATOR).problems == []


@pytest.mark.parametrize(
    ("versions", "epsilon", "total", "above"),
    [(3, 0.1, 0.3, False), (4, 0.1, 0.3, True), (1, 1e-9, 1e-9, False), (7, 0.7, 4.9, False)],
)
def test_a_total_is_compared_as_it_is_written(
    versions: int, epsilon: float, total: float, above: bool
) -> None:
    assert schedules.exceeds(versions, epsilon, total) is above
