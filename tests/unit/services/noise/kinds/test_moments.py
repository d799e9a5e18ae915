"""Test a query for moments: its columns from its spec, and what people read of a release."""

import io
import json
from typing import Any

import numpy as np
import pytest
from sqlmodel import select
from tests.unit.services.noise.kinds.people import PEOPLE
from tests.unit.worlds import CopyWorld, Keep, World, fill

from penstock.cli.statistics.queries import previewed
from penstock.cli.statistics.releases import document
from penstock.connectors.planning.plan import pairs
from penstock.errors import Conflict, InvalidInput
from penstock.http.tabular_formats import table_of
from penstock.persistence.tables import Dataset, Query
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.kinds.kind import QueryKind
from penstock.services.noise.kinds.moments import MomentsKind
from penstock.services.previews import query_preview
from penstock.services.queries import registration
from penstock.services.queries.exact_answers import planned
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
    # One row in one group: it moves each of its six numbers by its weight at most.
    weights = [1] * 6 if mechanism == "generalized_gaussian" else [6, 8, 8, 7, 8, 7]
    assert (view.sensitivity.l1, view.sensitivity.linf) == (sum(weights), max(weights))
    assert view.sensitivity.l2 == pytest.approx(sum(weight**2 for weight in weights) ** 0.5)
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


def test_what_is_shown_is_without_its_weight_and_noisier_the_smaller_that_is(
    people: World,
) -> None:
    own = {"n": 1, "sum:age": 2, "sum:height": 4, "sum:age,age": 8, "sum:age,height": 16}
    own["sum:height,height"] = 32
    aggregate = {**SPREAD["aggregate"], "weights": own}
    register(people, aggregate=aggregate)
    view = people.ask("ines", "spread").view
    assert view.moments is not None
    assert view.errors is not None
    assert view.moments.weights == [*own.values()]
    deviations = view.errors.standard_deviations
    assert deviations[0] == view.error.standard_deviation
    assert list(deviations) == pytest.approx([deviations[0] / each for each in own.values()] * 3)
    ages, heights = np.loadtxt(io.StringIO(ROWS), delimiter=",", skiprows=1, usecols=(2, 3)).T
    (_, middle, half), (_, other, width) = people_scales(people)
    columns = np.column_stack([np.ones(3000), (ages - middle) / half, (heights - other) / width])
    north = columns[[line.split(",")[1] == "north" for line in ROWS.splitlines()[1:]]]
    exact = [north[:, i] @ north[:, j] for i, j in pairs(2)]
    for value, expected, deviation in zip(view.values, exact, deviations, strict=False):
        assert abs(value - expected) < 6 * deviation


def people_scales(world: World) -> tuple[tuple[str, float, float], ...]:
    with world.server.database.read() as session:
        kind = kind_of(session.exec(select(Query)).one())
    assert isinstance(kind, MomentsKind)
    return kind.columns_read.scales


@pytest.mark.parametrize("name", ["standard_deviation", "half_width"])
def test_a_level_that_is_given_by_an_error_is_that_of_the_noisiest_number(
    people: World, name: str
) -> None:
    own = {"n": 2, "sum:age": 4, "sum:age,age": 3}
    aggregate = {"type": "moments", "columns": ["age"], "weights": own}
    levels = {"public": {name: 400.0}, "internal": {name: 40.0}}
    view = register(people, aggregate=aggregate, levels=levels)
    found = {tier.tier: getattr(tier.error, name) for tier in view.tiers}
    assert found["public"] == pytest.approx(400, rel=0.02)
    assert found["internal"] == pytest.approx(40, rel=0.02)


def test_a_spec_that_is_stored_without_weights_is_read_with_equal_ones(people: World) -> None:
    """Earlier versions had no others, and their releases stay what they are."""
    register(people, aggregate={**SPREAD["aggregate"], "weights": "equal"})
    before = people.ask("ines", "spread").view
    with people.server.database.read() as session:
        query = session.exec(select(Query)).one()
        kind = kind_of(query)
    spec = json.loads(query.spec)
    assert "weights" not in spec["aggregate"]
    assert isinstance(kind, MomentsKind)
    assert kind.columns_read.weights == ()
    assert planned_hash(people, kind, spec) == query.canonical_hash
    as_new = planned(dataset_of(people), ComputedQueryRequest.model_validate(spec))
    assert as_new.canonical_hash != query.canonical_hash
    assert before.moments is not None
    assert before.moments.weights == [1] * 6
    assert before.errors is None
    with pytest.raises(Conflict):
        register(people, name="again", aggregate={**SPREAD["aggregate"], "weights": "equal"})
    # With the weights that are chosen now it is another statistic.
    levels = {"public": {"epsilon": 0.5}, "internal": {"epsilon": 1.0}}
    register(people, name="weighted", levels=levels)


def planned_hash(world: World, kind: QueryKind, spec: dict[str, Any]) -> str | None:
    return planned(dataset_of(world), kind.request_of(spec)).canonical_hash


def dataset_of(world: World) -> Dataset:
    with world.server.database.read() as session:
        return session.exec(select(Dataset).where(Dataset.name == "people")).one()


def test_generalized_gaussian_noise_takes_no_weights(people: World) -> None:
    aggregate = {"type": "moments", "columns": ["age"]}
    own = {"n": 2, "sum:age": 4, "sum:age,age": 3}
    more = {"mechanism": "generalized_gaussian", "p": 4}
    with pytest.raises(InvalidInput, match="takes equal weights") as refused:
        register(people, aggregate={**aggregate, "weights": own}, **more)
    assert refused.value.errors[0][0] == "/aggregate/weights"
    assert register(people, aggregate={**aggregate, "weights": "equal"}, **more).dimension == 9


def test_a_preview_says_how_noisy_estimates_would_be_and_with_which_weights(people: World) -> None:
    preview = query_preview.preview(
        people.server, OPERATOR, ComputedQueryRequest.model_validate(SPREAD)
    )
    printed = previewed(preview).facts
    assert any(
        line.startswith("  standard deviations at internal, from 1,000 evenly spread rows of a")
        for line in printed
    )
    assert any(
        line.endswith(
            "n 6, sum:age 8, sum:height 8, sum:age,age 7, sum:age,height 8, sum:height,height 7"
        )
        for line in printed
    )


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
