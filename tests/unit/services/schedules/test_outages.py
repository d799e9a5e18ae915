"""Test occurrences whose engine is away for a while, and schedules that cannot begin."""

from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select
from tests.unit.services.datasets.stays import ROWS
from tests.unit.services.schedules.planning import (
    file_of,
    runner,
    shown,
    spec_of,
    switched_on,
    with_stays,
)
from tests.unit.worlds import World

from penstock.errors import IntegrityViolation, Unavailable
from penstock.persistence.tables import Release
from penstock.services.queries import registration
from penstock.services.schedules import occurrences, schedules


@pytest.fixture
def planned(world: World, tmp_path: Path) -> World:
    return with_stays(world, tmp_path)


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
    occurrences.look(planned.server, runner(planned))
    (done,) = shown(planned).occurrences
    assert (done.state, done.version, len(told)) == ("done", 2, 2)
    assert anchors(planned) == 2
    assert shown(planned).on


def test_an_engine_that_stays_away_ends_an_occurrence_at_last(
    planned: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    switched_on(planned, tmp_path)
    monkeypatch.setattr(occurrences, "MOST_ATTEMPTS", 3)
    told = away_at(monkeypatch, "by_town", 100)
    file_of(tmp_path, 1)
    planned.clock.forward(hours=3)
    for _ in range(5):
        occurrences.look(planned.server, runner(planned))
    (refused,) = shown(planned).occurrences
    assert (refused.state, refused.problem, len(told)) == ("refused", "The engine is away.", 3)


def test_a_schedule_that_cannot_begin_stops_no_other(
    planned: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    original = occurrences._begin

    def begin(given: Any, run: Any, number: int) -> None:
        if number == 1:
            raise IntegrityViolation("A row was altered.")
        original(given, run, number)

    monkeypatch.setattr(occurrences, "_begin", begin)
    with pytest.raises(IntegrityViolation):
        occurrences.look(planned.server, runner(planned))
    (done,) = schedules.show(server, ada, "other").occurrences
    assert done.state == "done"
