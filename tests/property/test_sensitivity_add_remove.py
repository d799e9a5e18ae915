"""Test that no person moves an answer by more than was derived, and one can move it by all of that.

Random files are asked with and without one whole person; the answers, as DuckDB computes
them, differ by no more than the derived norms.  A person built for the purpose attains
all three norms at once.  So that the test can fail, the same measurement is made against
norms that are too small, and finds them out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.thorough import by_count
from tests.unit.connectors.cases import Folder, dataset_of, prepared, query_of

from penstock.connectors.specs.models import ComputedQuery
from penstock.privacy import Sensitivity

WARDS = ("a", "b", "c", "d")
CELLS = ("-9e99", "-3", "-0.5", "0", "0.25", "2", "7.75", "100", "nan", "", "x")

Row = tuple[str, str, str]
NAMES = ["person", "ward", "cost"]


@dataclass(frozen=True)
class Question:
    """Hold a query and the bounds of the column that it adds up."""

    aggregate: dict[str, Any]
    lower: float = -3
    upper: float = 7.5
    step: float = 0.5

    @property
    def columns(self) -> dict[str, object]:
        bounds = {"lower": self.lower, "upper": self.upper, "step": self.step}
        return {
            "person": {"type": "string"},
            "ward": {"type": "string", "categories": list(WARDS)},
            "cost": {"type": "number", **bounds} if self.aggregate != OUTSIDE else NAMED,
        }

    def query(self, max_groups: int, max_rows: int) -> ComputedQuery:
        contribution = {"max_groups": max_groups, "max_rows_per_group": max_rows}
        over_columns = self.aggregate["type"] in ("marginals", "workload")
        groups = [] if over_columns else [{"column": "ward"}]
        return query_of(self.aggregate, group_by=groups, contribution=contribution)


SUM = {"type": "sum", "column": "cost"}
MEAN = {"type": "mean", "column": "cost"}
OUTSIDE = {"type": "uncategorized", "column": "cost"}
MOMENTS = {"type": "moments", "columns": ["cost"]}
NAMED = {"type": "string", "categories": ["0.25", "2", "2.0"]}
"""A column with the cells of the others as texts, of which two are categories."""

BINS = [-3, 0, 2, 100]
MARGINALS = {"type": "marginals", "columns": ["ward", {"column": "cost", "bins": BINS}]}
WORKLOAD = {
    **MARGINALS,
    "type": "workload",
    "queries": "identity",
    "strategy": ["marginals", [[1, 1, 0], [0, -2, 0], [1, 0, 3]]],
}
OVER_COLUMNS = {"marginals": Question(MARGINALS), "workload": Question(WORKLOAD)}
QUESTIONS = {
    "count": Question({"type": "count"}),
    "count_units": Question({"type": "count_units"}),
    "sum": Question(SUM),
    "sum above zero": Question(SUM, lower=1, upper=5),
    "sum below zero": Question(SUM, lower=-5, upper=-1),
    "sum in steps of three": Question(SUM, lower=-8, upper=7, step=3),
    "histogram": Question({"type": "histogram", "column": "cost", "bins": BINS}),
    "mean": Question(MEAN),
    "mean above zero": Question(MEAN, lower=1, upper=5),
    "mean in steps of three": Question(MEAN, lower=-8, upper=7, step=3),
    "uncategorized": Question(OUTSIDE),
    "moments": Question(MOMENTS),
    "quantiles": Question({"type": "quantiles", "column": "cost", "bins": 6}),
    "sums of order 1": Question({**MOMENTS, "order": 1}),
    "sums of order 1 on a coarse grid": Question(
        {**MOMENTS, "order": 1, "grid": 16, "weights": {"n": 3, "sum:cost": 2}}
    ),
    "equal moments on a coarse grid": Question(
        {**MOMENTS, "grid": 16, "weights": "equal"}, lower=-8, upper=7
    ),
}


def _change(
    path: Path, question: Question, query: ComputedQuery, others: list[Row], one: list[Row]
) -> tuple[list[Fraction], Sensitivity]:
    """Return three norms of what a person changes (the Euclidean one squared), and the derived."""
    folder = Folder(path, NAMES)
    dataset = dataset_of(columns=question.columns)
    folder.csv(others)
    without = folder.ask(dataset, query)
    folder.csv([*others[::2], *one, *others[1::2]])
    moved = np.abs(folder.ask(dataset, query) - without).astype(object)
    step = prepared(dataset, query).step
    norms = [moved.sum() * step, (moved * moved).sum() * step * step, moved.max() * step]
    return norms, prepared(dataset, query).sensitivity


def _derived(sensitivity: Sensitivity) -> list[Fraction]:
    return [sensitivity.l1, sensitivity.l2_squared, sensitivity.linf]


cells = st.tuples(st.sampled_from([*WARDS, "elsewhere", ""]), st.sampled_from(CELLS))


@pytest.mark.parametrize("name", [*QUESTIONS, *OVER_COLUMNS])
@settings(max_examples=by_count(5, 25), deadline=None)
@given(
    one=st.lists(cells, max_size=25),
    others=st.lists(st.tuples(st.sampled_from(["p", "q", ""]), cells), max_size=12),
    max_groups=st.integers(1, 13),
    max_rows=st.integers(1, 4),
)
def test_removing_a_person_never_moves_an_answer_further_than_derived(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    one: list[tuple[str, str]],
    others: list[tuple[str, tuple[str, str]]],
    max_groups: int,
    max_rows: int,
) -> None:
    question = {**QUESTIONS, **OVER_COLUMNS}[name]
    norms, sensitivity = _change(
        tmp_path_factory.mktemp("files"),
        question,
        question.query(max_groups, max_rows),
        [(person, *cell) for person, cell in others],
        [("one", *cell) for cell in one],
    )
    for measured, derived in zip(norms, _derived(sensitivity), strict=True):
        assert measured <= derived


def _worst(question: Question) -> Sequence[Row]:
    """Return a person with more rows of the extreme value, in every ward, than are let in."""
    extreme = question.lower if -question.lower > question.upper else question.upper
    if question.aggregate["type"] == "moments":
        extreme = 1e9  # the end of the grid is somewhat above the upper bound
    values = BINS[:-1] if question.aggregate["type"] == "histogram" else [extreme]
    return [("one", ward, str(value)) for ward in WARDS for value in values for _ in range(6)]


@pytest.mark.parametrize("max_groups", [1, pytest.param(3, marks=pytest.mark.nightly), 4])
@pytest.mark.parametrize("max_rows", [1, 5])
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_worst_person_attains_every_norm(
    tmp_path: Path, name: str, max_groups: int, max_rows: int
) -> None:
    question = QUESTIONS[name]
    query = question.query(max_groups, max_rows)
    others: list[Row] = [("p", "a", "2"), ("q", "b", "-1"), ("p", "c", "0")]
    norms, sensitivity = _change(tmp_path, question, query, others, list(_worst(question)))
    assert norms == _derived(sensitivity)


@pytest.mark.parametrize("max_groups", [1, 3])
def test_a_person_with_rows_in_cells_that_differ_in_one_column_attains_the_norm_of_marginals(
    tmp_path: Path, max_groups: int
) -> None:
    question = Question(MARGINALS)
    rows = [("one", "a", value) for value in ("-3", "1", "2")[:max_groups] for _ in range(6)]
    norms, sensitivity = _change(tmp_path, question, question.query(max_groups, 2), [], rows)
    assert norms[1] == sensitivity.l2_squared
    assert max_groups > 1 or norms == _derived(sensitivity)


@pytest.mark.parametrize("max_rows", [1, 5])
def test_a_person_with_rows_in_the_heaviest_cell_attains_every_norm_of_a_workload(
    tmp_path: Path, max_rows: int
) -> None:
    """The last bin has the largest column of the strategy in every norm."""
    question = Question(WORKLOAD)
    rows: list[Row] = [("one", "b", "2")] * 6
    norms, sensitivity = _change(tmp_path, question, question.query(1, max_rows), [], rows)
    assert norms == _derived(sensitivity)


@pytest.mark.parametrize("name", QUESTIONS)
def test_norms_that_are_too_small_are_found_out(tmp_path: Path, name: str) -> None:
    question = QUESTIONS[name]
    loose, tight = question.query(3, 5), question.query(2, 4)
    _, too_small = _change(tmp_path, question, tight, [], [])
    norms, _ = _change(tmp_path, question, loose, [], list(_worst(question)))
    assert norms[0] > too_small.l1
    assert norms[1] > too_small.l2_squared
    if question.aggregate["type"] != "count_units":
        assert norms[2] > too_small.linf


@settings(max_examples=by_count(5, 25), deadline=None)
@given(rows=st.lists(cells, max_size=12), row=cells)
def test_where_each_row_is_a_unit_one_row_moves_one_key(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str]],
    row: tuple[str, str],
) -> None:
    question = QUESTIONS["sum"]
    folder = Folder(tmp_path_factory.mktemp("files"), NAMES)
    dataset = dataset_of(columns=question.columns, unit={"rows": 1})
    query = query_of(SUM, group_by=[{"column": "ward"}], contribution={})
    folder.csv([("p", *cell) for cell in rows])
    without = folder.ask(dataset, query)
    folder.csv([("p", *cell) for cell in [*rows, row]])
    moved = np.abs(folder.ask(dataset, query) - without)
    assert np.count_nonzero(moved) <= 1
    assert moved.max() <= 15
    assert prepared(dataset, query).sensitivity.l1 == Fraction(15, 2)


def test_saturation_moves_no_answers_apart(tmp_path: Path) -> None:
    folder = Folder(tmp_path, NAMES)
    question = QUESTIONS["sum"]
    dataset = dataset_of(columns=question.columns, max_units=2)
    query = question.query(1, 1)
    crowd: list[Row] = [(f"p{number}", "a", "7.5") for number in range(5)]
    folder.csv(crowd)
    assert folder.ask(dataset, query).tolist() == [30, 0, 0, 0]
    folder.csv(crowd[1:])
    assert folder.ask(dataset, query).tolist() == [30, 0, 0, 0]
