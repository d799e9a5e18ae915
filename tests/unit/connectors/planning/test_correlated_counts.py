"""Test counts that are protected together: what they count, are refused for, and are known by."""

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.connectors.cases import (
    SALT,
    VISITS,
    Folder,
    correlated_of,
    dataset_of,
    prepared,
    query_of,
)
from tests.unit.connectors.reference import order_of

from penstock.connectors.planning.correlated_counts import nodes_of
from penstock.connectors.specs.correlated import CorrelatedQuery
from penstock.connectors.specs.models import ComputedQuery
from penstock.errors import InvalidInput
from penstock.structures.counts import Centered, Lift
from penstock.structures.ellipse import Ellipse

Person = str | None
Row = tuple[Person, str, str | None, str | None]

WARDS = ("a", "b", "c")
NAMES = ["person", "ward", "urgent", "insured"]
READ = {**{name: VISITS[name] for name in NAMES[:3]}, "insured": {"type": "boolean"}}
COLUMNS = {**VISITS, **READ}
BY_WARD = [{"column": "ward"}]
FLAGS: dict[str, Any] = {"type": "count", "columns": ["urgent", "insured"]}
UNITS: dict[str, Any] = {**FLAGS, "type": "count_units"}

ROWS: list[Row] = [
    ("ann", "a", "true", "false"),
    ("ann", "a", "true", None),
    ("ann", "a", "true", "true"),
    ("ann", "b", "false", "false"),
    ("ann", "c", "true", "true"),
    ("bob", "a", "perhaps", "true"),
    ("bob", "c", "false", "true"),
    ("cid", "b", None, None),
    (None, "b", "true", "true"),
    ("dan", "elsewhere", "true", "true"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    found = Folder(tmp_path, NAMES)
    found.csv(ROWS)
    return found


def _counted(rows: Iterable[Row], wards: int, most: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Count by ward both flags and the rows.

    A person counts in at most ``wards`` wards, with at most ``most`` rows in each.
    """
    found: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        if row[0] is not None and row[1] in WARDS:
            found[row[0], WARDS.index(row[1])].append(row)
    totals = np.zeros((len(WARDS), 3), dtype=np.int64)
    for person in {person for person, _ in found}:
        reached = sorted((ward for own, ward in found if own == person), key=_order_for(person))
        for ward in reached[:wards]:
            own = found[person, ward]
            for place, numbers in enumerate((_true(own, 2), _true(own, 3), len(own))):
                totals[ward, place] += min(numbers, most)
    return totals


def _order_for(person: str) -> Any:
    return lambda ward: (order_of(person, str(ward), SALT), ward)


def _true(rows: list[Row], place: int) -> int:
    return sum(row[place] == "true" for row in rows)


@pytest.mark.parametrize(("aggregate", "most"), [(FLAGS, 2), (UNITS, 1)])
@pytest.mark.parametrize("wards", [1, 2, 3])
def test_columns_are_counted_where_they_are_true_in_each_group(
    folder: Folder, aggregate: dict[str, Any], most: int, wards: int
) -> None:
    dataset = dataset_of(columns=READ)
    limits = {"max_groups": wards, "max_rows_per_group": 2}
    query = query_of(aggregate, group_by=BY_WARD, contribution=limits)
    wanted = _counted(ROWS, wards, most)[:, :2]
    assert folder.ask(dataset, query).tolist() == wanted.ravel().tolist()
    keys = prepared(dataset, query).keys
    assert keys is not None
    assert list(keys) == [[ward, name] for ward in WARDS for name in FLAGS["columns"]]


@pytest.mark.parametrize(("aggregate", "most"), [(FLAGS, 2), (UNITS, 1)])
@pytest.mark.parametrize("wards", [1, 2, 3])
def test_in_place_of_columns_stand_differences_and_sizes(
    folder: Folder, aggregate: dict[str, Any], most: int, wards: int
) -> None:
    dataset = dataset_of(columns=READ)
    limits = {"max_groups": wards, "max_rows_per_group": 2}
    query = correlated_of(aggregate, group_by=BY_WARD, contribution=limits)
    asked = prepared(dataset, query)
    assert isinstance(asked.nodes, Lift)
    values = asked.nodes.values(folder.ask(dataset, query), asked.step)
    wanted = _counted(ROWS, wards, most)
    assert values == pytest.approx(wanted.ravel(), abs=1e-9)
    names = [*FLAGS["columns"], "all"]
    assert list(asked.keys or ()) == [[ward, name] for ward in WARDS for name in names]


def test_groups_that_overlap_are_taken_off_the_number_of_units(folder: Folder) -> None:
    dataset = dataset_of(columns=READ)
    limits = {"max_groups": 2, "max_rows_per_group": 2}
    query = correlated_of(group_by=BY_WARD, contribution=limits)
    asked = prepared(dataset, query)
    assert isinstance(asked.nodes, Lift)
    assert list(asked.keys or ()) == [*WARDS, "all"]
    exact = folder.ask(dataset, query)
    counts = _counted(ROWS, 2, 2)[:, 2]
    assert exact[:3].tolist() == ((2 * counts - 2 * 3) << 12).tolist()
    assert asked.nodes.values(exact, asked.step) == pytest.approx([*counts, 3], abs=1e-9)
    known = correlated_of(group_by=BY_WARD, contribution=limits, known_size=3)
    assert folder.ask(dataset, known).tolist() == (2 * counts - 2 * 3).tolist()
    plan = prepared(dataset, known)
    assert isinstance(plan.nodes, Centered)
    assert plan.nodes.values(folder.ask(dataset, known), plan.step).tolist() == counts.tolist()


def test_a_unit_in_few_of_many_groups_has_the_ellipse(folder: Folder) -> None:
    wards = [*WARDS, "d", "e"]
    columns = {**READ, "ward": {"type": "string", "categories": wards}}
    dataset = dataset_of(columns=columns)
    limits = {"max_groups": 2, "max_rows_per_group": 3}
    query = correlated_of(group_by=BY_WARD, contribution=limits)
    asked = prepared(dataset, query)
    assert asked.nodes == Ellipse(5, 2)
    assert list(asked.keys or ()) == wards
    values = asked.nodes.values(folder.ask(dataset, query), asked.step)
    assert values == pytest.approx([*_counted(ROWS, 2, 3)[:, 2], 0, 0], abs=1e-9)


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_without_a_size_columns_have_an_ellipse_in_each_group(folder: Folder, groups: int) -> None:
    dataset = dataset_of(columns=READ)
    limits = {"max_groups": groups, "max_rows_per_group": 2}
    query = correlated_of(FLAGS, group_by=BY_WARD, contribution=limits, release_size=False)
    asked = prepared(dataset, query)
    assert asked.nodes == Ellipse(2, 2, groups=3)
    assert list(asked.keys or ()) == [[ward, name] for ward in WARDS for name in FLAGS["columns"]]
    values = asked.nodes.values(folder.ask(dataset, query), asked.step)
    assert values == pytest.approx(_counted(ROWS, groups, 2)[:, :2].ravel(), abs=1e-9)
    one = asked.nodes.change(2)
    assert asked.sensitivity.l2_squared == groups * one.l2_squared * asked.step**2


@pytest.mark.parametrize("groups", [2, 3])
def test_the_size_of_groups_that_overlap_is_released_or_left_out_at_request(
    folder: Folder, groups: int
) -> None:
    dataset = dataset_of(columns=READ)
    limits = {"max_groups": groups, "max_rows_per_group": 2}
    found = {}
    for request in (None, True, False):
        query = correlated_of(group_by=BY_WARD, contribution=limits, release_size=request)
        asked = prepared(dataset, query)
        assert asked.nodes is not None
        values = asked.nodes.values(folder.ask(dataset, query), asked.step)
        assert values[:3] == pytest.approx(_counted(ROWS, groups, 2)[:, 2], abs=1e-9)
        variance = asked.nodes.variance * asked.sensitivity.l2_squared
        found[request] = asked.nodes, asked.dimension, variance
    assert found[None] == found[True]
    assert found[True][:2] == (Lift(3, 1, 5390, 2), 4)
    assert found[False][:2] == (Ellipse(3, groups), 3)
    assert found[False][2] < 0.97 * found[True][2]


def test_without_groups_the_keys_are_the_columns(folder: Folder) -> None:
    dataset = dataset_of(columns=READ, unit={"rows": 1})
    plain = query_of(FLAGS, contribution={})
    assert list(prepared(dataset, plain).keys or ()) == ["urgent", "insured"]
    assert folder.ask(dataset, plain).tolist() == [6, 6]
    together = correlated_of(FLAGS, contribution={})
    asked = prepared(dataset, together)
    assert asked.nodes is not None
    assert list(asked.keys or ()) == ["urgent", "insured", "all"]
    values = asked.nodes.values(folder.ask(dataset, together), asked.step)
    assert values == pytest.approx([6, 6, 10], abs=1e-9)


def test_the_best_trade_off_is_taken_unless_one_is_given() -> None:
    dataset, plain = dataset_of(columns=COLUMNS), {"aggregate": UNITS, "group_by": BY_WARD}
    best = prepared(dataset, correlated_of(**plain)).nodes
    assert isinstance(best, Lift)
    assert float(best.trade_off) == pytest.approx(2**0.25, abs=1e-3)
    given = prepared(dataset, correlated_of(**plain, trade_off=5)).nodes
    assert given == Lift(2, 3, 5 << 12)
    replacing = dataset_of(columns=COLUMNS, neighboring="replace")
    assert prepared(replacing, correlated_of(**plain)).nodes == Lift(2, 3, 5792)


@pytest.mark.parametrize(
    "query",
    [
        correlated_of(FLAGS),
        correlated_of(UNITS, group_by=BY_WARD),
        correlated_of(FLAGS, known_size=40),
        correlated_of(group_by=BY_WARD),
        correlated_of({"type": "count_units"}, group_by=BY_WARD),
        correlated_of(group_by=BY_WARD, known_size=12),
        correlated_of(
            group_by=[{"column": "day"}, {"column": "ward"}],
            contribution={"max_groups": 9, "max_rows_per_group": 4},
        ),
        correlated_of(
            group_by=[{"column": "day"}, {"column": "ward"}],
            contribution={"max_groups": 3, "max_rows_per_group": 4},
        ),
        correlated_of(FLAGS, release_size=False),
        correlated_of(UNITS, group_by=BY_WARD, release_size=False),
        correlated_of(group_by=BY_WARD, release_size=False),
        correlated_of(group_by=BY_WARD, release_size=True),
        correlated_of(FLAGS, release_size=False, known_size=40),
    ],
)
def test_nodes_are_known_again_from_the_settled_spec(query: CorrelatedQuery) -> None:
    asked = prepared(dataset_of(columns=COLUMNS), query)
    settled = query
    if isinstance(asked.nodes, Lift):
        settled = query.model_copy(update={"trade_off": float(asked.nodes.trade_off)})
    assert nodes_of(settled, asked.dimension) == asked.nodes
    assert prepared(dataset_of(columns=COLUMNS), settled).nodes == asked.nodes


def test_what_is_protected_decides_which_counts_are_the_same() -> None:
    dataset = dataset_of(columns=COLUMNS)

    def known(query: ComputedQuery) -> str | None:
        return prepared(dataset, query).canonical_hash

    swapped = {**FLAGS, "columns": ["insured", "urgent"]}
    best = float(2**0.25)
    alike = [
        correlated_of(FLAGS),
        correlated_of(swapped),
        correlated_of(FLAGS, trade_off=4870 / 4096),
        correlated_of(FLAGS, release_size=True),
    ]
    assert len({known(query) for query in alike}) == 1
    # What a size is taken for is read into a release, and no part of it.
    assert known(correlated_of(FLAGS, known_size=1)) == known(correlated_of(FLAGS, known_size=2))
    different = [
        query_of(FLAGS),
        query_of(),
        query_of(UNITS),
        correlated_of(FLAGS),
        correlated_of(FLAGS, trade_off=2 * best),
        correlated_of(FLAGS, known_size=1),
        correlated_of(FLAGS, release_size=False),
        correlated_of({**FLAGS, "columns": ["urgent"]}),
    ]
    assert len({known(query) for query in different}) == len(different)


def test_a_trade_off_costs_and_gains_what_is_derived() -> None:
    dataset = dataset_of(columns=COLUMNS, unit={"rows": 1})
    asked = prepared(dataset, correlated_of(FLAGS, contribution={}, trade_off=3))
    assert asked.sensitivity.l2_squared == 2 + 9
    assert asked.sensitivity.l1 == 2 + 3
    assert asked.sensitivity.linf == 3
    assert asked.step == Fraction(1, 4096)
    assert asked.dimension == 3


REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"aggregate": {"type": "sum", "column": "cost"}, "group_by": BY_WARD}, {}, "/structure"),
    ({"group_by": []}, {}, "/structure"),
    ({"group_by": BY_WARD, "contribution": {"max_groups": 1, "max_rows_per_group": 1}}, {}, "/s"),
    ({"group_by": BY_WARD}, {"neighboring": "replace"}, "/structure"),
    ({"group_by": BY_WARD}, {"unit": {"rows": 1}}, "/structure"),
    ({"aggregate": FLAGS, "group_by": BY_WARD, "known_size": 4}, {}, "/known_size"),
    ({"aggregate": {**FLAGS, "columns": ["all"]}}, {}, "/structure"),
    ({"aggregate": {**FLAGS, "columns": ["age"]}}, {}, "/aggregate/columns/0"),
    ({"aggregate": {**FLAGS, "columns": ["urgent", "none"]}}, {}, "/aggregate/columns/1"),
    ({"group_by": [{"column": "alls"}]}, {}, "/structure"),
    ({"aggregate": FLAGS}, {"max_units": 2**41}, "/structure"),
    ({"aggregate": FLAGS, "release_size": False}, {"neighboring": "replace"}, "/release_size"),
    ({"aggregate": {**FLAGS, "columns": ["all"]}, "release_size": False}, {}, "/structure"),
]


@pytest.mark.parametrize(("changes", "dataset", "pointer"), REFUSED)
def test_what_cannot_be_protected_together_is_refused(
    changes: dict[str, Any], dataset: dict[str, Any], pointer: str
) -> None:
    more = {"all": {"type": "boolean"}, "alls": {"type": "string", "categories": ["all", "x", "y"]}}
    spec = dataset_of(columns={**COLUMNS, **more}, **dataset)
    with pytest.raises(InvalidInput) as refused:
        prepared(spec, correlated_of(**{"aggregate": {"type": "count"}, **changes}))
    assert str(refused.value.errors[0][0]).startswith(pointer)
