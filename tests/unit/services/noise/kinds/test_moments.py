"""Test a query for moments: its columns from its spec, and what people read of a release."""

import json
from typing import Any

import pytest
from sqlmodel import select
from tests.unit.services.noise.kinds.people import PEOPLE
from tests.unit.worlds import CopyWorld, Keep, World, fill

from penstock.cli.statistics.releases import document
from penstock.errors import InvalidInput
from penstock.http.tabular_formats import table_of
from penstock.persistence.tables import Query
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.kinds.moments import MomentsKind
from penstock.services.queries import registration
from penstock.services.schemas.queries import ComputedQueryRequest, DatasetRequest
from penstock.services.schemas.views import QueryView

ROWS = "person,town,age,height\n" + "".join(
    f"p{number},{'north' if number % 3 else 'south'},{20 + number % 41},{number % 17}\n"
    for number in range(3000)
)
SPREAD: dict[str, Any] = {
    "name": "spread",
    "dataset": "people",
    "group_by": [{"column": "town"}],
    "aggregate": {"type": "moments", "columns": ["age", "height"]},
    "contribution": {"max_groups": 1, "max_rows_per_group": 1},
    "mechanism": "gaussian",
    "levels": {"public": {"epsilon": 0.5}, "internal": {"epsilon": 5.0}},
}


@pytest.fixture
def people(copy_world: CopyWorld, keep: Keep) -> World:
    source = {"engine": "duckdb", "uri": str(keep("people_and_heights.csv", ROWS))}
    height = {"type": "integer", "lower": 0, "upper": 16}
    columns = {**PEOPLE["columns"], "height": height}

    def furnish(world: World) -> None:
        fill(world)
        body = {**PEOPLE, "columns": columns, "source": source}
        datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(body))

    return copy_world("moments", furnish)


def register(world: World, **changes: object) -> QueryView:
    request = ComputedQueryRequest.model_validate({**SPREAD, **changes})
    return registration.register(world.server, OPERATOR, request)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace", "generalized_gaussian"])
def test_estimates_are_released_by_tier(people: World, mechanism: str) -> None:
    more = {"p": 4} if mechanism == "generalized_gaussian" else {}
    view = register(people, mechanism=mechanism, **more)
    assert view.dimension == 3 * 6
    # One row in one group: it moves each of its six numbers by 1 at most.
    assert (view.sensitivity.l1, view.sensitivity.linf) == (6, 1)
    assert view.sensitivity.l2 == pytest.approx(6**0.5)
    for name in ("pia", "ines"):
        estimates = people.ask(name, "spread").view.estimates
        assert estimates is not None
        assert len(estimates) == 3 * 11
        of_north = {each.name: each for each in estimates if each.key == "north"}
        assert abs((of_north["mean:age"].value or 0) - 40) < 5
        # Nobody lives in the west.
        assert {each.value for each in estimates[25:]} == {None}


def test_the_spec_that_is_stored_says_how_releases_are_read(people: World) -> None:
    register(people)
    with people.server.database.read() as session:
        query = session.exec(select(Query)).one()
        kind = kind_of(query)
    assert isinstance(kind, MomentsKind)
    assert kind.lossless
    aggregate = json.loads(query.spec)["aggregate"]
    assert aggregate["bounds"] == {"age": [0.0, 100.0], "height": [0.0, 16.0]}
    scales = {name: ends for name, *ends in kind.columns_read.scales}
    assert scales == {
        "age": pytest.approx([50, 50], abs=0.01),
        "height": pytest.approx([8, 8], abs=0.01),
    }
    again = ComputedQueryRequest.model_validate(json.loads(query.spec))
    assert again.aggregate.type == "moments"


def test_people_read_estimates_and_files_have_the_sums(people: World) -> None:
    register(people)
    view = people.ask("ines", "spread").view
    shown = document(view)
    assert [column.name for column in shown.columns] == [
        *("key", "statistic", "value", "lower", "upper")
    ]
    assert len(shown.rows) == 33
    assert list(shown.rows)[1][:2] == ("north", "sum:age")
    table = table_of(view)
    assert table.column_names == ["key_1", "key_2", "value", "lower", "upper"]
    assert table.num_rows == 18
    assert b"mean:age" in (table.schema.metadata or {})[b"penstock"]


def test_a_query_without_groups_has_no_key(people: World) -> None:
    register(people, group_by=[], contribution={"max_rows_per_group": 1})
    shown = document(people.ask("ines", "spread").view)
    assert [column.name for column in shown.columns] == ["statistic", "value", "lower", "upper"]


@pytest.mark.parametrize("mechanism", ["poisson", "skellam"])
def test_noise_in_whole_steps_is_refused_by_name(people: World, mechanism: str) -> None:
    with pytest.raises(InvalidInput, match=f"no {mechanism} noise") as refused:
        register(people, mechanism=mechanism)
    assert refused.value.errors[0][0] == "/mechanism"
