"""Test that specs of a kind that differ have different sentences."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.sentences import definitions, phrases, words

UNIT = {"column": "person"}

NAMES = st.sampled_from(
    ["plan", "year", "a", "b", "a, b", "a and b", "and", "a is 1", "where", '"a"', "1", "cut"]
)
CELLS = st.sampled_from(["a", "b", "a, b", "a and b", "1", "true", "missing", 1, 2, 2.5, True])
EDGES = st.sampled_from([[0, 1], [0, 1, 2, 3, 4], [0, 2, 4, 6, 8], [0, 0.5, 1], [0, 1, 5]])
GROUPS = st.lists(
    st.fixed_dictionaries({"column": NAMES}, optional={"bins": EDGES}), min_size=1, max_size=3
)
COLUMNS = st.lists(NAMES, min_size=1, max_size=3)
COMPARISONS = st.one_of(
    st.fixed_dictionaries({"column": NAMES, "op": st.sampled_from(["=", "!="]), "value": CELLS}),
    st.fixed_dictionaries(
        {
            "column": NAMES,
            "op": st.sampled_from(["in", "not_in"]),
            "value": st.lists(CELLS, min_size=1, max_size=3),
        }
    ),
    st.fixed_dictionaries(
        {"column": NAMES, "op": st.sampled_from(["<", "<=", ">", ">="]), "value": CELLS}
    ),
    st.fixed_dictionaries({"column": NAMES, "op": st.sampled_from(["is_null", "is_not_null"])}),
)
CONDITIONS = st.recursive(
    COMPARISONS,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"any": st.lists(inner, min_size=2, max_size=3)}),
        st.fixed_dictionaries({"all": st.lists(inner, min_size=2, max_size=3)}),
        st.fixed_dictionaries({"not": inner}),
    ),
    max_leaves=4,
)
EXPRESSIONS = st.recursive(
    st.one_of(
        st.integers(-2, 2), st.sampled_from(["a", "1"]), st.fixed_dictionaries({"column": NAMES})
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"add": st.lists(inner, min_size=2, max_size=2)}),
        st.fixed_dictionaries({"subtract": st.lists(inner, min_size=2, max_size=2)}),
        st.fixed_dictionaries({"multiply": st.lists(inner, min_size=2, max_size=2)}),
        st.fixed_dictionaries(
            {
                "case": st.lists(
                    st.fixed_dictionaries({"when": COMPARISONS, "then": inner}),
                    min_size=1,
                    max_size=2,
                )
            },
            optional={"else": inner},
        ),
    ),
    max_leaves=4,
)
BOUNDED = {name: st.sampled_from([None, 1, 2, 0.5]) for name in ("lower", "upper", "step")}
MATRICES = st.sampled_from(["identity", "prefix", [[1, 0]], [[1], [0]], [[1, 0], [1, 1]]])
AGGREGATES: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "count": {"columns": st.one_of(st.none(), COLUMNS)},
    "count_units": {"columns": st.one_of(st.none(), COLUMNS)},
    "sum": {"column": NAMES, **BOUNDED},
    "mean": {"column": NAMES, **BOUNDED},
    "histogram": {"column": NAMES, "bins": EDGES},
    "uncategorized": {"column": NAMES},
    "moments": {
        "columns": COLUMNS,
        "order": st.sampled_from([1, 2]),
        "grid": st.sampled_from([None, 16, 32]),
        "weights": st.sampled_from([None, "equal", {"n": 2}, {"sum:a": 2, "sum:b": 1}]),
        "bounds": st.one_of(
            st.none(), st.dictionaries(NAMES, st.sampled_from([[0, 1], [0, 2]]), max_size=2)
        ).map(lambda bounds: bounds or None),
    },
    "regression": {
        "outcome": NAMES,
        "predictors": COLUMNS,
        "weights": st.sampled_from([None, "equal", {"n": 2}]),
    },
    "quantiles": {
        "column": NAMES,
        "probabilities": st.sampled_from([[0.5], [0.25, 0.5], [0.123456789], [0.12345678]]),
        "bins": st.sampled_from([8, 16]),
        "whole": st.sampled_from([None, True, False]),
    },
    "marginals": {
        "columns": GROUPS,
        "sets": st.one_of(st.none(), st.lists(COLUMNS, min_size=1, max_size=3)),
        "up_to": st.sampled_from([1, 2]),
    },
    "workload": {
        "columns": st.just([{"column": "a"}, {"column": "b"}]),
        "queries": st.lists(MATRICES, min_size=2, max_size=2),
        "strategy": st.lists(MATRICES, min_size=2, max_size=2),
    },
}
PARTS: dict[str, st.SearchStrategy[Any]] = {
    "group_by": st.one_of(st.just([]), GROUPS),
    "where": st.lists(CONDITIONS, max_size=2),
    "derived": st.dictionaries(NAMES, EXPRESSIONS, max_size=2),
    "contribution": st.fixed_dictionaries(
        {
            "max_groups": st.sampled_from([None, 1, 2]),
            "max_rows_per_group": st.sampled_from([None, 1, 2]),
        }
    ),
}
SHARED: dict[str, st.SearchStrategy[Any]] = {
    "structure": st.just("correlated"),
    "known_size": st.sampled_from([None, 1000]),
    "trade_off": st.sampled_from([None, 0.5, 2.0]),
    "release_size": st.sampled_from([None, True, False]),
}
SPARSE: dict[str, st.SearchStrategy[Any]] = {
    "structure": st.just("sparse_histogram"),
    "group_by": st.lists(st.fixed_dictionaries({"column": NAMES}), min_size=1, max_size=1),
    "domain": st.one_of(
        st.sampled_from([None, 10, 20]).map(lambda size: {"type": "uint64", "size": size}),
        st.sampled_from(["ab", "a, b"]).map(
            lambda letters: {"type": "string", "alphabet": letters, "length": 3}
        ),
        st.just({"type": "sha256_64"}),
    ),
}


def aggregate_of(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for aggregates of a kind, without two ways to say the same."""

    def once(part: dict[str, Any]) -> dict[str, Any]:
        return {**part, "up_to": None} if part.get("sets") else part

    return st.fixed_dictionaries({"type": st.just(kind), **AGGREGATES[kind]}).map(once)


