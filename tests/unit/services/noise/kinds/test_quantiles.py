"""Test a query for quantiles: its bins from its spec, its levels, and what people read of it."""

import json
from typing import Any

import numpy as np
import pytest
from sqlmodel import select
from tests.unit.services.noise.kinds.people import PEOPLE
from tests.unit.worlds import CopyWorld, Keep, World, fill

from penstock.cli.statistics.queries import previewed
from penstock.cli.statistics.releases import document
from penstock.errors import InvalidInput
from penstock.http.tabular_formats import table_of
from penstock.persistence.tables import Query
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.noise.estimates.reading import EstimateChoice, reread
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.kinds.quantiles import QuantilesKind
from penstock.services.previews import query_preview
from penstock.services.queries import registration
from penstock.services.schemas.queries import ComputedQueryRequest, DatasetRequest
from penstock.services.schemas.views import QueryView

ROWS = "person,town,age\n" + "".join(
    f"p{number},{'north' if number % 3 else 'south'},{20 + number % 41}\n" for number in range(3000)
)
AGES: dict[str, Any] = {
    "name": "ages",
    "dataset": "people",
    "group_by": [{"column": "town"}],
    "aggregate": {"type": "quantiles", "column": "age", "probabilities": [0.1, 0.5]},
    "contribution": {"max_groups": 1, "max_rows_per_group": 1},
    "mechanism": "gaussian",
    "levels": {"public": {"epsilon": 0.5}, "internal": {"epsilon": 5.0}},
}


@pytest.fixture
def people(copy_world: CopyWorld, keep: Keep) -> World:
    source = {"engine": "duckdb", "uri": str(keep("people_with_ages.csv", ROWS))}

    def furnish(world: World) -> None:
        fill(world)
        body = {**PEOPLE, "source": source}
        datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(body))

    return copy_world("quantiles", furnish)


def request(**changes: object) -> ComputedQueryRequest:
    return ComputedQueryRequest.model_validate({**AGES, **changes})


def register(world: World, **changes: object) -> QueryView:
    return registration.register(world.server, OPERATOR, request(**changes))


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace", "skellam", "generalized_gaussian"])
def test_quantiles_are_released_by_tier(people: World, mechanism: str) -> None:
    more = {"p": 4} if mechanism == "generalized_gaussian" else {}
    view = register(people, mechanism=mechanism, **more)
    assert view.dimension == 3 * (101 + 26 + 7 + 2)
    assert (view.sensitivity.l1, view.sensitivity.l2, view.sensitivity.linf) == (4, 2, 1)
    for name in ("pia", "ines"):
        estimates = people.ask(name, "ages").view.estimates
        assert estimates is not None
        by_name = {each.name: each for each in estimates if each.key == "north"}
        assert abs((by_name["median"].value or 0) - 40) < 8
        # Nobody lives in the west: noise alone is taken for rows as rarely as it says.
        count, *others = (each for each in estimates if each.key == "west")
        assert {each.value is None for each in others} == {(count.lower or 0) <= 0}


def test_a_noisier_tier_is_the_finer_one_with_more_noise(people: World) -> None:
    """Both are points of one path: what is read of the noisier one is a function of it alone."""
    register(people)
    fine, coarse = (people.ask(name, "ages").view for name in ("ines", "pia"))
    again = people.ask("pia", "ages").view
    assert np.array_equal(coarse.values, again.values)
    assert coarse.estimates == again.estimates
    added = (coarse.error.standard_deviation**2 - fine.error.standard_deviation**2) ** 0.5
    difference = np.asarray(coarse.values) - np.asarray(fine.values)
    assert difference.std() == pytest.approx(added, rel=0.25)


def test_the_spec_that_is_stored_says_how_releases_are_read(people: World) -> None:
    register(people)
    with people.server.database.read() as session:
        query = session.exec(select(Query)).one()
        kind = kind_of(query)
    assert isinstance(kind, QuantilesKind)
    assert kind.lossless
    aggregate = json.loads(query.spec)["aggregate"]
    assert {name: aggregate[name] for name in ("lower", "upper", "bins", "whole")} == {
        "lower": 0.0,
        "upper": 100.0,
        "bins": 101,
        "whole": True,
    }
    assert kind.binned.edges == tuple(map(float, range(102)))
    assert kind.binned.probabilities == (0.1, 0.5)


def test_a_probability_outside_of_0_and_1_registers_nothing(people: World) -> None:
    with pytest.raises(ValueError, match="above 0 and below 1"):
        request(aggregate={**AGES["aggregate"], "probabilities": [1.0]})
    with pytest.raises(InvalidInput, match="is a constant"):
        register(people, aggregate={**AGES["aggregate"], "lower": 5, "upper": 5})
    with people.server.database.read() as session:
        assert session.exec(select(Query)).all() == []


def test_people_read_quantiles_and_files_have_the_counts(people: World) -> None:
    register(people)
    view = people.ask("ines", "ages").view
    shown = document(reread(view, EstimateChoice("population", (0.9,))))
    assert [row[1] for row in shown.rows][:3] == ["n", "quantile:0.9", "median"]
    table = table_of(view)
    assert table.column_names == ["key_1", "key_2", "value", "lower", "upper"]
    assert table.num_rows == 3 * 136
    assert b"quantile:0.5" in (table.schema.metadata or {})[b"penstock"]


def test_a_preview_of_quantiles_draws_nothing(people: World) -> None:
    preview = query_preview.preview(people.server, OPERATOR, request())
    assert preview.dimension == 3 * 136
    assert preview.tiers[0].ranks is not None
    assert [rank.probability for rank in preview.tiers[0].ranks] == [0.1, 0.5]
    printed = previewed(preview).facts
    assert any(line.startswith("  ranks of quantiles at internal: 0.1 ±") for line in printed)
    with people.server.database.read() as session:
        assert session.exec(select(Query)).all() == []
