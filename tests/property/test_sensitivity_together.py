"""Test that one person moves counts protected together as far as derived, and no further.

Random files are queried with a person and without, or with another in that person's place;
the answers, as DuckDB computes them, differ by no more than the derived norms.  Counts over
columns with noise of their own are among them.  Persons built for the purpose attain all
three norms.  To show that the test can fail, they are measured against the norms of the
counts by themselves, against those of add_remove under replace, and against totals that
saturate before they are subtracted; all of these are too small.
"""

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.support.thorough import by_count
from tests.unit.connectors.cases import Folder, correlated_of, dataset_of, prepared, query_of

from penstock.connectors.specs.models import ComputedQuery, DatasetSpec
from penstock.privacy import Sensitivity
from penstock.structures.counts import Lift
from penstock.structures.ellipse import Ellipse

WARDS = ("a", "b", "c", "d")
NAMES = ["person", "ward", "old", "ill"]
FLAGS = {"type": "count", "columns": ["old", "ill"]}
BY_WARD = [{"column": "ward"}]

Cells = list[tuple[str, str, str]]


def _dataset(relation: str, max_units: int = 1 << 20) -> DatasetSpec:
    columns = {
        "person": {"type": "string"},
        "ward": {"type": "string", "categories": list(WARDS)},
        "old": {"type": "boolean"},
        "ill": {"type": "boolean"},
    }
    return dataset_of(columns=columns, neighboring=relation, max_units=max_units)


def _limits(groups: int, rows: int) -> dict[str, int]:
    return {"max_groups": groups, "max_rows_per_group": rows}


COLUMNS: dict[str, ComputedQuery] = {
    "columns by themselves": query_of(FLAGS, contribution=_limits(1, 2)),
    "columns of groups by themselves": query_of(
        FLAGS, group_by=BY_WARD, contribution=_limits(2, 2)
    ),
    "columns": correlated_of(FLAGS, contribution=_limits(1, 2)),
    "columns of groups": correlated_of(FLAGS, group_by=BY_WARD, contribution=_limits(1, 2)),
    "columns of two groups": correlated_of(FLAGS, group_by=BY_WARD, contribution=_limits(2, 3)),
    "columns of units": correlated_of(
        {**FLAGS, "type": "count_units"}, group_by=BY_WARD, contribution=_limits(3, 2), trade_off=9
    ),
    "a little for the size": correlated_of(FLAGS, contribution=_limits(1, 3), trade_off=0.4),
    "a known size": correlated_of(FLAGS, contribution=_limits(1, 2), known_size=5),
    "much for the size": correlated_of(
        FLAGS, group_by=BY_WARD, contribution=_limits(1, 4), trade_off=30
    ),
}
SIZELESS: dict[str, ComputedQuery] = {
    "columns without their size": correlated_of(
        FLAGS, contribution=_limits(1, 2), release_size=False
    ),
    "columns of two groups without their sizes": correlated_of(
        FLAGS, group_by=BY_WARD, contribution=_limits(2, 3), release_size=False
    ),
    "columns of units without their sizes": correlated_of(
        {**FLAGS, "type": "count_units"},
        group_by=BY_WARD,
        contribution=_limits(3, 2),
        release_size=False,
    ),
    "all groups without their size": correlated_of(
        group_by=BY_WARD, contribution=_limits(4, 2), release_size=False
    ),
    "units in most groups without their size": correlated_of(
        {"type": "count_units"},
        group_by=BY_WARD,
        contribution=_limits(3, 2),
        release_size=False,
    ),
}
OVERLAPPING: dict[str, ComputedQuery] = {
    "most groups": correlated_of(group_by=BY_WARD, contribution=_limits(3, 2)),
    "few groups": correlated_of(group_by=BY_WARD, contribution=_limits(2, 3)),
    "units in groups": correlated_of(
        {"type": "count_units"}, group_by=BY_WARD, contribution=_limits(3, 2), trade_off=2.5
    ),
    "groups of a known size": correlated_of(
        group_by=BY_WARD, contribution=_limits(2, 2), known_size=7
    ),
}
QUESTIONS = {"add_remove": {**COLUMNS, **SIZELESS, **OVERLAPPING}, "replace": COLUMNS}
ASKED = [(relation, name) for relation, asked in QUESTIONS.items() for name in asked]


def _answer(folder: Folder, dataset: DatasetSpec, query: ComputedQuery, rows: Cells) -> Any:
    others = [("zoe", "a", "true", "false"), ("zac", "b", "true", "true"), ("zac", "c", "x", "")]
    folder.csv([*others, *(("ann", *cells) for cells in rows)])
    return folder.ask(dataset, query).astype(object)


def _moved(answers: Iterable[NDArray[Any]], step: Fraction) -> list[Fraction]:
    one, two = answers
    moved = np.abs(two - one)
    return [moved.sum() * step, (moved * moved).sum() * step * step, moved.max() * step]


def _derived(sensitivity: Sensitivity) -> list[Fraction]:
    return [sensitivity.l1, sensitivity.l2_squared, sensitivity.linf]


truths = st.sampled_from(["true", "false", "maybe", ""])
cells = st.lists(st.tuples(st.sampled_from([*WARDS, "elsewhere"]), truths, truths), max_size=12)


