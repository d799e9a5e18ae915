"""Test that replacing one person by another moves answers as far as derived, and no further.

Random files are queried with one person and with another in that person's place; the
answers, as DuckDB computes them, differ by no more than the norms derived under replace.  For every
aggregate, two persons are built for each number of keys that they could share, and the
largest norms over these equal the derived ones, all three.  To show that the test can fail, the
same persons are measured against the norms of add_remove, which are too small.
"""

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

from penstock.connectors.planning.prepare import PreparedQuery
from penstock.connectors.planning.sensitivity import Contribution, Measure, derived
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec
from penstock.privacy import NeighboringRelation, Sensitivity

WARDS = ("a", "b", "c", "d")
CELLS = ("-9e99", "-3", "-0.5", "0", "0.25", "2", "7.75", "100", "nan", "", "x")

Cells = list[tuple[str, str]]
NAMES = ["person", "ward", "cost"]
REPLACE = NeighboringRelation.REPLACE
OWN_NORMS = {Measure.MOMENTS, Measure.QUANTILES, Measure.MARGINALS, Measure.WORKLOAD}


@dataclass(frozen=True)
class Question:
    """Hold a query, the bounds of the column that it adds up, and what is extreme in a person.

    ``given`` is the value of each of the ``max_rows`` rows that give the most to one ward;
    of two persons in one ward, ``apart`` has each one's value, and whether one row of it
    does more than all.
    """

    aggregate: dict[str, Any]
    given: float = 7.5
    apart: tuple[tuple[float, bool], tuple[float, bool]] = ((7.5, False), (7.5, True))
    lower: float = -3
    upper: float = 7.5
    step: float = 0.5

    def dataset(self, relation: str = "replace") -> DatasetSpec:
        bounds = {"lower": self.lower, "upper": self.upper, "step": self.step}
        columns = {
            "person": {"type": "string"},
            "ward": {"type": "string", "categories": list(WARDS)},
            "cost": {"type": "number", **bounds} if self.aggregate != OUTSIDE else NAMED,
        }
        return dataset_of(columns=columns, neighboring=relation)

    def query(self, max_groups: int, max_rows: int) -> ComputedQuery:
        contribution = {"max_groups": max_groups, "max_rows_per_group": max_rows}
        over_columns = self.aggregate["type"] in ("marginals", "workload")
        groups = [] if over_columns else [{"column": "ward"}]
        return query_of(self.aggregate, group_by=groups, contribution=contribution)


SUM = {"type": "sum", "column": "cost"}
MEAN = {"type": "mean", "column": "cost"}
OUTSIDE = {"type": "uncategorized", "column": "cost"}
NAMED = {"type": "string", "categories": ["0.25", "2", "2.0"]}
"""A column with the cells of the others as texts, of which two are categories."""

BOTH_ENDS = ((7.5, False), (-3.0, False))
QUESTIONS = {
    "count": Question({"type": "count"}),
    "count_units": Question({"type": "count_units"}),
    "histogram": Question({"type": "histogram", "column": "cost", "bins": [-3, 8]}),
    "sum": Question(SUM, apart=BOTH_ENDS),
    "sum from zero": Question(SUM, 5, ((5, False), (0, True)), lower=0, upper=5),
    "sum above zero": Question(SUM, 5, ((5, False), (1, True)), lower=1, upper=5),
    "sum below zero": Question(SUM, -5, ((-5, False), (-1, True)), lower=-5, upper=-1),
    "sum of one value": Question(SUM, 2, ((2, False), (2, True)), lower=2, upper=2),
    "mean": Question(MEAN, apart=BOTH_ENDS),
    "mean above zero": Question(MEAN, 5, ((5, False), (1, False)), lower=1, upper=5),
    "mean in steps of three": Question(MEAN, 9, ((9, False), (-9, False)), -8, 7, 3),
    "uncategorized": Question(OUTSIDE, apart=((7.5, False), (2, False))),
    "sums of order 1": Question(
        {"type": "moments", "columns": ["cost"], "order": 1}, 1e9, ((1e9, False), (-1e9, False))
    ),
    "quantiles": Question({"type": "quantiles", "column": "cost", "bins": 6}, apart=BOTH_ENDS),
}
TABLES = {"type": "marginals", "columns": ["ward", {"column": "cost", "bins": [-3, 0, 2, 8]}]}
MARGINALS = Question(TABLES)
ROWS = [[1, 1, 0], [0, -2, 0], [1, 0, 3]]
SUMS = {**TABLES, "type": "workload", "queries": "identity", "strategy": ["marginals", ROWS]}
WORKLOAD = Question(SUMS)
TREE = Question({**SUMS, "strategy": "tree"})
MOMENTS = Question({"type": "moments", "columns": ["cost"]}, 1e9, ((1e9, False), (-1e9, False)))


MORE = {"moments": MOMENTS, "marginals": MARGINALS, "workload": WORKLOAD, "tree": TREE}


