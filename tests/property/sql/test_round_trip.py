"""Test that a spec, written as SQL, is read as a spec with the same hash."""

from contextlib import suppress
from typing import Any

from hypothesis import given, reject, settings
from hypothesis import strategies as st
from tests.property import typed_rows
from tests.property.sql.round_trips import TooDeep, require_round_trip
from tests.property.sql.texts import COLUMNS, DATASET, statements, text_of
from tests.property.typed_rows import query_of, specs
from tests.support.thorough import by_count
from tests.unit.connectors.cases import dataset_of
from tests.unit.connectors.cases import query_of as query_with
from tests.unit.connectors.sql.statements import hash_of_sql

from penstock.connectors.planning.interpret import interpret
from penstock.connectors.sql.limits import LONGEST
from penstock.connectors.sql.reading import read
from penstock.connectors.sql.writing.statement import written
from penstock.errors import InvalidInput

TYPED = dataset_of(columns=typed_rows.COLUMNS)


@settings(max_examples=by_count(80, 2000), deadline=None)
@given(statement=statements)
def test_what_is_read_is_written_and_read_again(
    statement: tuple[list[str], tuple[str, ...], str | None],
) -> None:
    query = query_with(**read(text_of(*statement), DATASET))
    assert require_round_trip(query, DATASET)


@settings(max_examples=by_count(40, 1000), deadline=None)
@given(requests=specs)
def test_specs_are_written_and_read_again(requests: list[dict[str, Any]]) -> None:
    for spec in requests:
        query = query_of(spec)
        try:
            interpret(TYPED, query)
        except InvalidInput:
            continue
        require_round_trip(query, TYPED)


_leaves = st.sampled_from(
    [
        {"column": "age", "op": "<", "value": 18},
        {"column": "urgent", "op": "=", "value": True},
        {"column": "urgent", "op": "!=", "value": True},
        {"column": "Ward", "op": "in", "value": ["a", "A"]},
        {"column": "Ward", "op": "not_in", "value": ["b"]},
        {"column": "day", "op": "is_null"},
        {"column": "cost", "op": "is_not_null"},
        {"column": "size", "op": ">=", "value": -1},
        {"column": "sum", "op": ">", "value": 3},
        {"column": "kind", "op": "=", "value": "x"},
    ]
)
_entries = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        inner.map(lambda entry: {"not": entry}),
        inner.map(lambda entry: {"any": [entry]}),
        st.tuples(inner, inner).map(lambda entries: {"any": list(entries)}),
        st.tuples(inner, inner).map(lambda entries: {"all": list(entries)}),
    ),
    max_leaves=12,
)
_DERIVED = {
    "sum": {"add": [{"column": "age"}, {"multiply": [-2, {"column": "size"}]}, 3]},
    "kind": {
        "case": [
            {
                "when": {"any": [{"column": "age", "op": "is_null"}]},
                "then": "x",
            },
            {"when": {"column": "urgent", "op": "=", "value": True}, "then": "it's"},
        ],
        "else": "y",
    },
    "part": {
        "case": [{"when": {"column": "urgent", "op": "=", "value": True}, "then": 1}],
        "else": 0,
    },
    "rest": {"subtract": [{"negate": {"column": "size"}}, {"subtract": [{"column": "age"}, -5]}]},
}
_aggregates = st.sampled_from(
    [
        {"type": "count"},
        {"type": "sum", "column": "sum"},
        {"type": "sum", "column": "part"},
        {"type": "mean", "column": "rest"},
        {"type": "moments", "columns": ["rest", "cost"]},
        {"type": "moments", "columns": ["sum"]},
        {"type": "moments", "columns": ["sum"], "order": 1},
        {"type": "moments", "columns": ["cost", "rest"], "order": 1},
        {"type": "quantiles", "column": "rest", "probabilities": [0.5]},
        {"type": "regression", "outcome": "rest", "predictors": ["age"]},
    ]
)
_groups = st.lists(
    st.sampled_from(["kind", "part", "urgent", "Ward", {"column": "sum", "bins": [0, 1, 50]}]),
    max_size=2,
    unique_by=str,
)


@settings(max_examples=by_count(80, 2000), deadline=None)
@given(where=st.lists(_entries, max_size=3), aggregate=_aggregates, group_by=_groups)
def test_formulas_and_derived_columns_are_written_and_read_again(
    where: list[dict[str, Any]], aggregate: dict[str, Any], group_by: list[Any]
) -> None:
    used = str([where, aggregate, group_by])
    derived = {name: part for name, part in _DERIVED.items() if f"'{name}'" in used}
    query = query_with(aggregate, where=where, group_by=group_by, derived=derived)
    text = written(query, DATASET)
    if text is None or len(text) > LONGEST // 2:
        reject()
    with suppress(TooDeep):
        assert require_round_trip(query, DATASET)
        shown = str([{**aggregate, "type": ""}, group_by])
        named = {name for name in derived if f"'{name}'" in shown}
        if aggregate["type"] != "regression":
            # Of two columns neither has a name.
            assert named <= read(text, DATASET).get("derived", {}).keys()


def test_the_columns_of_the_texts_are_those_of_the_dataset() -> None:
    assert set(COLUMNS) == set(DATASET.columns)
    assert hash_of_sql("SELECT COUNT(*) FROM visits", DATASET)
