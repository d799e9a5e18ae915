"""Test counts that are protected together.

Charged as one vector, released by tier, read from nodes.
"""

import io
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from pyarrow import csv
from pydantic import TypeAdapter, ValidationError
from sqlmodel import select
from tests.unit.worlds import CopyWorld, Keep, World, cut_off_before_the_anchor, fill

from penstock.cli.statistics.releases import document
from penstock.connectors.planning.correlated_counts import nodes_of
from penstock.connectors.specs.correlated import CorrelatedQuery
from penstock.errors import Conflict
from penstock.http.answers import rendered
from penstock.http.tabular_formats import answer as answer_of
from penstock.http.tabular_formats import table_of
from penstock.persistence.tables import Charge, Query, Release
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.exposure import exposure
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.sealed_state import open_state
from penstock.services.previews import query_preview
from penstock.services.queries import queries, registration
from penstock.services.releases import history
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.queries import (
    DatasetRequest,
    LevelsChange,
    PreviewRequest,
    QueryRequest,
    ReleaseRequest,
)
from penstock.services.schemas.views import QueryView
from penstock.structures.ellipse import Ellipse

HABITS = ("smokes", "runs", "reads", "sings")
COUNTS = [1000, 750, 600, 3000]
ROWS = f"person,town,club,{','.join(HABITS)}\n" + "".join(
    f"p{number},{'north' if number % 4 else 'south'},{'abcde'[number % 5]},"
    f"{number % 3 == 0},{number % 4 == 1},{number % 5 == 2},true\n"
    for number in range(3000)
)

PEOPLE: dict[str, Any] = {
    "name": "people",
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 100_000,
    "columns": {
        "person": {"type": "string"},
        "town": {"type": "string", "categories": ["north", "south"]},
        "club": {"type": "string", "categories": list("abcde")},
        **{habit: {"type": "boolean"} for habit in HABITS},
    },
    "budgets": {"public": {"epsilon": 1.0}, "internal": {"epsilon": 8.0}},
}

ASKED: dict[str, Any] = {
    "name": "habits",
    "dataset": "people",
    "aggregate": {"type": "count_units", "columns": list(HABITS)},
    "structure": "correlated",
    "mechanism": "gaussian",
    "levels": {"public": {"rho": 0.005}, "internal": {"rho": 0.5}},
}

BY_CLUB: dict[str, Any] = {
    "name": "clubs",
    "aggregate": {"type": "count"},
    "group_by": [{"column": "club"}],
    "contribution": {"max_groups": 4, "max_rows_per_group": 1},
}


@pytest.fixture
def people(copy_world: CopyWorld, keep: Keep) -> World:
    source = {"engine": "duckdb", "uri": str(keep("people_of_clubs.csv", ROWS))}

    def furnish(world: World) -> None:
        fill(world)
        request = DatasetRequest.model_validate({**PEOPLE, "source": source})
        datasets.register(world.server, OPERATOR, request)

    return copy_world("habits", furnish)


def asked(**changes: object) -> Any:
    sent = {name: part for name, part in {**ASKED, **changes}.items() if part is not None}
    return TypeAdapter[Any](QueryRequest).validate_python(sent)


def register(world: World, **changes: object) -> QueryView:
    return registration.register(world.server, OPERATOR, asked(**changes))


def stored(world: World, name: str = "habits") -> tuple[Query, list[Any]]:
    """Return the row of a query, and its states as lattice integers."""
    with world.server.database.read() as session:
        query = session.exec(select(Query).where(Query.name == name)).one()
        dataset = dataset_by_name(session, "people")
        rows = session.exec(select(Release).where(Release.query_id == query.id)).all()
        return query, [open_state(world.server, dataset, query, row) for row in rows]


