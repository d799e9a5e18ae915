"""Test elements that are answers of queries: exact, one of each version, within what is charged."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import Session
from tests.unit.services.datasets.stays import ROWS, STAYS
from tests.unit.services.schedules.feeding import (
    NORTH,
    SOUTH,
    UNITS_BY_TOWN,
    open_daily,
    total_of,
    with_daily,
)
from tests.unit.services.streams.streaming import push
from tests.unit.worlds import World

from penstock.connectors.progress import silent
from penstock.connectors.specs.models import ComputedQuery
from penstock.errors import Conflict, DatabaseUnavailable, InvalidInput, NotFound
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import corrections, datasets
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.queries import stream_by_name
from penstock.services.schemas.queries import DatasetRequest, VersionRequest
from penstock.services.streams import fed_elements, stream_elements, stream_totals, streams


@pytest.fixture
def fed(world: World, tmp_path: Path) -> World:
    return with_daily(world, tmp_path)


def newest(world: World, name: str = "stays") -> Dataset:
    with world.server.database.read() as session:
        return dataset_by_name(session, name)


def add_version(world: World, folder: Path, person: str, **changes: Any) -> Dataset:
    path = folder / f"{person}.csv"
    path.write_text(f"{ROWS}{person},west,1\n")
    source = {"engine": "duckdb", "uri": str(path)}
    fields = {"source": source, "budgets": STAYS["budgets"], **changes}
    datasets.add_version(world.server, OPERATOR, "stays", VersionRequest.model_validate(fields))
    return newest(world)


def unlogged(_session: Session, _stream: Query, _element: int, _state: str | None) -> None:
    """Append no leaf."""


def feed(
    world: World,
    version: Dataset | None = None,
    stream: str = "daily",
    also: fed_elements.Fed = unlogged,
    **changes: Any,
) -> None:
    fields = {**UNITS_BY_TOWN, **changes, "name": stream, "dataset": "stays"}
    query = fed_elements.Feed(stream, ComputedQuery.model_validate(fields))
    given = newest(world) if version is None else version
    fed_elements.feed(world.server, OPERATOR, given, query, silent, also)


def test_an_element_is_the_exact_answer_and_a_version_gives_one(fed: World, tmp_path: Path) -> None:
    taken: list[int] = []

    def take(_session: Session, _stream: Query, element: int, _state: str | None) -> None:
        taken.append(element)

    for _ in range(2):
        feed(fed, also=take)
    assert taken == [1]
    step, total = total_of(fed)
    assert (step, total.tolist()) == (1, [NORTH, SOUTH, 0])
    version = add_version(fed, tmp_path, "paula")
    feed(fed, version)
    step, total = total_of(fed)
    assert (step, total.tolist()) == (2, [2 * NORTH, 2 * SOUTH, 1])
    with fed.server.database.read() as session:
        assert fed_elements.fed_by(session, "stays", 1) == {"daily": 1}
        assert fed_elements.fed_by(session, "stays", 2) == {"daily": 2}


def test_an_element_saturates_at_the_streams_bound(fed: World) -> None:
    open_daily(fed, name="small", bound=300)
    feed(fed, stream="small")
    assert total_of(fed, "small")[1].tolist() == [300, SOUTH, 0]


def test_an_element_is_in_the_streams_own_steps(fed: World) -> None:
    open_daily(fed, name="halves", step=0.5, bound=1000)
    feed(fed, stream="halves")
    assert total_of(fed, "halves")[1].tolist() == [NORTH, SOUTH, 0]


@pytest.mark.parametrize(
    ("stream", "query", "message"),
    [
        ({}, {"contribution": {"max_groups": 2}}, r"up to 2 \(l1\).* was opened for 1"),
        (
            {"sensitivity": {"l1": 2, "l2": 1}},
            {"contribution": {"max_groups": 2}},
            r"1\.41421 \(l2\)",
        ),
        (
            {"sensitivity": {"l1": 2, "l2": 2, "linf": 1}, "mechanism": "laplace"},
            {
                "aggregate": {"type": "count"},
                "contribution": {"max_groups": 1, "max_rows_per_group": 2},
            },
            r"2 \(linf\)",
        ),
        ({}, {"group_by": []}, "has 1 values, and an element of 'odd' has 3"),
        ({"step": 2, "sensitivity": {"l1": 2}}, {}, "multiples of 1, and those of 'odd' of 2"),
        (
            {"bound": 2, "sensitivity": {"l1": 4, "l2": 4, "linf": 4}},
            {
                "aggregate": {"type": "sum", "column": "visits", "step": 4},
                "contribution": {"max_groups": 1, "max_rows_per_group": 1},
            },
            "above the bound of 'odd', 2",
        ),
        ({}, {"aggregate": {"type": "mean", "column": "visits"}}, "a quotient"),
        ({}, {"aggregate": {"type": "uncategorized", "column": "town"}}, "a quotient"),
    ],
)
def test_a_query_that_the_stream_was_not_opened_for_is_refused(
    fed: World, stream: dict[str, Any], query: dict[str, Any], message: str
) -> None:
    levels = {"public": {"epsilon": 0.01}} if "mechanism" in stream else {"public": {"rho": 0.001}}
    open_daily(fed, **{"name": "odd", "levels": levels, **stream})
    with pytest.raises(InvalidInput, match=message):
        feed(fed, stream="odd", **query)
    assert total_of(fed, "odd")[0] == 0


def test_a_stream_of_other_people_is_refused(fed: World, tmp_path: Path) -> None:
    path = tmp_path / "others.csv"
    path.write_text(ROWS + "another,west,2\n")
    source = {"engine": "duckdb", "uri": str(path)}
    request = DatasetRequest.model_validate({**STAYS, "name": "others", "source": source})
    datasets.register(fed.server, OPERATOR, request)
    open_daily(fed, name="theirs", dataset="others")
    with pytest.raises(Conflict, match="is of dataset 'others'"):
        feed(fed, stream="theirs")
    with pytest.raises(NotFound):
        feed(fed, stream="none")


def test_people_whom_the_stream_is_not_charged_for_do_not_feed_it(
    fed: World, tmp_path: Path
) -> None:
    """Losses add up over a chain of versions; the stream's must be in each that the version is."""
    second = add_version(fed, tmp_path, "paula")
    feed(fed, second)
    disjoint = add_version(fed, tmp_path, "quentin", disjoint_units=True)
    with pytest.raises(Conflict, match="charged to version 1 of 'stays', and version 3"):
        feed(fed, disjoint)
    # Whoever is in the fourth version may be in the third, and then in no earlier one.
    fourth = add_version(fed, tmp_path, "rosa")
    with pytest.raises(Conflict, match="version 4 may hold people"):
        feed(fed, fourth)
    assert total_of(fed)[0] == 1


