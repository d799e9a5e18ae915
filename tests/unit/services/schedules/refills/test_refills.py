"""Test schedules over a file or a view of one name: no occurrence takes another's version."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select
from tests.databases.cluster import Cluster
from tests.databases.warehouse import Warehouse, made
from tests.unit.connectors.postgresql.visits import (
    COUNTS,
    SOURCE,
    VISITS,
    filled,
    server_at,
)
from tests.unit.services.datasets.stays import ROWS
from tests.unit.services.schedules.planning import (
    BUDGETS,
    runner,
    shown,
    stopped_behind_the_version,
    switched_on,
    with_stays,
)
from tests.unit.worlds import World

from penstock.errors import Conflict, DatabaseUnavailable, InvalidInput
from penstock.persistence.tables import Charge, Query
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets, population
from penstock.services.jobs.runner import Run
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schedules import occurrences, pricing, schedules
from penstock.services.schedules.forecast import forecast
from penstock.services.schemas.queries import DatasetRequest, VersionRequest
from penstock.services.schemas.schedules import ScheduleSpec
from penstock.services.verification.verification import verify

PRICED = "penstock.services.schedules.occurrences.priced"
UNITS_BY_TOWN = {
    "group_by": ["town"],
    "aggregate": {"type": "count_units"},
    "contribution": {"max_groups": 1},
}


@pytest.fixture
def stays(world: World, tmp_path: Path) -> World:
    """Return a server whose schedule reads one file every night."""
    with_stays(world, tmp_path)
    source = {"engine": "duckdb", "uri": str(tmp_path / "stays.csv")}
    switched_on(world, tmp_path, version={"source": source, "budgets": BUDGETS})
    return world


def refilled(folder: Path, name: str) -> None:
    (folder / "stays.csv").write_text(f"{ROWS}{name},north,1\n")


def night(world: World) -> None:
    """Let the next occurrence become due, and look twice."""
    world.clock.forward(hours=24)
    for _ in range(2):
        occurrences.look(world.server, runner(world))


def ends(world: World) -> list[tuple[str, int | None]]:
    """Return what became of each occurrence, the oldest first, and its version."""
    return [(each.state, each.version) for each in reversed(shown(world).occurrences)]


def charges(world: World) -> int:
    with world.server.database.read() as session:
        return len(session.exec(select(Charge)).all())


def test_a_file_that_is_refilled_is_registered_and_another_night_says_it_was_not(
    stays: World, tmp_path: Path
) -> None:
    refilled(tmp_path, "first")
    night(stays)
    charged = charges(stays)
    night(stays)
    assert charges(stays) == charged > 0
    assert shown(stays).on
    problem = shown(stays).occurrences[0].problem or ""
    assert problem.startswith("The data have not changed: they are those of version 2")
    refilled(tmp_path, "second")
    night(stays)
    assert ends(stays) == [("done", 2), ("skipped", None), ("done", 3)]
    assert charges(stays) == 2 * charged
    # What was there some nights ago is no new data either.
    refilled(tmp_path, "first")
    night(stays)
    assert ends(stays)[3] == ("skipped", None)
    assert verify(stays.server, OPERATOR).problems == []


def test_the_data_of_another_dataset_are_no_earlier_night(stays: World, tmp_path: Path) -> None:
    refilled(tmp_path, "first")
    with stays.server.database.read() as session:
        spec = population.spec_of(dataset_by_name(session, "stays"))
    datasets.register(stays.server, OPERATOR, DatasetRequest(**{**dict(spec), "name": "other"}))
    night(stays)
    assert ends(stays) == [("refused", None)]
    assert not shown(stays).on
    assert verify(stays.server, OPERATOR).problems == []


def test_a_process_that_comes_second_does_not_take_the_version_for_an_earlier_one(
    stays: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refilled(tmp_path, "first")
    raced(stays, monkeypatch)
    assert ends(stays) == [("done", 2)]


def raced(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let another process open the version of an occurrence that one has just begun."""
    with monkeypatch.context() as patch:
        patch.setattr(occurrences, "_begin", lambda *_: None)
        night(world)
    price, begun = pricing.priced, occurrences.act(world.server, 1)

    def priced(*given: Any) -> Any:
        monkeypatch.setattr(PRICED, price)
        stopped_behind_the_version(monkeypatch, lambda: begun(Run("", 1)))
        return price(*given)

    monkeypatch.setattr(PRICED, priced)
    with pytest.raises(DatabaseUnavailable, match="Another process"):
        begun(Run("", 1))
    assert ends(world) == [("pending", 2)]
    occurrences.look(world.server, runner(world))