def meaning(spec: dict[str, Any]) -> str:
    """Return what a spec says; a histogram's bins are one more grouping."""
    part = spec["aggregate"]
    if part["type"] == "histogram":
        bins = {"column": part["column"], "bins": part["bins"]}
        groups = [*spec["group_by"], bins]
        spec = {**spec, "group_by": groups, "aggregate": {"type": "histogram"}}
    return json.dumps(spec, sort_keys=True)


def require_apart(data: st.DataObject, parts: dict[str, st.SearchStrategy[Any]]) -> None:
    """Draw a spec, and another that differs in one part; compare their sentences."""
    one = {name: data.draw(part, name) for name, part in parts.items()}
    changed = data.draw(st.sampled_from(sorted(parts)), "changed")
    other = {**one, changed: data.draw(parts[changed], f"another {changed}")}
    sentences = [definitions.of_query(spec, UNIT) for spec in (one, other)]
    assert (meaning(one) == meaning(other)) == (sentences[0] == sentences[1]), sentences


@pytest.mark.parametrize("kind", sorted(AGGREGATES))
@given(data=st.data())
def test_specs_that_differ_have_different_sentences(kind: str, data: st.DataObject) -> None:
    require_apart(data, {"aggregate": aggregate_of(kind), **PARTS})


@pytest.mark.parametrize("more", [SHARED, SPARSE], ids=["correlated", "sparse_histogram"])
@given(data=st.data())
def test_structures_that_differ_have_different_sentences(
    more: dict[str, st.SearchStrategy[Any]], data: st.DataObject
) -> None:
    require_apart(data, {"aggregate": aggregate_of("count"), **PARTS, **more})


VECTOR: dict[str, st.SearchStrategy[Any]] = {
    "keys": st.one_of(st.none(), COLUMNS),
    "step": st.sampled_from([1, 0.5]),
    "bound": st.sampled_from([10, 100]),
    "sensitivity": st.fixed_dictionaries(
        {"l1": st.sampled_from([1, 2])},
        optional={"l2": st.sampled_from([1, 2]), "linf": st.sampled_from([1, 2])},
    ),
}


@given(one=st.fixed_dictionaries(VECTOR), other=st.fixed_dictionaries(VECTOR))
def test_vectors_that_differ_have_different_sentences(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    sentences = [definitions.of_query(spec, UNIT) for spec in (one, other)]
    assert (one == other) == (sentences[0] == sentences[1])


@pytest.mark.parametrize(
    ("name", "careless"),
    [("word", str), ("value", str), ("bounded", lambda phrase: phrase[:20])],
    ids=["names", "values", "cut"],
)
def test_careless_words_are_rejected(
    monkeypatch: pytest.MonkeyPatch, name: str, careless: Callable[[object], str]
) -> None:
    monkeypatch.setattr(phrases, name, careless)
    pairs: list[tuple[list[dict[str, Any]], list[dict[str, Any]]]] = [
        ([{"column": "a and b", "op": "=", "value": 1}], [{"column": "b", "op": "=", "value": 1}]),
        ([{"column": "a", "op": "=", "value": 1}], [{"column": "a", "op": "=", "value": "1"}]),
        (
            [{"column": "year", "op": "in", "value": [2001, 2002]}],
            [{"column": "year", "op": "in", "value": [2001, 2003]}],
        ),
        ([{"column": "a is 1 and b", "op": "=", "value": 1}], [_is_1("a"), _is_1("b")]),
    ]
    same = [phrases.conditions(one) == phrases.conditions(other) for one, other in pairs]
    assert any(same)
    monkeypatch.setattr(phrases, name, getattr(words, name))
    assert not any(phrases.conditions(one) == phrases.conditions(other) for one, other in pairs)


def _is_1(column: str) -> dict[str, Any]:
    return {"column": column, "op": "=", "value": 1}