def test_counts_and_the_size_are_released_by_tier(people: World) -> None:
    view = register(people)
    assert view.dimension == 5
    assert view.sensitivity.l2**2 == pytest.approx(4 + 2, rel=1e-3)
    for name in ("pia", "ines"):
        release = people.ask(name, "habits").view
        assert release.keys == [*HABITS, "all"]
        assert release.errors is not None
        deviations = release.errors.standard_deviations
        # 20 standard deviations of slack: what is tested is the wiring.
        assert np.all(np.abs(release.values - [*COUNTS, 3000]) < 20 * deviations)
        assert set(deviations[:4]) == {release.error.standard_deviation}
        assert deviations[4] == pytest.approx(deviations[0] * 2 / 3**0.5, rel=1e-3)
        assert release.errors.half_widths == pytest.approx(1.96 * deviations, rel=1e-3)
        assert release.covariance is not None
        stated = release.covariance.grouped_counts
        assert stated is not None
        assert stated.values_per_group == 5
        assert stated.variance == pytest.approx(deviations[0] ** 2)
        size = deviations[4] ** 2
        # f = (M + n) / 2 with n = M' / C: two counts share n / 2, and half of n is in each.
        assert stated.covariance == pytest.approx(size / 4)
        assert stated.size_variance == pytest.approx(size)
        assert stated.size_covariance == pytest.approx(size / 2)


def test_the_targets_of_releases_are_the_same_for_counts_and_for_nodes(people: World) -> None:
    """The levels of one path take them as targets for the nodes, without a conversion."""
    register(people)
    kind = kind_of(stored(people)[0])
    for name in ReleaseRequest.model_fields.keys() - {"tier"}:
        target = ReleaseRequest.model_validate({name: 0.5}).target()
        assert target is not None
        assert kind.target_on_draws(target) == target


def test_at_one_loss_each_count_has_less_noise_than_by_itself(people: World) -> None:
    together = register(people)
    alone = register(people, name="alone", structure=None)
    for one, other in zip(together.tiers, alone.tiers, strict=True):
        assert one.guarantee.rho == pytest.approx(other.guarantee.rho, rel=2e-2)
        ratio = one.error.standard_deviation / other.error.standard_deviation
        assert ratio == pytest.approx(1.5 / 2, rel=2e-2)


def test_values_are_read_from_nodes_that_alone_are_stored(people: World) -> None:
    register(people)
    views = [people.ask(name, "habits").view for name in ("ines", "pia")]
    query, states = stored(people)
    nodes = nodes_of(CorrelatedQuery.model_validate(_data_half(query)), query.dimension)
    for view, state in zip(views, states, strict=True):
        assert state.shape == (5,)
        read = nodes.values(state, Fraction(query.granularity))
        assert view.values.tobytes() == read.tobytes()
    assert json.loads(query.spec)["trade_off"] == 5792 / 4096


def _data_half(query: Query) -> dict[str, Any]:
    spec = json.loads(query.spec)
    return {name: part for name, part in spec.items() if name in CorrelatedQuery.model_fields}


def test_a_repeat_and_the_history_have_the_same_bytes(people: World) -> None:
    register(people)
    first = people.ask("pia", "habits").view
    kept = history.values(people.server, people.person("pia"), first.id)
    for again in (people.ask("pia", "habits").view, kept):
        assert rendered(again.values) == rendered(first.values)
        assert rendered(again.errors) == rendered(first.errors)


def test_all_of_it_is_one_charge_a_tier(people: World) -> None:
    register(people)
    with people.server.database.read() as session:
        charges = session.exec(select(Charge)).all()
    assert len(charges) == 3
    for name in ("pia", "ines"):
        people.ask(name, "habits")
    both, best = (
        exposure.of(people.server, people.person("otto"), names, "people")
        for names in (["pia", "ines"], ["ines"])
    )
    assert both.could_be == best.could_be
    assert both.released == best.released
    assert both.independent.epsilon > best.independent.epsilon


def test_a_preview_settles_what_a_registration_does(people: World) -> None:
    request = TypeAdapter[Any](PreviewRequest).validate_python(ASKED)
    before = query_preview.preview(people.server, OPERATOR, request)
    view = register(people)
    assert before.dimension == view.dimension
    assert before.sensitivity == view.sensitivity
    assert [tier.error for tier in before.tiers] == [tier.error for tier in view.tiers]


def previewed(world: World, **changes: object) -> Any:
    sent = {name: part for name, part in {**ASKED, **changes}.items() if part is not None}
    request = TypeAdapter[Any](PreviewRequest).validate_python(sent)
    return query_preview.preview(world.server, OPERATOR, request)


