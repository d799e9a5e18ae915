"""Test that DuckDB's answer is what the plan means, row by row, for random files and questions."""

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from tests.support.thorough import by_count
from tests.unit.connectors.cases import (
    SALT,
    VISITS,
    Folder,
    correlated_of,
    dataset_of,
    query_of,
    stated,
)
from tests.unit.connectors.reference import answer

from penstock.errors import InvalidInput

COLUMNS = {
    **VISITS,
    "person": {"type": "string"},
    "age": {"type": "integer", "lower": -3, "upper": 90, "missing": 4},
    "insured": {"type": "boolean", "missing": True},
}
PEOPLE = ("ann", "ben", "zo\u00eb", "Ann", "1", None)
WARDS = ("a", "b", "c", "A", "d", None)
AGES = ("0", "4", "-5", "4.0", "4.5", "1e3", "x", "90", None)
COSTS = ("0", "-0.25", "0.25", "0.75", "49.99", "-1e9", "1e300", "nan", "inf", "", "1,5", None)
FLAGS = ("true", "false", "perhaps", None)
DAYS = ("2026-01-01", "2026-01-02", "2026-01-03", "2026-02-30", None)

rows = st.lists(
    st.tuples(*map(st.sampled_from, (PEOPLE, WARDS, AGES, COSTS, FLAGS, DAYS, FLAGS))), max_size=40
)
MARGINALS: dict[str, object] = {
    "type": "marginals",
    "columns": ["ward", "urgent", {"column": "age", "bins": [-5, 0, 4, 90]}],
    "sets": [["ward", "age"], ["urgent"]],
}
WORKLOAD: dict[str, object] = {
    "type": "workload",
    "columns": ["day", {"column": "age", "bins": [-5, 0, 1, 4, 5, 90]}, "urgent"],
    "queries": "prefix",
    "strategy": ["marginals", "tree", [[1, 1], [1, -2], [0, 3]]],
}
DERIVED: dict[str, object] = {
    "score": {
        "subtract": [
            {"multiply": [{"column": "age"}, {"add": [{"column": "age"}, -7]}]},
            {
                "case": [{"when": {"column": "cost", "op": ">", "value": 0.25}, "then": 5}],
                "else": -1,
            },
        ]
    },
    "kind": {
        "case": [
            {"when": {"column": "age", "op": "<", "value": 4}, "then": "young"},
            {"when": {"not": {"column": "day", "op": "is_null"}}, "then": {"column": "ward"}},
        ]
    },
    "rank": {
        "case": [{"when": {"column": "urgent", "op": "=", "value": True}, "then": 2}],
        "else": {"case": [{"when": {"column": "cost", "op": "is_null"}, "then": 0}], "else": 1},
    },
}
aggregates = st.sampled_from(
    [
        {"type": "count"},
        {"type": "count_units"},
        {"type": "sum", "column": "cost"},
        {"type": "sum", "column": "age"},
        {"type": "mean", "column": "cost"},
        {"type": "mean", "column": "age", "step": 4},
        {"type": "uncategorized", "column": "ward"},
        {"type": "uncategorized", "column": "day"},
        {"type": "uncategorized", "column": "urgent"},
        {"type": "histogram", "column": "cost", "bins": [-10, 0, 0.5, 50]},
        {"type": "count", "columns": ["urgent"]},
        {"type": "count_units", "columns": ["insured", "urgent"]},
        {"type": "moments", "columns": ["cost", "age"], "bounds": {"cost": [-1.25, 50]}},
        {"type": "moments", "columns": ["age", "cost"], "order": 1},
        {"type": "moments", "columns": ["age"], "order": 1, "grid": 16},
        {"type": "regression", "outcome": "cost", "predictors": ["age"], "grid": 16},
        {"type": "quantiles", "column": "cost", "bins": 6},
        {"type": "quantiles", "column": "age", "scale": "log"},
        MARGINALS,
        WORKLOAD,
        {"type": "sum", "column": "score"},
        {"type": "mean", "column": "score", "lower": -20, "upper": 900},
        {"type": "uncategorized", "column": "kind"},
        {"type": "moments", "columns": ["rank", "score"]},
        {"type": "quantiles", "column": "score", "bins": 9},
    ]
)
structures = st.sampled_from(
    [{}, {"trade_off": 0.3}, {"known_size": 3}, {"release_size": False}, {"release_size": True}]
)
GROUPS: list[dict[str, object]] = [
    {"column": "ward"},
    {"column": "urgent"},
    {"column": "day"},
    {"column": "age", "bins": [-5, 0, 4, 90]},
]
groups = st.lists(st.sampled_from(GROUPS), max_size=2, unique_by=str)
derived_groups = st.lists(
    st.sampled_from([*GROUPS, {"column": "kind"}, {"column": "rank"}]), max_size=2, unique_by=str
)
entries: st.SearchStrategy[dict[str, object]] = st.recursive(
    st.sampled_from(
        [
            {"column": "cost", "op": "is_null"},
            {"column": "day", "op": "is_not_null"},
            {"column": "age", "op": ">=", "value": 4},
            {"column": "cost", "op": "<", "value": 0.75},
            {"column": "ward", "op": "!=", "value": "b"},
            {"column": "ward", "op": "in", "value": ["a", "b"]},
            {"column": "day", "op": "<=", "value": "2026-01-02"},
            {"column": "urgent", "op": "=", "value": True},
        ]
    ),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda entries: {"any": entries}),
        st.lists(inner, min_size=1, max_size=3).map(lambda entries: {"all": entries}),
        inner.map(lambda entry: {"not": entry}),
    ),
    max_leaves=5,
)
conditions = st.lists(entries, max_size=2)


