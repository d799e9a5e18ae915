"""Test occurrences: each is carried out once, or refused as a whole, and both are in the log."""

import json
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select
from tests.unit.services.datasets.stays import ROWS
from tests.unit.services.schedules.planning import (
    BUDGETS,
    file_of,
    runner,
    shown,
    spec_of,
    stopped_behind_the_version,
    switched_on,
    with_stays,
)
from tests.unit.worlds import World, cut_off_before_the_anchor

from penstock.errors import DatabaseUnavailable, Forbidden
from penstock.persistence.tables import Charge, Leaf, Query, Release
from penstock.persistence.tables.jobs import Occurrence, Schedule
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.jobs.runner import JobFunction, Run
from penstock.services.people import users
from penstock.services.queries import registration
from penstock.services.schedules import occurrences, pricing, schedules
from penstock.services.schedules.templates import requests_of
from penstock.services.schemas.people.users import UserChange, UserSpec
from penstock.services.schemas.queries import VersionRequest

PRICED = "penstock.services.schedules.occurrences.priced"


@pytest.fixture
def planned(world: World, tmp_path: Path) -> World:
    return with_stays(world, tmp_path)


def stored(world: World) -> tuple[int, int, int]:
    with world.server.database.read() as session:
        counts = [len(session.exec(select(table)).all()) for table in (Query, Charge, Release)]
    return counts[0], counts[1], counts[2]


def look(world: World) -> None:
    occurrences.look(world.server, runner(world))


def logged(world: World) -> list[tuple[str, str, str]]:
    """Return who did what of a schedule, by the log."""
    with world.server.database.read() as session:
        rows = session.exec(select(Leaf).where(col(Leaf.kind) == "schedule")).all()
    read = [json.loads(row.bytes) for row in rows]
    return [(leaf["actor"], leaf["schedule"], leaf["act"]) for leaf in read]


def test_each_night_a_version_and_its_queries_are_registered_once(
    planned: World, tmp_path: Path
) -> None:
    switched_on(planned, tmp_path)
    look(planned)
    assert shown(planned).occurrences == []
    for day in (1, 2):
        file_of(tmp_path, day)
        planned.clock.forward(hours=3 if day == 1 else 24)
        for _ in range(3):
            look(planned)
    states = [(each.state, each.version) for each in shown(planned).occurrences]
    assert states == [("done", 3), ("done", 2)]
    # Two queries, charged to three tiers each, and an anchor for each.
    assert stored(planned) == (2, 6, 2)
    assert logged(planned) == [
        ("ada", "nightly", act) for act in ("create", "switch_on", "due", "done", "due", "done")
    ]