@pytest.mark.parametrize(("relation", "name"), ASKED)
@settings(max_examples=by_count(3, 6), deadline=None)
@given(one=cells, two=cells)
def test_nobody_moves_counts_that_are_protected_together_further_than_derived(
    tmp_path_factory: pytest.TempPathFactory, relation: str, name: str, one: Cells, two: Cells
) -> None:
    dataset, query = _dataset(relation), QUESTIONS[relation][name]
    folder = Folder(tmp_path_factory.mktemp("files"), NAMES)
    pair: list[Cells] = [one, two if relation == "replace" else []]
    answers = [_answer(folder, dataset, query, rows) for rows in pair]
    asked = prepared(dataset, query)
    for measured, limit in zip(
        _moved(answers, asked.step), _derived(asked.sensitivity), strict=True
    ):
        assert measured <= limit


def _person(wards: Iterable[str], rows: int, truth: str) -> Cells:
    return [(ward, truth, truth) for ward in wards for _ in range(rows)]


def _pairs(query: ComputedQuery, relation: str) -> list[tuple[Cells, Cells]]:
    """Yield pairs of persons as far apart as any: in the same wards, in others, or nowhere."""
    groups = query.contribution.max_groups or 1
    most = query.contribution.max_rows_per_group or 1
    here = [_person(WARDS[:count], most, "true") for count in range(1, groups + 1)]
    if relation == "add_remove":
        one_flag = [(ward, "true", "false") for ward in WARDS[:groups] for _ in range(most)]
        return [(person, []) for person in (*here, one_flag)]
    pairs: list[tuple[Cells, Cells]] = [(here[-1], [])]
    for common in range(groups + 1):
        one = _person(WARDS[:groups], most, "true")
        own = WARDS[groups : 2 * groups - common]
        for rows in (1, most):
            two = _person(WARDS[:common], rows, "false") + _person(own, most, "true")
            pairs.append((one, two))
    return pairs


def _largest(
    folder: Folder, dataset: DatasetSpec, query: ComputedQuery, relation: str
) -> list[Fraction]:
    step = prepared(dataset, query).step
    found = [
        _moved([_answer(folder, dataset, query, rows) for rows in pair], step)
        for pair in _pairs(query, relation)
    ]
    return [max(norms) for norms in zip(*found, strict=True)]


@pytest.mark.parametrize(("relation", "name"), ASKED)
def test_the_worst_persons_attain_every_norm_of_counts_that_are_protected_together(
    tmp_path: Path, relation: str, name: str
) -> None:
    dataset, query = _dataset(relation), QUESTIONS[relation][name]
    asked = prepared(dataset, query)
    found = _largest(Folder(tmp_path, NAMES), dataset, query, relation)
    assert found == _derived(asked.sensitivity)


def test_the_norms_of_counts_by_themselves_are_too_small(tmp_path: Path) -> None:
    for name in ("columns", "most groups"):
        query = QUESTIONS["add_remove"][name]
        dataset = _dataset("add_remove")
        plain = query_of(
            query.aggregate, group_by=list(query.group_by), contribution=query.contribution
        )
        found = _largest(Folder(tmp_path, NAMES), dataset, query, "add_remove")
        small = prepared(dataset, plain).sensitivity
        assert found[0] > small.l1
        assert found[1] > small.l2_squared


def test_the_norms_of_add_remove_are_too_small_for_replace(tmp_path: Path) -> None:
    for name in ("columns", "columns of groups", "a known size"):
        query = COLUMNS[name]
        found = _largest(Folder(tmp_path, NAMES), _dataset("replace"), query, "replace")
        small = prepared(_dataset("add_remove"), query).sensitivity
        assert found[1] > small.l2_squared


@pytest.mark.parametrize(
    "name",
    [
        "columns",
        "a known size",
        "columns of two groups without their sizes",
        "most groups",
        "few groups",
        "all groups without their size",
    ],
)
def test_more_units_than_declared_move_no_answer_further(tmp_path: Path, name: str) -> None:
    query = QUESTIONS["add_remove"][name]
    folder, dataset = Folder(tmp_path, NAMES), _dataset("add_remove", max_units=1)
    limits = _derived(prepared(dataset, query).sensitivity)
    step = prepared(dataset, query).step
    for truth in ("true", "false"):
        for wards in (WARDS[:1], WARDS[1:3]):
            pair: list[Cells] = [_person(wards, 3, truth), []]
            found = _moved([_answer(folder, dataset, query, rows) for rows in pair], step)
            assert all(one <= limit for one, limit in zip(found, limits, strict=True))


def test_totals_that_saturate_before_they_are_taken_off_move_too_far(tmp_path: Path) -> None:
    """Three units where one is declared: their number no longer moves, and a count does."""
    folder, dataset = Folder(tmp_path, NAMES), _dataset("add_remove", max_units=2)
    limits = _limits(1, 1)
    each = query_of({**FLAGS, "columns": ["ill"]}, contribution=limits)
    number = query_of({"type": "count_units"}, contribution=limits)
    apart = [
        2 * _answer(folder, dataset, each, rows) - _answer(folder, dataset, number, rows)
        for rows in (_person("a", 1, "true"), [])
    ]
    known = correlated_of({**FLAGS, "columns": ["ill"]}, contribution=limits, known_size=0)
    assert _moved(apart, Fraction(1))[2] > prepared(dataset, known).sensitivity.linf


def test_what_is_asked_has_all_kinds_of_nodes() -> None:
    kinds = {type(prepared(_dataset("add_remove"), query).nodes) for query in OVERLAPPING.values()}
    assert {Lift, Ellipse} < kinds
