"""Test that no person moves an answer over derived columns further than was derived.

A derived column is taken for a declared one with the bounds and categories that follow from its
expression.  Random files are asked with and without one person, and with another one in that
person's place; persons built for the purpose attain every norm, and are measured against norms that
are too small.
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

from penstock.connectors.specs.models import ComputedQuery, DatasetSpec

NAMES = ["person", "ward", "visits", "late"]
WARDS = ("a", "b", "c", "d")
CELLS = ("-99999999999999999999", "-9223372036854775808", "-3", "0", "2", "7", "1e3", "", "x")

Cells = list[tuple[str, str, str]]

VISITS = {"column": "visits"}
IS_LATE = {"column": "late", "op": "=", "value": True}
DERIVED: dict[str, Any] = {
    "turned": {"subtract": [1, {"multiply": [2, VISITS]}]},
    "square": {"multiply": [VISITS, VISITS]},
    "own": {"case": [{"when": IS_LATE, "then": {"add": [VISITS, 4]}}], "else": -12},
    "kind": {
        "case": [
            {"when": {"not": IS_LATE}, "then": "early"},
            {"when": {"column": "visits", "op": ">", "value": 0}, "then": {"column": "ward"}},
        ]
    },
}
"""``turned`` is from -13 to 7, ``square`` from -21 to 49, ``own`` from -12 to 11."""


@dataclass(frozen=True)
class Question:
    """Hold what is asked, and what of a person's rows in one group moves an answer the furthest.

    ``given`` is such a row; of two persons in one group, ``apart`` has each one's row, and whether
    a single one does more than all.
    """

    fields: dict[str, Any]
    given: tuple[str, str]
    apart: tuple[tuple[tuple[str, str], bool], tuple[tuple[str, str], bool]]

    def query(self, max_groups: int, max_rows: int) -> ComputedQuery:
        limits = {"max_groups": max_groups, "max_rows_per_group": max_rows}
        fields = {"group_by": ["ward"], **self.fields}
        return query_of(derived=DERIVED, contribution=limits, **fields)


LOW, HIGH, LATE = ("-3", "false"), ("7", "false"), ("7", "true")
QUESTIONS = {
    "sum": Question(
        {"aggregate": {"type": "sum", "column": "turned"}}, HIGH, ((LOW, False), (HIGH, False))
    ),
    "sum of a case": Question(
        {"aggregate": {"type": "sum", "column": "own"}}, LOW, ((LOW, False), (LATE, False))
    ),
    "mean": Question(
        {"aggregate": {"type": "mean", "column": "turned"}}, HIGH, ((LOW, False), (HIGH, False))
    ),
    "count under conditions": Question(
        {
            "aggregate": {"type": "count"},
            "where": [
                {"any": [{"column": "kind", "op": "is_null"}, {"not": IS_LATE}]},
                {"not": {"column": "turned", "op": "=", "value": 1}},
            ],
        },
        HIGH,
        ((HIGH, False), (HIGH, True)),
    ),
}
LOOSE = {
    "square": Question(
        {"aggregate": {"type": "sum", "column": "square"}}, HIGH, ((HIGH, False), (HIGH, False))
    ),
    "derived groups": Question(
        {"aggregate": {"type": "count"}, "group_by": ["kind"]}, HIGH, ((HIGH, True), (LATE, False))
    ),
    "sums": Question(
        {"aggregate": {"type": "moments", "columns": ["turned"], "order": 1, "grid": 32}},
        HIGH,
        ((LOW, False), (HIGH, False)),
    ),
    "moments": Question(
        {"aggregate": {"type": "moments", "columns": ["turned", "own"], "grid": 32}},
        HIGH,
        ((LOW, False), (HIGH, False)),
    ),
    "quantiles": Question(
        {"aggregate": {"type": "quantiles", "column": "own", "bins": 6}},
        HIGH,
        ((LOW, False), (LATE, False)),
    ),
}
"""No row reaches the ends: the bounds of ``square`` are those of two columns that differ, a grid is
wider than bounds.  The others have tests of their own."""


def _dataset(relation: str) -> DatasetSpec:
    columns = {
        "person": {"type": "string"},
        "ward": {"type": "string", "categories": list(WARDS)},
        "visits": {"type": "integer", "lower": -3, "upper": 7},
        "late": {"type": "boolean"},
    }
    return dataset_of(columns=columns, neighboring=relation)


def _moved(
    folder: Folder, query: ComputedQuery, rest: Cells, persons: tuple[Cells, Cells]
) -> list[Fraction]:
    """Return norms (the Euclidean one squared) of what changes from one person to the other."""
    dataset = _dataset("replace")
    answers = []
    for name, rows in zip(("one", "two"), persons, strict=True):
        others = [(f"p{number % 3}", *cells) for number, cells in enumerate(rest)]
        folder.csv([*others[::2], *((name, *cells) for cells in rows), *others[1::2]])
        answers.append(folder.ask(dataset, query))
    moved = np.abs(answers[1] - answers[0]).astype(object)
    step = prepared(dataset, query).step
    return [moved.sum() * step, (moved * moved).sum() * step * step, moved.max() * step]


def _limits(relation: str, query: ComputedQuery) -> list[Fraction]:
    own = prepared(_dataset(relation), query).sensitivity
    return [own.l1, own.l2_squared, own.linf]


cells = st.lists(
    st.tuples(
        st.sampled_from([*WARDS, "elsewhere", ""]),
        st.sampled_from(CELLS),
        st.sampled_from(["true", "false", ""]),
    ),
    max_size=20,
)


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("name", [*QUESTIONS, *LOOSE])
@settings(max_examples=by_count(4, 20), deadline=None)
@given(one=cells, two=cells, rest=cells, max_groups=st.integers(1, 5), max_rows=st.integers(1, 4))
def test_no_person_moves_an_answer_further_than_derived(
    tmp_path_factory: pytest.TempPathFactory,
    relation: str,
    name: str,
    one: Cells,
    two: Cells,
    rest: Cells,
    max_groups: int,
    max_rows: int,
) -> None:
    query = {**QUESTIONS, **LOOSE}[name].query(max_groups, max_rows)
    folder = Folder(tmp_path_factory.mktemp("files"), NAMES)
    persons = (one, two if relation == "replace" else [])
    measured = _moved(folder, query, rest, persons)
    assert all(a <= b for a, b in zip(measured, _limits(relation, query), strict=True))


def _worst(question: Question, max_groups: int, max_rows: int, common: int) -> tuple[Cells, Cells]:
    """Return two persons with ``common`` wards in common, as different there as they can be."""
    persons: tuple[Cells, Cells] = ([], [])
    for (row, once), rows in zip(question.apart, persons, strict=True):
        for ward in WARDS[:common]:
            rows += [(ward, *row)] * (1 if once else max_rows + 3)
    own = [WARDS[common:max_groups], WARDS[max_groups : 2 * max_groups - common]]
    for wards, rows in zip(own, persons, strict=True):
        for ward in wards:
            rows += [(ward, *question.given)] * (max_rows + 3)
    return persons


def _largest(
    folder: Folder, question: Question, relation: str, max_groups: int, max_rows: int
) -> list[Fraction]:
    query = question.query(max_groups, max_rows)
    if relation == "add_remove":
        rows = [(ward, *question.given) for ward in WARDS for _ in range(max_rows + 3)]
        return _moved(folder, query, [("a", "2", "true")], (rows, []))
    several = [
        _moved(folder, query, [], _worst(question, max_groups, max_rows, common))
        for common in range(max_groups + 1)
    ]
    return [max(norms) for norms in zip(*several, strict=True)]


@pytest.mark.parametrize("max_groups", [1, 3])
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_worst_persons_attain_every_norm(
    tmp_path: Path, name: str, relation: str, max_groups: int
) -> None:
    question = QUESTIONS[name]
    folder = Folder(tmp_path, NAMES)
    reached = _largest(folder, question, relation, max_groups, 2)
    assert reached == _limits(relation, question.query(max_groups, 2))
    too_small = _limits(relation, question.query(max_groups, 1))
    assert all(a > b for a, b in zip(reached[:2], too_small[:2], strict=True))


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_a_person_in_derived_groups_attains_every_norm(tmp_path: Path, relation: str) -> None:
    query = LOOSE["derived groups"].query(1, 2)
    early: Cells = [("a", "1", "false")] * 4
    late: Cells = [("a", "1", "true")] * 4
    persons = (early, late if relation == "replace" else [])
    assert _moved(Folder(tmp_path, NAMES), query, [], persons) == _limits(relation, query)