def test_a_preview_compares_the_ways_at_the_loss_of_each_tier(people: World) -> None:
    found = previewed(people)
    ways = {(one.structure, one.trade_off, one.known_size): one for one in found.structures}
    alone, known = ways[None, None, False], ways["correlated", None, True]
    best, most = ways["correlated", 5792 / 4096, False], ways["correlated", 2.0, False]
    least = ways["correlated", None, False]
    assert (least.asked, least.dimension, least.tiers[0].size_error) == (False, 4, None)
    assert [one.asked for one in (alone, known, best, most)] == [False, False, True, False]
    assert [one.dimension for one in (alone, known, best, most)] == [4, 4, 5, 5]
    for tier, asked in enumerate(found.tiers):
        deviations = [
            one.tiers[tier].error.standard_deviation for one in (alone, best, most, known, least)
        ]
        assert deviations[1] == pytest.approx(asked.error.standard_deviation, rel=1e-6)
        # In units of the standard mechanism's, over 4 columns: (sqrt 4 + 1) / 2 of 2.
        ratios = [one / deviations[0] for one in deviations]
        assert ratios == pytest.approx([1, 0.75, (10 / 16) ** 0.5, 0.5, 0.75], rel=1e-3)
        sizes = [one.tiers[tier].size_error.standard_deviation for one in (best, most)]
        assert [one / deviations[0] for one in sizes] == pytest.approx(
            [3**0.5 / 2, 2**0.5 / 2], rel=1e-3
        )


def test_ways_that_do_not_fit_are_not_compared(people: World) -> None:
    assert previewed(people, structure=None).structures is not None
    pure = {"mechanism": "laplace", "levels": {"internal": {"epsilon": 0.5}}}
    assert previewed(people, structure=None, **pure).structures is None
    one = {"max_groups": 1, "max_rows_per_group": 1}
    apart = {**BY_CLUB, "structure": None, "contribution": one}
    assert previewed(people, **apart).structures is None
    few = {**BY_CLUB, "structure": None, "contribution": {**one, "max_groups": 2}}
    kinds = [(way.structure, way.known_size) for way in previewed(people, **few).structures]
    assert kinds == [
        (None, False),
        ("correlated", False),
        ("correlated", False),
        ("correlated", True),
    ]


@pytest.mark.parametrize("target", ["standard_deviation", "half_width"])
def test_noise_that_is_asked_for_is_that_of_a_count(people: World, target: str) -> None:
    levels = {"public": {target: 60.0}, "internal": {target: 12.0}}
    view = register(people, levels=levels)
    for tier, wanted in zip((view.tiers[0], view.tiers[2]), (60, 12), strict=True):
        found = getattr(tier.error, target)
        assert wanted * (1 - 1e-6) <= found < 1.02 * wanted


def test_the_ceiling_is_raised_around_the_same_counts(people: World) -> None:
    register(people)
    people.ask("ines", "habits")
    wanted = LevelsChange.model_validate({"levels": {"internal": {"standard_deviation": 1.2}}})
    view = queries.change(people.server, OPERATOR, "habits", wanted)
    assert view.tiers[2].error.standard_deviation == pytest.approx(1.2, rel=2e-2)
    release = people.ask("ines", "habits").view
    assert release.errors is not None
    wrong = np.abs(release.values - [*COUNTS, 3000])
    assert np.all(wrong < 20 * release.errors.standard_deviations)


def test_a_size_that_is_known_halves_the_deviation(people: World) -> None:
    view = register(people, known_size=3000)
    assert view.dimension == 4
    release = people.ask("ines", "habits").view
    assert release.keys == list(HABITS)
    assert (release.errors, release.covariance) == (None, None)
    assert np.all(np.abs(release.values - COUNTS) < 20 * release.error.standard_deviation)
    alone = register(people, name="alone", structure=None)
    ratio = view.tiers[0].error.standard_deviation / alone.tiers[0].error.standard_deviation
    assert ratio == pytest.approx(0.5, rel=2e-2)
    # What it is taken for is read into a release, so that another number is no other query.
    with pytest.raises(Conflict, match="'habits'"):
        register(people, name="again", known_size=2999)


