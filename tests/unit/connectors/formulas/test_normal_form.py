"""Test that equal conditions have one form, and that it is true where SQL's is."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.thorough import by_count
from tests.unit.connectors.cases import VISITS, Folder, dataset_of, query_of

from penstock.connectors.formulas.formula import Formula
from penstock.connectors.formulas.normal_form import formulas_of
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.prepare import prepare
from penstock.errors import InvalidInput

A: dict[str, Any] = {"column": "age", "op": ">=", "value": 18}
B: dict[str, Any] = {"column": "ward", "op": "in", "value": ["a", "b"]}
C: dict[str, Any] = {"column": "urgent", "op": "is_null"}
NOT_A: dict[str, Any] = {"column": "age", "op": "<", "value": 18}
NOT_B: dict[str, Any] = {"column": "ward", "op": "not_in", "value": ["b", "a"]}
NOT_C: dict[str, Any] = {"column": "urgent", "op": "is_not_null"}


def _formulas(*where: dict[str, Any]) -> tuple[Formula, ...]:
    return formulas_of(dataset_of(), query_of(where=list(where)).where, "where")


def _hash(*where: dict[str, Any]) -> str | None:
    query = query_of(where=list(where))
    return prepare(dataset_of(), query, version=1, mechanism="gaussian").canonical_hash


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([{"all": [A, B]}], [B, A]),
        ([{"any": [A, B]}], [{"any": [B, A]}]),
        ([{"any": [A, B, A]}], [{"any": [A, B]}]),
        ([{"any": [A]}], [A]),
        ([{"all": [{"any": [{"all": [A]}]}]}], [A]),
        ([{"any": [A, {"any": [B, C]}]}], [{"any": [{"any": [A, B]}, C]}]),
        ([{"all": [A, {"all": [B, C]}]}], [A, B, C]),
        ([{"not": {"not": {"any": [A, B]}}}], [{"any": [A, B]}]),
        ([{"not": A}], [NOT_A]),
        ([{"not": NOT_B}], [B]),
        ([{"not": C}], [NOT_C]),
        ([{"not": {"any": [A, B]}}], [NOT_A, {"not": B}]),
        ([{"not": {"all": [A, {"not": B}, C]}}], [{"any": [NOT_C, B, NOT_A]}]),
        (
            [{"any": [{"all": [A, B]}, {"all": [B, A]}, C]}],
            [{"any": [C, {"not": {"any": [NOT_A, NOT_B]}}]}],
        ),
        ([{"any": [{**A, "value": 18.0}, C]}], [{"any": [C, A]}]),
    ],
)
def test_equal_conditions_have_one_form_and_one_hash(
    left: list[dict[str, Any]], right: list[dict[str, Any]]
) -> None:
    assert _formulas(*left) == _formulas(*right)
    assert _hash(*left) == _hash(*right)


def test_other_conditions_have_other_hashes() -> None:
    others: list[list[dict[str, Any]]] = [
        [A, B],
        [{"any": [A, B]}],
        [{"any": [A, NOT_B]}],
        [{"any": [A, {"all": [B, C]}]}],
        [{"any": [{"all": [A, B]}, C]}],
        [{"any": [A, B]}, C],
        [C],
        [NOT_C],
        [{"column": "ward", "op": "is_null"}],
        [{"column": "ward", "op": "in", "value": ["a"]}],
        [],
    ]
    assert len({_hash(*where) for where in others}) == len(others)


def test_every_wrong_comparison_is_named_with_its_place() -> None:
    where = [
        {"any": [A, {"column": "warp", "op": "is_null"}, {"not": {**B, "value": ["z"]}}]},
        {"not": {"all": [{"column": "urgent", "op": "<", "value": True}]}},
        {**A, "value": "x"},
    ]
    with pytest.raises(InvalidInput) as caught:
        interpret(dataset_of(), query_of(where=where))
    assert [place for place, _ in caught.value.errors] == [
        "/where/0/any/1/column",
        "/where/0/any/2/not/value",
        "/where/1/not/all/0/op",
        "/where/2/value",
    ]


ROWS = [
    (f"p{number}", ward, age, cost, urgent, day)
    for number, (ward, age, cost, urgent, day) in enumerate(
        product(("a", "c", None), (0, 4, None), (0.5, None), ("true", None), ("2026-01-01", None))
    )
]
COMPARISONS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"column": "age", "op": "=", "value": 4}, "age = 4"),
    ({"column": "age", "op": "!=", "value": 4}, "age <> 4"),
    ({"column": "age", "op": "<", "value": 4}, "age < 4"),
    ({"column": "age", "op": ">", "value": 0}, "age > 0"),
    ({"column": "cost", "op": "<=", "value": 0.5}, "cost <= 0.5"),
    ({"column": "ward", "op": "in", "value": ["a", "b"]}, "ward IN ('a', 'b')"),
    ({"column": "ward", "op": "not_in", "value": ["c"]}, "ward NOT IN ('c')"),
    ({"column": "urgent", "op": "=", "value": True}, "urgent"),
    ({"column": "urgent", "op": "=", "value": False}, "NOT urgent"),
    ({"column": "day", "op": "is_null"}, "day IS NULL"),
    ({"column": "cost", "op": "is_not_null"}, "cost IS NOT NULL"),
)
ENTRIES: st.SearchStrategy[tuple[dict[str, Any], str]] = st.recursive(
    st.sampled_from(COMPARISONS),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: _joined(parts, "any", " OR ")),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: _joined(parts, "all", " AND ")),
        inner.map(lambda part: ({"not": part[0]}, f"(NOT ({part[1]}))")),
    ),
    max_leaves=8,
)


def _joined(
    parts: list[tuple[dict[str, Any], str]], joining: str, word: str
) -> tuple[dict[str, Any], str]:
    return {joining: [entry for entry, _ in parts]}, f"({word.join(text for _, text in parts)})"


@settings(max_examples=by_count(40, 400), deadline=None)
@given(entry=ENTRIES)
def test_the_rows_that_are_kept_are_those_of_plain_duckdb(
    tmp_path_factory: pytest.TempPathFactory, entry: tuple[dict[str, Any], str]
) -> None:
    duckdb = pytest.importorskip("duckdb")
    folder = Folder(tmp_path_factory.mktemp("rows"), list(VISITS))
    folder.csv(ROWS)
    types = (
        "{'person': 'VARCHAR', 'ward': 'VARCHAR', 'age': 'BIGINT', 'cost': 'DOUBLE',"
        " 'urgent': 'BOOLEAN', 'day': 'DATE'}"
    )
    relation = f"read_csv('{folder.path}/visits.csv', header = true, columns = {types})"
    text = f"SELECT count(*) FROM {relation} WHERE {entry[1]}"  # noqa: S608  # texts of this file
    (plain,) = duckdb.connect().execute(text).fetchone()
    assert folder.ask(dataset_of(), query_of(where=entry[0])).tolist() == [plain]