def test_a_stream_that_takes_no_elements_is_refused(fed: World) -> None:
    open_daily(fed, name="short", length=1)
    push(fed, 1, [[0, 0, 0]], "short")
    with pytest.raises(Conflict, match="has all of its 1 elements"):
        feed(fed, stream="short")
    streams.retire(fed.server, OPERATOR, "daily")
    with pytest.raises(Conflict, match="is retired"):
        feed(fed)


def test_a_stream_that_a_restore_froze_is_refused_before_anything_is_read(fed: World) -> None:
    with fed.server.database.write() as session:
        row = stream_by_name(session, "daily")
        row.frozen = "2026-01-01T00:00:00Z"
        session.add(row)
    with fed.server.database.read() as session, pytest.raises(Conflict, match="was restored"):
        fed_elements.left(session, "daily")
    with pytest.raises(Conflict, match="was restored"):
        feed(fed)


def test_a_version_that_fed_a_stream_is_not_withdrawn(fed: World, tmp_path: Path) -> None:
    """Registered again it would be a second element with the same people."""
    add_version(fed, tmp_path, "paula")
    corrections.withdraw(fed.server, OPERATOR, "stays")
    again = add_version(fed, tmp_path, "paula")
    feed(fed, again)
    with pytest.raises(Conflict, match="streams fed from it"):
        corrections.withdraw(fed.server, OPERATOR, "stays")


def test_a_version_that_was_withdrawn_meanwhile_gives_nothing(
    fed: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = add_version(fed, tmp_path, "paula")

    def withdrawn() -> None:
        corrections.withdraw(fed.server, OPERATOR, "stays")

    between(monkeypatch, withdrawn)
    with pytest.raises(Conflict, match="was withdrawn in the meantime"):
        feed(fed, version)
    assert total_of(fed)[0] == 0


def test_an_element_is_tried_again_if_somebody_else_added_one_meanwhile(
    fed: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    between(monkeypatch, lambda: push(fed, 1, [[5, 5, 5]], "daily"))
    with pytest.raises(DatabaseUnavailable, match="changed while its next element"):
        feed(fed)
    feed(fed)
    step, total = total_of(fed)
    assert (step, total.tolist()) == (2, [NORTH + 5, SOUTH + 5, 5])


def test_two_who_feed_the_same_version_at_once_add_one_element(
    fed: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    between(monkeypatch, lambda: feed(fed))
    with pytest.raises(DatabaseUnavailable):
        feed(fed)
    assert total_of(fed)[0] == 1


def between(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Do something once, after an element was drawn and before it is stored."""
    original = stream_elements.drawn_from

    def drawn(*given: Any) -> Any:
        result = original(*given)
        monkeypatch.setattr(fed_elements, "drawn_from", original)
        act()
        return result

    monkeypatch.setattr(fed_elements, "drawn_from", drawn)


def test_days_are_those_on_which_versions_gave_elements_and_tell_them_apart(
    fed: World, tmp_path: Path
) -> None:
    def days(first: int, last: int) -> list[str] | None:
        with fed.server.database.read() as session:
            stream = stream_by_name(session, "daily")
            found = fed_elements.days_of(session, stream, range(first, last + 1))
        return None if found is None else [day.isoformat() for day in found]

    feed(fed)
    begun = fed.clock.now.date()
    fed.clock.now += timedelta(days=2)
    feed(fed, add_version(fed, tmp_path, "ada"))
    assert days(1, 2) == [begun.isoformat(), (begun + timedelta(days=2)).isoformat()]
    assert days(2, 2) == days(1, 2)[1:]  # type: ignore[index]
    read = stream_totals.read(fed.server, fed.person("ines"), "daily", first=2).days
    assert read == [begun + timedelta(days=2)]
    feed(fed, add_version(fed, tmp_path, "bea"))
    # Two elements have one day, and a day alone does not say which is which.
    assert days(1, 3) is None
    push(fed, 4, [[0, 0, 0]], "daily")
    assert days(4, 4) is None
    assert days(3, 4) is None