def test_counts_without_their_size_have_less_noise_and_are_read_from_their_nodes(
    people: World,
) -> None:
    three = {**ASKED["aggregate"], "columns": list(HABITS[:3])}
    less = register(people, aggregate=three, release_size=False)
    more = register(people, name="sized", aggregate=three)
    assert (less.dimension, more.dimension) == (3, 4)
    for one, other in zip(less.tiers, more.tiers, strict=True):
        ratio = one.error.standard_deviation / other.error.standard_deviation
        assert ratio == pytest.approx((1.8 / 1.8660) ** 0.5, rel=1e-2)
    views = [people.ask(name, "habits").view for name in ("ines", "pia")]
    query, states = stored(people)
    nodes = nodes_of(CorrelatedQuery.model_validate(_data_half(query)), query.dimension)
    assert nodes == Ellipse(3, 3)
    assert "trade_off" not in json.loads(query.spec)
    for view, state in zip(views, states, strict=True):
        assert view.keys == list(HABITS[:3])
        assert view.errors is None
        read = nodes.values(state, Fraction(query.granularity))
        assert view.values.tobytes() == read.tobytes()
        assert np.all(np.abs(read - COUNTS[:3]) < 20 * view.error.standard_deviation)


@pytest.mark.parametrize(("groups", "keys"), [(4, [*"abcde", "all"]), (2, list("abcde"))])
def test_groups_of_which_a_unit_is_in_several_are_released(
    people: World, groups: int, keys: list[str]
) -> None:
    limits = {"max_groups": groups, "max_rows_per_group": 1}
    view = register(people, **{**BY_CLUB, "contribution": limits})
    assert view.dimension == len(keys)
    release = people.ask("ines", "clubs").view
    assert release.keys == keys
    exact = [600] * 5 + [3000] * (len(keys) - 5)
    assert np.all(np.abs(release.values - exact) < 60 * release.error.standard_deviation)
    alone = register(
        people, **{**BY_CLUB, "name": "alone", "contribution": limits, "structure": None}
    )
    assert view.tiers[0].error.standard_deviation < alone.tiers[0].error.standard_deviation


def test_columns_are_counted_in_each_group(people: World) -> None:
    register(people, group_by=[{"column": "town"}], contribution={"max_groups": 1})
    release = people.ask("ines", "habits").view
    assert release.keys == [[town, key] for town in ("north", "south") for key in (*HABITS, "all")]
    assert release.errors is not None
    sizes = release.values[[4, 9]]
    assert np.all(np.abs(sizes - [2250, 750]) < 20 * release.errors.standard_deviations[4])


def test_a_registration_that_was_interrupted_is_finished(
    people: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off_before_the_anchor(monkeypatch, lambda: register(people))
    assert register(people).status == "active"
    with people.server.database.read() as session:
        assert len(session.exec(select(Charge)).all()) == 3


def test_the_same_nodes_are_never_drawn_twice_and_others_are_charged_anew(people: World) -> None:
    register(people)
    swapped = {**ASKED["aggregate"], "columns": list(reversed(HABITS))}
    with pytest.raises(Conflict, match="'habits'"):
        register(people, name="again", aggregate=swapped)
    register(people, name="others", trade_off=3, levels={"internal": {"rho": 0.01}})
    with people.server.database.read() as session:
        assert len(session.exec(select(Charge)).all()) == 4


def test_tables_have_the_interval_of_each_value(people: World) -> None:
    register(people)
    view = people.ask("ines", "habits").view
    assert view.errors is not None
    table = table_of(view)
    assert table.column_names == ["key", "value", "lower", "upper"]
    half = view.errors.half_widths
    assert table.column("upper").to_pylist() == (view.values + half).tolist()
    assert "errors" not in json.loads(table.schema.metadata[b"penstock"])
    read = csv.read_csv(io.BytesIO(answer_of(view, "csv").get_data()))
    assert read.column("lower").to_pylist() == (view.values - half).tolist()
    shown = document(view)
    assert [float(str(row[3])) - float(str(row[1])) for row in shown.rows] == pytest.approx(
        half.tolist()
    )


def test_other_noise_protects_no_counts_together() -> None:
    for mechanism in ("laplace", "poisson", "skellam"):
        with pytest.raises(ValidationError, match="gaussian"):
            asked(mechanism=mechanism)
    with pytest.raises(ValidationError, match="trade_off"):
        asked(structure=None, trade_off=3)
    with pytest.raises(ValidationError, match="nothing to trade off"):
        asked(known_size=9, trade_off=3)
