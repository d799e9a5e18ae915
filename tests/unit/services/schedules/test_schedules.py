"""Test schedules: made off, switched on for an admin, shown, and removed when nothing is left."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.unit.services.schedules.planning import shown, spec_of, switched_on, with_stays
from tests.unit.sites import VISITS
from tests.unit.worlds import World

from penstock.errors import Conflict, Forbidden, InvalidInput, NameTaken, NotFound
from penstock.services.access.principals import OPERATOR
from penstock.services.pagination import Window
from penstock.services.schedules import schedules


@pytest.fixture
def planned(world: World, tmp_path: Path) -> World:
    return with_stays(world, tmp_path)


def test_a_schedule_is_made_off_and_switched_on_and_off(planned: World, tmp_path: Path) -> None:
    ada, server = planned.person("ada"), planned.server
    made = schedules.create(server, ada, spec_of(tmp_path))
    assert (made.on, made.next_at, made.by) == (False, None, "ada")
    with pytest.raises(NameTaken):
        schedules.create(server, ada, spec_of(tmp_path, name="Nightly"))
    on = schedules.switch(server, ada, "nightly", on=True)
    assert on.next_at is not None
    assert (on.next_at - planned.clock()).total_seconds() == 3 * 3600
    with pytest.raises(Conflict, match="switch it off"):
        schedules.remove(server, ada, "nightly")
    assert not schedules.switch(server, OPERATOR, "nightly", on=False).on
    assert [view.name for view in schedules.listing(server, ada, Window()).items] == ["nightly"]
    schedules.remove(server, ada, "nightly")
    with pytest.raises(NotFound):
        shown(planned)


def test_only_the_schedule_that_was_looked_at_is_switched(planned: World, tmp_path: Path) -> None:
    ada, server = planned.person("ada"), planned.server
    seen = schedules.create(server, ada, spec_of(tmp_path))
    schedules.remove(server, ada, "nightly")
    planned.clock.forward(seconds=1)
    made = schedules.create(server, ada, spec_of(tmp_path))
    with pytest.raises(Conflict, match="the one that is meant"):
        schedules.switch(server, ada, "nightly", on=True, made_at=seen.made_at)
    assert not shown(planned).on
    assert schedules.switch(server, ada, "nightly", on=True, made_at=made.made_at).on


def test_it_acts_for_an_admin_who_is_a_user(planned: World, tmp_path: Path) -> None:
    with pytest.raises(Forbidden, match="--by"):
        schedules.create(planned.server, OPERATOR, spec_of(tmp_path))
    for name in ("pia", "otto"):
        with pytest.raises(Forbidden):
            schedules.create(planned.server, planned.person(name), spec_of(tmp_path))
    with pytest.raises(Forbidden):
        schedules.listing(planned.server, planned.person("pia"), Window())
    assert schedules.listing(planned.server, planned.person("otto"), Window()).items == []


@pytest.mark.parametrize(
    "change",
    [
        {"version": {"source": {"engine": "duckdb", "uri": "a.csv"}, "budgets": {}}},
        {"queries": [{"name": "always-the-same"}]},
        {"total": {"public": 1.0}},
        {"total": {"public": -1.0, "internal": 1.0}},
        {"version": {"source": {"uri": "{date}.csv"}, "budgets": 3}},
        {"version": {"source": {"uri": "{date}.csv"}, "budgets": [{}]}},
        {"more": 1},
    ],
)
def test_a_spec_that_could_never_work_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        spec_of(tmp_path, **change)


@pytest.mark.parametrize(
    "change",
    [
        {"cron": "daily"},
        {"timezone": "Mars"},
        {"queries": [{"name": "x-{date}", "aggregate": {"type": "nothing"}}]},
        {"queries": [{**VISITS, "name": "x-{date}"}]},
    ],
)
def test_requests_that_are_not_valid_are_refused_when_it_is_made(
    planned: World, tmp_path: Path, change: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput):
        switched_on(planned, tmp_path, **change)
    assert schedules.listing(planned.server, OPERATOR, Window()).items == []
