"""Test a query for means: charged once for its pair, released losslessly, read as means."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlmodel import select
from tests.unit.services.noise.kinds.people import PEOPLE
from tests.unit.worlds import CopyWorld, Keep, World, cut_off_before_the_anchor, fill

from penstock.cli.statistics.releases import document
from penstock.errors import Conflict
from penstock.http.answers import rendered
from penstock.http.tabular_formats import table_of
from penstock.persistence.tables import Charge, Query, Release
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.noise.sealed_state import open_state
from penstock.services.queries import registration
from penstock.services.releases import history
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.queries import ComputedQueryRequest, DatasetRequest
from penstock.services.schemas.views import QueryView

ROWS = "person,town,age\n" + "".join(
    f"p{number},{'north' if number % 3 else 'south'},{20 + number % 41}\n" for number in range(3000)
)

AGES: dict[str, Any] = {
    "name": "ages",
    "dataset": "people",
    "group_by": [{"column": "town"}],
    "aggregate": {"type": "mean", "column": "age"},
    "contribution": {"max_groups": 1, "max_rows_per_group": 1},
    "mechanism": "gaussian",
    "levels": {"public": {"rho": 0.02}, "internal": {"rho": 0.5}},
}


@pytest.fixture
def people(copy_world: CopyWorld, keep: Keep) -> World:
    source = {"engine": "duckdb", "uri": str(keep("people_of_towns.csv", ROWS))}

    def furnish(world: World) -> None:
        fill(world)
        request = DatasetRequest.model_validate({**PEOPLE, "source": source})
        datasets.register(world.server, OPERATOR, request)

    return copy_world("means", furnish)


def register(world: World, **changes: object) -> QueryView:
    request = ComputedQueryRequest.model_validate({**AGES, **changes})
    return registration.register(world.server, OPERATOR, request)


LEVELS = {
    "gaussian": {"public": {"epsilon": 0.3}, "internal": {"epsilon": 3.0}},
    "laplace": {"public": {"epsilon": 0.3}, "internal": {"epsilon": 3.0}},
    # Searching for an epsilon takes seconds where a unit moves a value by 100 steps.
    "poisson": {"public": {"level": 200_000_000}, "internal": {"level": 20_000_000}},
}


@pytest.mark.parametrize("mechanism", sorted(LEVELS))
def test_means_are_released_by_tier(people: World, mechanism: str) -> None:
    view = register(people, mechanism=mechanism, levels=LEVELS[mechanism])
    # One row in one group: 100 half steps of a sum, and as many of the weighted count.
    assert view.dimension == 6
    assert (view.sensitivity.l1, view.sensitivity.linf) == (100, 50)
    for name in ("pia", "ines"):
        release = people.ask(name, "ages").view
        assert release.keys == ["north", "south", "west"]
        assert release.mean is not None
        lower, upper = release.mean.lower, release.mean.upper
        # 40 standard deviations of slack: what is tested is the wiring.
        assert abs(release.values[0] - 40) < 20 * (upper[0] - lower[0])
        assert np.all((lower <= release.values) & (release.values <= upper))
        assert upper[2] - lower[2] > 40
        assert abs(release.mean.counts[0] - 2000) < 40 * release.mean.count_error.half_width
        assert release.mean.count_error.half_width * 50 == pytest.approx(
            release.mean.sum_error.half_width
        )


def test_the_pair_is_charged_once_and_stored_as_one_vector(people: World) -> None:
    register(people)
    with people.server.database.read() as session:
        charges = session.exec(select(Charge)).all()
        query = session.exec(select(Query)).one()
        anchor = session.exec(select(Release)).one()
        dataset = dataset_by_name(session, "people")
        steps = open_state(people.server, dataset, query, anchor)
    assert len(charges) == 3
    assert steps.shape == (6,)
    assert json.loads(query.keys or "") == ["north", "south", "west"]
    assert json.loads(query.spec)["aggregate"] == {
        "type": "mean",
        "column": "age",
        "lower": 0.0,
        "upper": 100.0,
    }


def test_the_means_of_a_repeat_and_of_the_history_are_the_same(people: World) -> None:
    register(people)
    first = people.ask("pia", "ages").view
    again = people.ask("pia", "ages").view
    kept = history.values(people.server, people.person("pia"), first.id)
    assert rendered(again) == rendered(first)
    assert rendered(kept.mean) == rendered(first.mean)


def test_a_release_of_means_takes_as_long_as_its_pairs(people: World) -> None:
    register(people)
    assert people.ask("pia", "ages").drawn == 6


def test_a_mean_and_a_sum_of_one_column_may_both_be_asked(people: World) -> None:
    register(people)
    register(
        people, name="sums", aggregate={"type": "sum", "column": "age"}, levels=None, share=0.1
    )
    with pytest.raises(Conflict, match="'ages'"):
        register(people, name="again", aggregate={**AGES["aggregate"], "upper": 100.0})


def test_a_registration_of_means_that_was_interrupted_is_finished(
    people: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off_before_the_anchor(monkeypatch, lambda: register(people))
    assert register(people).status == "active"
    with people.server.database.read() as session:
        assert len(session.exec(select(Charge)).all()) == 3


def test_the_table_of_a_release_has_an_interval_for_each_mean(people: World) -> None:
    register(people)
    shown = document(people.ask("ines", "ages").view)
    assert [column.name for column in shown.columns] == ["key", "value", "lower", "upper", "rows"]
    assert [row[0] for row in shown.rows] == ["north", "south", "west"]
    assert any("that of each mean depends on its rows" in fact for fact in shown.facts)


def test_under_replace_a_mean_costs_more(people: World, tmp_path: Path) -> None:
    path = tmp_path / "others.csv"
    path.write_text(ROWS + "p9999,west,3\n")
    spec = {
        **PEOPLE,
        "name": "others",
        "neighboring": "replace",
        "source": {"engine": "duckdb", "uri": str(path)},
    }
    datasets.register(people.server, OPERATOR, DatasetRequest.model_validate(spec))
    here = register(people)
    there = register(people, name="there", dataset="others")
    assert there.sensitivity.l1 == 2 * here.sensitivity.l1
    assert there.tiers[0].error.half_width > 1.4 * here.tiers[0].error.half_width


def test_a_table_of_means_has_intervals_sums_and_counts(people: World) -> None:
    register(people)
    view = people.ask("ines", "ages").view
    table = table_of(view)
    assert table.column_names == [
        *("key", "value", "lower", "upper", "centered_sum", "count"),
    ]
    assert view.mean is not None
    assert table.column("upper").to_pylist() == view.mean.upper.tolist()
    rest = json.loads(table.schema.metadata[b"penstock"])
    assert rest["mean"]["middle"] == 50
    assert rest["mean"]["count_error"]["half_width"] == view.mean.count_error.half_width


@pytest.mark.parametrize("mechanism", sorted(LEVELS))
@pytest.mark.parametrize("step", [3, 0.25])
def test_half_steps_fit_the_lattice_of_every_mechanism(
    people: World, mechanism: str, step: float
) -> None:
    aggregate = {**AGES["aggregate"], "step": step, "lower": 1}
    register(people, mechanism=mechanism, aggregate=aggregate, levels=LEVELS[mechanism])
    view = people.ask("ines", "ages").view
    assert view.mean is not None
    assert view.mean.middle == (0 + 99) / 2 if step == 3 else 50.5
    assert abs(view.values[0] - 40) < 20 * (view.mean.upper[0] - view.mean.lower[0])
