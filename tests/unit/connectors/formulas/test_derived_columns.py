"""Test what derived columns mean on their dataset, and what plain DuckDB says of them."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.thorough import by_count
from tests.unit.connectors.cases import VISITS, Folder, dataset_of, query_of

from penstock.connectors.formulas.derived_columns import with_derived
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.prepare import prepare
from penstock.connectors.specs.histograms import HistogramQuery
from penstock.errors import InvalidInput

AGE = {"column": "age"}
YOUNG = {"column": "age", "op": "<", "value": 18}
KIND = {"case": [{"when": YOUNG, "then": "young"}], "else": "old"}
COLUMNS = {
    **VISITS,
    "wide": {"type": "integer", "lower": -(2**53), "upper": 2**53},
    "free": {"type": "integer"},
    "half": {"type": "integer", "lower": 0.25, "upper": 0.75},
    "parts": {"type": "integer", "lower": -0.5, "upper": 2.5},
}


def _refusal(derived: dict[str, Any], **more: Any) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        interpret(dataset_of(columns=COLUMNS), query_of(derived=derived, **more))
    return [place for place, _ in caught.value.errors]


def _hash(**changes: Any) -> str | None:
    dataset = dataset_of(columns=COLUMNS)
    query = query_of(**changes)
    return prepare(dataset, query, version=1, mechanism="gaussian").canonical_hash


def test_a_dataset_without_derived_columns_is_itself() -> None:
    dataset = dataset_of()
    assert with_derived(dataset, {}) is dataset


@pytest.mark.parametrize(
    ("expression", "kind", "bounds", "categories"),
    [
        ({"add": [AGE, 1]}, "integer", (1, 121), None),
        ({"subtract": [1, AGE]}, "integer", (-119, 1), None),
        ({"multiply": [AGE, AGE, -1]}, "integer", (-14400, 0), None),
        ({"column": "parts"}, "integer", (0, 2), None),
        (KIND, "string", (None, None), ("young", "old")),
        ({"case": [{"when": YOUNG, "then": 3}], "else": 1}, "integer", (1, 3), (3, 1)),
        ({"case": [{"when": YOUNG, "then": {"column": "ward"}}]}, "string", (None, None), "abc"),
        (5, "integer", (5, 5), (5,)),
    ],
)
def test_a_derived_column_is_declared_by_what_it_is_computed_from(
    expression: Any, kind: str, bounds: tuple[object, object], categories: Any
) -> None:
    query = query_of(derived={"x": expression})
    spec = with_derived(dataset_of(columns=COLUMNS), query.derived).columns["x"]
    assert (spec.type, (spec.lower, spec.upper)) == (kind, bounds)
    assert spec.categories == (None if categories is None else tuple(categories))


@pytest.mark.parametrize(
    ("expression", "place"),
    [
        ({"column": "warp"}, "/column"),
        ({"column": "cost"}, "/column"),
        ({"column": "person"}, "/column"),
        ({"column": "day"}, "/column"),
        ({"add": [1, {"column": "free"}]}, "/add/1/column"),
        ({"column": "wide"}, "/column"),
        ({"column": "half"}, "/column"),
        ({"negate": "text"}, "/negate"),
        ({"add": [AGE, {"column": "ward"}]}, "/add/1"),
        ({"multiply": [AGE, 2**46]}, "/multiply"),
        ({"case": [{"when": YOUNG, "then": 1}], "else": "old"}, "/case"),
        ({"case": [{"when": {**YOUNG, "value": "x"}, "then": 1}]}, "/case/0/when/value"),
        ({"case": [{"when": {**YOUNG, "column": "x"}, "then": 1}]}, "/case/0/when/column"),
        ({"case": [{"when": YOUNG, "then": {"add": [KIND]}}]}, "/case/0/then/add/0"),
    ],
)
def test_what_cannot_be_computed_is_refused_in_its_place(expression: Any, place: str) -> None:
    assert _refusal({"x": expression}) == [f"/derived/x{place}"]


def test_names_are_those_of_no_other_column() -> None:
    assert _refusal({"Age": 1, "x": 2, "X": 3}) == ["/derived/Age", "/derived/X"]


def test_a_derived_column_is_not_used_by_another_one() -> None:
    assert _refusal({"x": AGE, "y": {"add": [{"column": "x"}, 1]}}) == ["/derived/y/add/0/column"]


def test_texts_without_categories_of_their_own_group_nothing() -> None:
    assert _refusal({"x": {"add": [AGE, 1]}}, group_by=["x"]) == ["/group_by/0/column"]


def test_the_keys_of_a_sparse_histogram_are_declared_ones() -> None:
    query = HistogramQuery.model_validate(
        {
            **query_of(derived={"x": AGE}, group_by=["x"]).model_dump(exclude_none=True),
            "structure": "sparse_histogram",
            "domain": {"type": "uint64"},
        }
    )
    with pytest.raises(InvalidInput, match="declared column"):
        interpret(dataset_of(), query)


def test_the_hash_is_that_of_the_expression_and_not_of_its_name() -> None:
    same: list[dict[str, Any]] = [
        {"derived": {name: expression}, "aggregate": {"type": "sum", "column": name}}
        for name, expression in (
            ("x", {"add": [AGE, {"multiply": [2, AGE]}]}),
            ("y", {"add": [{"multiply": [AGE, 2]}, AGE]}),
            ("y", {"subtract": [AGE, {"multiply": [AGE, -2]}]}),
        )
    ]
    assert len({_hash(**each) for each in same}) == 1
    others: list[dict[str, Any]] = [
        same[0],
        {"aggregate": {"type": "sum", "column": "age"}},
        {"derived": {"x": {"add": [AGE, 1]}}, "aggregate": {"type": "sum", "column": "x"}},
        {"derived": {"x": KIND}, "group_by": ["x"]},
        {"derived": {"x": {**KIND, "else": "older"}}, "group_by": ["x"]},
        {"derived": {"x": KIND}, "where": [{"column": "x", "op": "=", "value": "old"}]},
        {"group_by": ["ward"]},
    ]
    assert len({_hash(**each) for each in others}) == len(others)
    plain: dict[str, Any] = {"derived": {"x": AGE}, "aggregate": {"type": "sum", "column": "x"}}
    assert _hash(**plain) == _hash(**others[1])


def test_a_derived_column_that_nothing_uses_is_no_part_of_the_statistic() -> None:
    assert _hash(derived={"x": KIND}) == _hash()


@pytest.mark.parametrize("first", ["identity", "marginals"])
def test_columns_that_are_equal_under_two_names_are_both_there(first: str) -> None:
    def hashed(*strategy: str) -> str | None:
        workload = {"type": "workload", "columns": ["x", "y"], "queries": "total"}
        aggregate = {**workload, "strategy": list(strategy)}
        return _hash(derived={"x": KIND, "y": KIND}, aggregate=aggregate)

    assert hashed(first, "tree") == hashed("tree", first) != hashed(first, first)


ROWS = [
    (f"p{number}", ward, age, cost, None, None)
    for number, (ward, age, cost) in enumerate(
        (ward, age, cost)
        for ward in ("a", "z", None)
        for age in (-5, 0, 7, 18, 120, 9_000_000_000, None)
        for cost in (-1e300, 0.5, None)
    )
]
CUT = "(CASE WHEN age < 0 THEN 0 WHEN age > 120 THEN 120 ELSE age END)"
Pair = tuple[Any, str]
LEAVES: tuple[Pair, ...] = ((AGE, CUT), (3, "3"), (-(2**20), str(-(2**20))))
WHENS: tuple[Pair, ...] = (
    (YOUNG, "age < 18"),
    ({"not": {"column": "cost", "op": ">", "value": 0}}, "NOT cost > 0"),
    ({"any": [{"column": "ward", "op": "is_null"}, YOUNG]}, "ward IS NULL OR age < 18"),
)


def _cases(drawn: tuple[Pair, Pair, Pair | None]) -> Pair:
    (when, condition), (then, value), otherwise = drawn
    last = {} if otherwise is None else {"else": otherwise[0]}
    text = "" if otherwise is None else f" ELSE {otherwise[1]}"
    entry = {"case": [{"when": when, "then": then}], **last}
    return entry, f"(CASE WHEN {condition} THEN {value}{text} END)"


def _joined(name: str, word: str) -> Callable[[list[Pair]], Pair]:
    return lambda parts: (
        {name: [entry for entry, _ in parts]},
        f"({word.join(text for _, text in parts)})",
    )


EXPRESSIONS: st.SearchStrategy[Pair] = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(_joined("add", " + ")),
        st.lists(inner, min_size=1, max_size=2).map(_joined("multiply", " * ")),
        st.lists(inner, min_size=2, max_size=2).map(_joined("subtract", " - ")),
        inner.map(lambda part: ({"negate": part[0]}, f"(- {part[1]})")),
        st.tuples(st.sampled_from(WHENS), inner, st.none() | inner).map(_cases),
    ),
    max_leaves=6,
)


@settings(max_examples=by_count(40, 400), deadline=None)
@given(expression=EXPRESSIONS, edge=st.sampled_from([-100, 0, 3, 7, 500]))
def test_derived_columns_are_those_of_plain_duckdb(
    tmp_path_factory: pytest.TempPathFactory, expression: Pair, edge: int
) -> None:
    duckdb = pytest.importorskip("duckdb")
    folder = Folder(tmp_path_factory.mktemp("rows"), list(VISITS))
    folder.csv(ROWS)
    dataset = dataset_of(max_units=1000)
    query = query_of(
        {"type": "sum", "column": "x"},
        derived={"x": expression[0]},
        where=[{"column": "x", "op": ">", "value": edge}],
    )
    try:
        interpret(dataset, query)
    except InvalidInput:
        return  # it may be too large, or 0 always
    types = (
        "{'person': 'VARCHAR', 'ward': 'VARCHAR', 'age': 'BIGINT', 'cost': 'DOUBLE',"
        " 'urgent': 'BOOLEAN', 'day': 'DATE'}"
    )
    relation = f"read_csv('{folder.path}/visits.csv', header = true, columns = {types})"
    text = (
        f"SELECT coalesce(sum({expression[1]}), 0) FROM {relation} WHERE {expression[1]} > {edge}"  # noqa: S608
    )
    (plain,) = duckdb.connect().execute(text).fetchone()
    assert folder.ask(dataset, query).tolist() == [plain]