def test_an_occurrence_that_is_stopped_in_the_middle_is_gone_on_with(
    planned: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    switched_on(planned, tmp_path)
    begun = due_at_three(planned, tmp_path)
    cut_off_before_the_anchor(monkeypatch, lambda: begun(_run()))
    assert stored(planned) == (1, 3, 0)
    begun(_run())
    assert stored(planned) == (1, 3, 1)
    (done,) = shown(planned).occurrences
    assert (done.state, done.version) == ("done", 2)
    begun(_run())
    assert stored(planned) == (1, 3, 1)


def _run() -> Run:
    return Run("", 1)


def test_a_version_counts_though_its_occurrence_was_stopped_and_then_refused(
    planned: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    switched_on(planned, tmp_path, total={"public": 1.0, "internal": 8.0})
    users.create(planned.server, OPERATOR, UserSpec(name="root", roles=["admin"]))
    begun = due_at_three(planned, tmp_path)
    stopped_behind_the_version(monkeypatch, lambda: begun(_run()))
    users.change(planned.server, OPERATOR, "ada", UserChange(roles=["auditor"]))
    with pytest.raises(Forbidden):
        begun(_run())
    look(planned)
    root = planned.person("root")
    assert schedules.switch(planned.server, root, "nightly", on=True).on
    file_of(tmp_path, 2)
    planned.clock.forward(hours=24)
    look(planned)
    view = schedules.show(planned.server, root, "nightly")
    assert [(each.state, each.version) for each in view.occurrences] == [
        ("refused", None),
        ("refused", 2),
    ]
    assert "no room for another" in (view.reason or "")
    assert datasets.show(planned.server, OPERATOR, "stays").version == 2


def test_an_occurrence_charges_no_version_that_somebody_else_opened(
    planned: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    switched_on(planned, tmp_path)
    begun = due_at_three(planned, tmp_path)
    stopped_behind_the_version(monkeypatch, lambda: begun(_run()))
    file_of(tmp_path, 5)
    by_hand = requests_of(spec_of(tmp_path), planned.clock() + timedelta(days=4)).version
    datasets.add_version(planned.server, OPERATOR, "stays", by_hand)
    begun(_run())
    (refused,) = shown(planned).occurrences
    assert (refused.state, refused.version) == ("refused", 2)
    assert "Version 3" in (refused.problem or "")
    assert stored(planned) == (0, 0, 0)


def test_a_file_that_is_not_there_leaves_no_version_behind(planned: World, tmp_path: Path) -> None:
    switched_on(planned, tmp_path)
    planned.clock.forward(hours=3)
    look(planned)
    (refused,) = shown(planned).occurrences
    assert (refused.state, refused.version) == ("refused", None)


def due_at_three(world: World, folder: Path) -> JobFunction:
    """Return the job of the first night, whose file is there."""
    file_of(folder, 1)
    world.clock.forward(hours=3)
    with world.server.database.write() as session:
        session.add(Occurrence(schedule_id=1, due_at=world.clock(), state="pending", id=1))
        session.get_one(Schedule, 1).next_at = world.clock() + timedelta(days=1)
    return occurrences.act(world.server, 1)


def test_what_the_budget_does_not_allow_is_refused_as_a_whole_and_switches_off(
    planned: World, tmp_path: Path
) -> None:
    switched_on(planned, tmp_path, total={"public": 1.0, "internal": 8.0})
    for day in (1, 2):
        file_of(tmp_path, day)
        planned.clock.forward(hours=3 if day == 1 else 24)
        look(planned)
    view = shown(planned)
    assert [each.state for each in view.occurrences] == ["refused", "done"]
    assert not view.on
    assert "no room for another" in (view.reason or "")
    assert stored(planned) == (1, 3, 1)
    assert datasets.show(planned.server, OPERATOR, "stays").version == 2
    planned.clock.forward(hours=24)
    look(planned)
    assert len(shown(planned).occurrences) == 2


def test_a_query_that_does_not_fit_leaves_no_version_behind(planned: World, tmp_path: Path) -> None:
    (query,) = spec_of(tmp_path).queries
    costly = [{**query, "name": f"{number}-{{date}}"} for number in range(5)]
    switched_on(planned, tmp_path, queries=costly, refused="go_on")
    file_of(tmp_path, 1)
    planned.clock.forward(hours=3)
    look(planned)
    view = shown(planned)
    assert (view.on, view.occurrences[0].state) == (True, "refused")
    assert "budget" in (view.occurrences[0].problem or "")
    assert stored(planned) == (0, 0, 0)
    assert datasets.show(planned.server, OPERATOR, "stays").version == 1


@pytest.mark.parametrize(("missed", "newest"), [("late", "done"), ("skip", "skipped")])
def test_after_a_gap_the_newest_is_carried_out_late_or_all_are_skipped(
    planned: World, tmp_path: Path, missed: str, newest: str
) -> None:
    switched_on(planned, tmp_path, missed=missed)
    file_of(tmp_path, 3)
    planned.clock.forward(hours=3 + 48 + 5)
    look(planned)
    states = [each.state for each in shown(planned).occurrences]
    assert states == [newest, "skipped", "skipped"]
    assert logged(planned)[2][2] == "missed"


def test_whoever_is_no_admin_any_more_registers_nothing(planned: World, tmp_path: Path) -> None:
    switched_on(planned, tmp_path)
    users.create(planned.server, OPERATOR, UserSpec(name="root", roles=["admin"]))
    users.change(planned.server, OPERATOR, "ada", UserChange(roles=["auditor"]))
    file_of(tmp_path, 1)
    planned.clock.forward(hours=3)
    look(planned)
    view = schedules.show(planned.server, OPERATOR, "nightly")
    assert (view.on, view.occurrences[0].state) == (False, "refused")
    # Before anything is looked at: the price of new data is not for them to know either.
    assert "is no admin any more" in (view.occurrences[0].problem or "")
    assert stored(planned) == (0, 0, 0)


def test_who_looks_goes_on_after_errors_and_tells_those_that_nobody_expects(
    planned: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, told = threading.Event(), list[tuple[str, BaseException]]()
    results: list[Exception] = [DatabaseUnavailable("It is away."), KeyError("made on purpose")]

    def look_or_fail(*_: object) -> None:
        if not results:
            ended.set()
            return
        raise results.pop(0)

    monkeypatch.setattr(occurrences, "LOOK_SECONDS", 0)
    monkeypatch.setattr(occurrences, "look", look_or_fail)
    looking = (planned.server, runner(planned), lambda *one: told.append(one), ended)
    occurrences.look_on(*looking)
    assert [(where, type(error)) for where, error in told] == [("schedules", KeyError)]
    occurrences.look_on(*looking)  # which has ended: nothing is looked at


def pending(world: World, folder: Path, *days: int) -> None:
    """Store occurrences that are due and were not begun, one for each day, with its file."""
    for number, day in enumerate(days, 1):
        file_of(folder, day)
        at = datetime(2026, 1, day, 3, tzinfo=UTC)
        with world.server.database.write() as session:
            session.add(Occurrence(schedule_id=1, due_at=at, state="pending", id=number))


def test_occurrences_at_once_open_no_more_versions_than_the_total(
    planned: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second opens its version after the first found that there was room, and before it did."""
    switched_on(planned, tmp_path, total={"public": 1.0, "internal": 8.0})
    pending(planned, tmp_path, 1, 2)
    price = pricing.priced

    def priced(*given: Any) -> Any:
        monkeypatch.setattr(PRICED, price)
        occurrences.act(planned.server, 2)(_run())
        return price(*given)

    monkeypatch.setattr(PRICED, priced)
    occurrences.act(planned.server, 1)(_run())
    states = [(each.state, each.version) for each in shown(planned).occurrences]
    assert states == [("done", 2), ("refused", None)]
    assert datasets.show(planned.server, OPERATOR, "stays").version == 2


def test_an_occurrence_that_two_processes_carry_out_opens_one_version(
    planned: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    switched_on(planned, tmp_path)
    pending(planned, tmp_path, 1)
    price = pricing.priced

    def priced(*given: Any) -> Any:
        monkeypatch.setattr(PRICED, price)
        occurrences.act(planned.server, 1)(_run())
        # The twin would be refused for its file; another version of a table would not be.
        monkeypatch.setattr("penstock.services.datasets.datasets.refuse_twin", lambda *_: None)
        return price(*given)

    monkeypatch.setattr(PRICED, priced)
    with pytest.raises(DatabaseUnavailable):
        occurrences.act(planned.server, 1)(_run())
    assert [each.state for each in shown(planned).occurrences] == ["done"]
    assert datasets.show(planned.server, OPERATOR, "stays").version == 2


def test_queries_are_charged_to_no_version_that_others_opened(
    planned: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    switched_on(planned, tmp_path)
    pending(planned, tmp_path, 1)
    file_of(tmp_path, 2)
    register = registration.register

    def registered_late(*given: Any, **more: Any) -> Any:
        source = {"engine": "duckdb", "uri": str(tmp_path / "stays-2026-01-02.csv")}
        request = VersionRequest.model_validate({"source": source, "budgets": BUDGETS})
        datasets.add_version(planned.server, OPERATOR, "stays", request)
        return register(*given, **more)

    monkeypatch.setattr(registration, "register", registered_late)
    occurrences.act(planned.server, 1)(_run())
    (refused,) = shown(planned).occurrences
    assert (refused.state, refused.version) == ("refused", 2)
    assert "Version 3" in (refused.problem or "")
    assert stored(planned) == (0, 0, 0)


def test_occurrences_of_one_schedule_are_carried_out_one_after_another(
    planned: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    switched_on(planned, tmp_path)
    pending(planned, tmp_path, 1, 2)
    begun: list[int] = []
    monkeypatch.setattr(
        occurrences, "_begin", lambda _server, _runner, number: begun.append(number)
    )
    look(planned)
    assert begun == [1]


def test_a_name_that_is_taken_leaves_no_version_behind(planned: World, tmp_path: Path) -> None:
    """A second occurrence on one day has the names of the first."""
    switched_on(planned, tmp_path, cron="0 3,4 * * *")
    file_of(tmp_path, 1)
    planned.clock.forward(hours=3)
    look(planned)
    (tmp_path / "stays-2026-01-01.csv").write_text(ROWS)
    planned.clock.forward(hours=1)
    look(planned)
    states = [(each.state, each.version) for each in shown(planned).occurrences]
    assert states == [("refused", None), ("done", 2)]
    assert datasets.show(planned.server, OPERATOR, "stays").version == 2