def _norms(
    folder: Folder, question: Question, query: ComputedQuery, rest: Cells, one: Cells, two: Cells
) -> list[Fraction]:
    """Return norms (the Euclidean one squared) of what changes when ``two`` replaces ``one``."""
    dataset = question.dataset()
    answers = []
    for name, rows in (("one", one), ("two", two)):
        others = [(f"p{number % 3}", *cells) for number, cells in enumerate(rest)]
        folder.csv([*others[::2], *((name, *cells) for cells in rows), *others[1::2]])
        answers.append(folder.ask(dataset, query))
    moved = np.abs(answers[1] - answers[0]).astype(object)
    step = prepared(dataset, query).step
    return [moved.sum() * step, (moved * moved).sum() * step * step, moved.max() * step]


def _derived(sensitivity: Sensitivity) -> list[Fraction]:
    return [sensitivity.l1, sensitivity.l2_squared, sensitivity.linf]


cells = st.lists(
    st.tuples(st.sampled_from([*WARDS, "elsewhere", ""]), st.sampled_from(CELLS)), max_size=20
)


@pytest.mark.parametrize("name", [*QUESTIONS, *MORE])
@settings(max_examples=by_count(3, 10), deadline=None)
@given(
    one=cells,
    two=cells,
    rest=cells,
    max_groups=st.integers(1, 5),
    max_rows=st.integers(1, 4),
)
def test_replacing_a_person_never_moves_an_answer_further_than_derived(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    one: Cells,
    two: Cells,
    rest: Cells,
    max_groups: int,
    max_rows: int,
) -> None:
    question = {**QUESTIONS, **MORE}[name]
    folder = Folder(tmp_path_factory.mktemp("files"), NAMES)
    query = question.query(max_groups, max_rows)
    norms = _norms(folder, question, query, rest, one, two)
    limits = _derived(prepared(question.dataset(), query).sensitivity)
    for measured, limit in zip(norms, limits, strict=True):
        assert measured <= limit


def _worst(question: Question, max_groups: int, max_rows: int, common: int) -> tuple[Cells, Cells]:
    """Return two persons with ``common`` wards in common, as different there as they can be.

    Beyond these each has wards of their own, and gives the most to them.
    """
    persons: tuple[Cells, Cells] = ([], [])
    for (value, once), rows in zip(question.apart, persons, strict=True):
        for ward in WARDS[:common]:
            rows += [(ward, str(value))] * (1 if once else max_rows + 3)
    own = [WARDS[common:max_groups], WARDS[max_groups : 2 * max_groups - common]]
    for wards, rows in zip(own, persons, strict=True):
        for ward in wards:
            rows += [(ward, str(question.given))] * (max_rows + 3)
    return persons


def _largest(folder: Folder, question: Question, max_groups: int, max_rows: int) -> list[Fraction]:
    query = question.query(max_groups, max_rows)
    found = [
        _norms(folder, question, query, [], *_worst(question, max_groups, max_rows, common))
        for common in range(max_groups + 1)
    ]
    return [max(norms) for norms in zip(*found, strict=True)]