@pytest.mark.parametrize("unit", [{"column": "person"}, {"rows": 1}])
@settings(max_examples=by_count(30, 75), deadline=None)
@given(
    rows=rows,
    aggregate=aggregates,
    group_by=derived_groups,
    where=conditions,
    limits=st.tuples(st.integers(1, 4), st.integers(1, 4)),
)
def test_the_answer_is_what_the_plan_means(
    tmp_path_factory: pytest.TempPathFactory,
    unit: dict[str, object],
    rows: list[tuple[str | None, ...]],
    aggregate: dict[str, object],
    group_by: list[dict[str, object]],
    where: list[dict[str, object]],
    limits: tuple[int, int],
) -> None:
    folder = Folder(tmp_path_factory.mktemp("files"), list(COLUMNS))
    folder.csv(rows)
    dataset = dataset_of(columns=COLUMNS, unit=unit)
    contribution = {"max_groups": limits[0], "max_rows_per_group": limits[1]}
    if aggregate in (MARGINALS, WORKLOAD):
        group_by = []
    query = query_of(
        aggregate, derived=DERIVED, group_by=group_by, where=where, contribution=contribution
    )
    # An empty field is no value: so DuckDB reads it, and so the file was written.
    cells = [{name: cell or None for name, cell in zip(COLUMNS, row, strict=True)} for row in rows]
    assert folder.ask(dataset, query).tolist() == answer(stated(dataset, query).plan, cells, SALT)


counts = st.sampled_from(
    [
        {"type": "count"},
        {"type": "count_units"},
        {"type": "count", "columns": ["urgent", "insured"]},
        {"type": "count_units", "columns": ["insured", "urgent"]},
        {"type": "moments", "columns": ["cost", "age"], "bounds": {"cost": [-1.25, 50]}},
        {"type": "regression", "outcome": "cost", "predictors": ["age"], "grid": 16},
    ]
)


@pytest.mark.parametrize("unit", [{"column": "person"}, {"rows": 1}])
@settings(max_examples=by_count(20, 40), deadline=None)
@given(
    rows=rows,
    aggregate=counts,
    group_by=groups,
    structure=structures,
    limits=st.tuples(st.integers(1, 4), st.integers(1, 4)),
)
def test_the_answer_of_counts_that_are_protected_together_is_what_the_plan_means(
    tmp_path_factory: pytest.TempPathFactory,
    unit: dict[str, object],
    rows: list[tuple[str | None, ...]],
    aggregate: dict[str, object],
    group_by: list[dict[str, object]],
    structure: dict[str, object],
    limits: tuple[int, int],
) -> None:
    folder = Folder(tmp_path_factory.mktemp("files"), list(COLUMNS))
    folder.csv(rows)
    dataset = dataset_of(columns=COLUMNS, unit=unit)
    contribution = {"max_groups": limits[0], "max_rows_per_group": limits[1]}
    query = correlated_of(aggregate, group_by=group_by, contribution=contribution, **structure)
    try:
        plan = stated(dataset, query).plan
    except InvalidInput:
        reject()
    cells = [{name: cell or None for name, cell in zip(COLUMNS, row, strict=True)} for row in rows]
    assert folder.ask(dataset, query).tolist() == answer(plan, cells, SALT)
