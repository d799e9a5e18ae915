"""Test that queries of a schedule may be in SQL, and are kept as the specs that it is read as."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.services.schedules.planning import spec_of, with_stays
from tests.unit.worlds import World

from penstock.errors import InvalidInput
from penstock.services.access.principals import OPERATOR
from penstock.services.schedules import schedules, statements
from penstock.services.schedules.forecast import forecast

PEOPLE_BY_TOWN = "SELECT town, COUNT(DISTINCT person) AS people FROM stays GROUP BY town"


@pytest.fixture
def planned(world: World, tmp_path: Path) -> World:
    return with_stays(world, tmp_path)


def in_sql(folder: Path, text: object, **changes: Any) -> dict[str, Any]:
    """Return the schedule's query, with a statement for what it says of the data."""
    (query,) = spec_of(folder).queries
    others = {name: query[name] for name in query.keys() - {"group_by", "aggregate"}}
    return {**others, "sql": text, **changes}


def test_a_statement_makes_the_schedule_that_its_spec_makes(planned: World, tmp_path: Path) -> None:
    plain, written = (
        spec_of(tmp_path),
        spec_of(tmp_path, queries=[in_sql(tmp_path, PEOPLE_BY_TOWN)]),
    )
    read = statements.in_specs(planned.server, written)
    assert read.queries == plain.queries
    until = planned.clock().replace(day=9)
    shown = [forecast(planned.server, OPERATOR, spec, until) for spec in (plain, written)]
    assert shown[0] == shown[1]
    made = schedules.create(planned.server, planned.person("ada"), written)
    assert made.spec["queries"] == plain.queries


def test_elements_of_streams_may_be_in_sql(planned: World, tmp_path: Path) -> None:
    feed = {"stream": "people", "query": {"sql": "SELECT COUNT(DISTINCT person) FROM stays"}}
    read = statements.in_specs(planned.server, spec_of(tmp_path, streams=[feed]))
    assert [feed.query for feed in read.streams] == [{"aggregate": {"type": "count_units"}}]


@pytest.mark.parametrize(
    ("text", "more", "says"),
    [
        ("SELECT COUNT(*) FROM stays LIMIT 3", {}, "LIMIT"),
        ("SELECT COUNT(*) FROM others", {}, "another dataset"),
        (PEOPLE_BY_TOWN, {"group_by": []}, "leave group_by out"),
        (7, {}, "as a text"),
    ],
)
def test_what_no_spec_says_is_refused_at_its_place(
    planned: World, tmp_path: Path, text: object, more: dict[str, Any], says: str
) -> None:
    right = in_sql(tmp_path, PEOPLE_BY_TOWN)
    wrong = spec_of(tmp_path, queries=[right, in_sql(tmp_path, text, name="b-{date}", **more)])
    with pytest.raises(InvalidInput, match=says) as caught:
        schedules.create(planned.server, planned.person("ada"), wrong)
    assert [place for place, _ in caught.value.errors] == ["/queries/1/sql"]
    with pytest.raises(InvalidInput, match=says):
        forecast(planned.server, OPERATOR, wrong, planned.clock().replace(day=9))