@pytest.mark.parametrize("max_groups", [1, 3, pytest.param(4, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("max_rows", [pytest.param(1, marks=pytest.mark.nightly), 3])
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_worst_two_persons_attain_every_norm(
    tmp_path: Path, name: str, max_groups: int, max_rows: int
) -> None:
    question = QUESTIONS[name]
    query = question.query(max_groups, max_rows)
    limits = _derived(prepared(question.dataset(), query).sensitivity)
    assert _largest(Folder(tmp_path, NAMES), question, max_groups, max_rows) == limits


def test_the_worst_two_persons_attain_the_norms_of_moments_but_for_rounding(
    tmp_path: Path,
) -> None:
    """The sum of the numbers is bounded by what each can reach, which they do not at once."""
    query = MOMENTS.query(3, 3)
    planned = prepared(MOMENTS.dataset(), query)
    limits = _derived(planned.sensitivity)
    l1, l2_squared, linf = _largest(Folder(tmp_path, NAMES), MOMENTS, 3, 3)
    assert linf == limits[2]
    # Each of three rows of a group, of both persons, may be rounded by a step of the grid, which
    # a number's weight multiplies.
    rounding = 2 * linf * (2 * 3 * planned.step) * _heaviest(planned)
    assert limits[1] - rounding < l2_squared <= limits[1]
    assert limits[0] / 2 < l1 <= limits[0]


def _heaviest(planned: PreparedQuery) -> int:
    """Return the largest weight of moments."""
    weights = planned.moments and planned.moments.weights
    return max(weights.values()) if isinstance(weights, dict) else 1


def test_the_worst_two_persons_attain_the_norm_of_marginals(tmp_path: Path) -> None:
    """They are in cells that differ in one column or in several: here in the first, or in both."""
    query = MARGINALS.query(1, 3)
    folder = Folder(tmp_path, NAMES)
    one: Cells = [("a", "-3")] * 5
    found = [
        _norms(folder, MARGINALS, query, [], one, [cell] * 5)[1]
        for cell in (("b", "-3"), ("a", "1"), ("b", "1"))
    ]
    assert max(found) == prepared(MARGINALS.dataset(), query).sensitivity.l2_squared


def test_the_worst_two_persons_attain_the_norms_of_a_workload(tmp_path: Path) -> None:
    """Where each key weighs as much as the others, two persons without a sum in common."""
    query = TREE.query(1, 3)
    one, two = [("a", "-3")] * 5, [("b", "2")] * 5
    reached = _norms(Folder(tmp_path, NAMES), TREE, query, [], one, two)
    assert reached == _derived(prepared(TREE.dataset(), query).sensitivity)


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_norms_of_add_remove_are_too_small_for_replace(tmp_path: Path, name: str) -> None:
    question = QUESTIONS[name]
    query = question.query(2, 3)
    small = prepared(question.dataset("add_remove"), query).sensitivity
    found = _largest(Folder(tmp_path, NAMES), question, 2, 3)
    assert found[0] > small.l1
    assert found[1] > small.l2_squared


@pytest.mark.parametrize("aggregate", [SUM, MEAN, {"type": "count"}])
def test_where_each_row_is_a_unit_one_row_takes_anothers_place(
    tmp_path: Path, aggregate: dict[str, Any]
) -> None:
    folder = Folder(tmp_path, NAMES)
    columns = QUESTIONS["sum"].dataset().columns
    dataset = dataset_of(columns=columns, unit={"rows": 1}, neighboring="replace")
    query = query_of(aggregate, group_by=[{"column": "ward"}], contribution={})
    found = []
    for ward, cost in (("a", "-3"), ("b", "7.5")):
        folder.csv([("p", "a", "7.5")])
        before = folder.ask(dataset, query)
        folder.csv([("p", ward, cost)])
        moved = np.abs(folder.ask(dataset, query) - before).astype(object)
        found.append([moved.sum(), (moved * moved).sum(), moved.max()])
    asked = prepared(dataset, query)
    in_steps = [
        asked.sensitivity.l1 / asked.step,
        asked.sensitivity.l2_squared / asked.step**2,
        asked.sensitivity.linf / asked.step,
    ]
    assert [max(norms) for norms in zip(*found, strict=True)] == in_steps


@given(
    measure=st.sampled_from(sorted(set(Measure) - OWN_NORMS)),
    max_rows=st.integers(1, 5),
    ends=st.tuples(st.integers(-9, 9), st.integers(-9, 9)),
    max_groups=st.integers(1, 12),
    more_keys=st.integers(0, 14),
)
def test_the_maximum_over_the_common_keys_is_found_without_trying_all(
    measure: Measure, max_rows: int, ends: tuple[int, int], max_groups: int, more_keys: int
) -> None:
    one = Contribution(measure, max_rows, min(ends), max(ends))
    keys = max_groups + more_keys
    found = derived(REPLACE, one, max_groups, keys)
    for norm in ("l1", "l2_squared"):
        given_to_one, apart = getattr(one.given, norm), getattr(one.exchanged, norm)
        tried = [
            common * apart + min(2 * (max_groups - common), keys - common) * given_to_one
            for common in range(max_groups + 1)
        ]
        assert getattr(found, norm) == max(tried)


@given(
    max_rows=st.integers(1, 4),
    ends=st.tuples(st.integers(-3, 3), st.integers(-3, 3)),
)
def test_what_two_present_persons_differ_by_is_found_by_trying_all(
    max_rows: int, ends: tuple[int, int]
) -> None:
    lowest, highest = min(ends), max(ends)
    width = highest - lowest
    sums, pairs = set(), set()
    for rows in range(1, max_rows + 2):
        for total in range(rows * lowest, rows * highest + 1):
            clamped = max(max_rows * min(lowest, 0), min(max_rows * max(highest, 0), total))
            sums.add((clamped,))
            centered = 2 * total - rows * (lowest + highest)
            if rows > max_rows:
                centered = round(Fraction(centered * max_rows, rows))
            pairs.add((centered, width * min(rows, max_rows)))
    for measure, reached in ((Measure.SUM, sums), (Measure.MEAN, pairs)):
        one = Contribution(measure, max_rows, lowest, highest)
        apart = [
            [abs(here - there) for here, there in zip(first, second, strict=True)]
            for first in reached
            for second in reached
        ]
        for norms, limits in ((apart, one.exchanged), (list(map(list, reached)), one.given)):
            assert max(sum(map(abs, each)) for each in norms) == limits.l1
            assert max(sum(part * part for part in each) for each in norms) == limits.l2_squared
            assert max(max(map(abs, each)) for each in norms) == limits.linf