@pytest.fixture
def warehouse(cluster: Cluster) -> Iterator[Warehouse]:
    with made(cluster) as house:
        filled(house)
        yield house


@pytest.fixture
def visits(world: World, warehouse: Warehouse) -> World:
    """Return a server with a dataset that is a view, whose rows PostgreSQL does not recognize."""
    server = server_at(world, warehouse.address)
    datasets.register(server, OPERATOR, DatasetRequest.model_validate(VISITS))
    return replace(world, server=server)


def of_view(**changes: Any) -> ScheduleSpec:
    query = {name: value for name, value in COUNTS.items() if name != "dataset"}
    spec = {
        "name": "nightly",
        "dataset": "visits",
        "cron": "0 3 * * *",
        "version": {"source": SOURCE, "budgets": VISITS["budgets"]},
        "queries": [{**query, "name": "counts-{date}"}],
        "total": {"public": 6.0, "internal": 24.0},
    }
    return ScheduleSpec.model_validate({**spec, **changes})


def view_on(world: World) -> None:
    ada = world.person("ada")
    schedules.create(world.server, ada, of_view())
    schedules.switch(world.server, ada, "nightly", on=True)


def test_every_night_of_a_view_is_charged_in_full_until_the_total(
    visits: World, warehouse: Warehouse
) -> None:
    """It was refilled before the first, and not before the second: no engine tells them apart."""
    until = visits.clock() + timedelta(days=10)
    seen = forecast(visits.server, OPERATOR, of_view(), until)
    assert (seen.refusal, seen.allowed) == (None, 3)
    view_on(visits)
    warehouse.run("INSERT INTO data.visits VALUES ('dan', 'north')")
    for _ in range(4):
        night(visits)
    assert ends(visits) == [("done", 2), ("done", 3), ("done", 4), ("refused", None)]
    with visits.server.database.read() as session:
        assert len(session.exec(select(Query)).all()) == 3
    twin = DatasetRequest.model_validate({**VISITS, "name": "twin"})
    by_hand = VersionRequest.model_validate({"source": SOURCE, "budgets": VISITS["budgets"]})
    with pytest.raises(Conflict, match="registered already"):
        datasets.register(visits.server, OPERATOR, twin)
    with pytest.raises(Conflict, match="registered already"):
        datasets.add_version(visits.server, OPERATOR, "visits", by_hand)
    assert verify(visits.server, OPERATOR).problems == []


def test_two_processes_open_one_version_of_a_view(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    view_on(visits)
    raced(visits, monkeypatch)
    assert ends(visits) == [("done", 2)]
    assert datasets.show(visits.server, OPERATOR, "visits").version == 2


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"version": {"disjoint_units": True}}, "/version/disjoint_units"),
        ({"streams": [{"stream": "daily", "query": UNITS_BY_TOWN}]}, "/streams"),
    ],
    ids=["disjoint", "streams"],
)
def test_a_view_of_one_name_is_not_taken_for_other_people_every_night(
    visits: World, changes: dict[str, Any], place: str
) -> None:
    version = {"source": SOURCE, "budgets": VISITS["budgets"]}
    spec = of_view(**{**changes, "version": {**version, **changes.get("version", {})}})
    until = visits.clock() + timedelta(days=10)
    tried: Sequence[Any] = (
        lambda: schedules.create(visits.server, OPERATOR, spec),
        lambda: forecast(visits.server, OPERATOR, spec, until),
    )
    for act in tried:
        with pytest.raises(InvalidInput, match="if it is not refilled") as problem:
            act()
        assert problem.value.errors[0][0] == place
