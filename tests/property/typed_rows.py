"""Make random rows with types, and random specs of all kinds over them, for engines to agree on."""

import datetime
import math
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from penstock.connectors.planning.interpret import interpret
from penstock.connectors.specs.correlated import CorrelatedQuery
from penstock.connectors.specs.histograms import HistogramQuery
from penstock.connectors.specs.models import ColumnType, ComputedQuery, DatasetSpec
from penstock.errors import InvalidInput

Row = tuple[Any, ...]

COLUMNS: dict[str, dict[str, Any]] = {
    "person": {"type": "string"},
    "ward": {"type": "string", "categories": ["a", "b", "zo\u00eb", "A"], "missing": "b"},
    "age": {"type": "integer", "lower": -3, "upper": 90, "missing": 4},
    "cost": {"type": "number", "lower": -10, "upper": 50, "step": 0.5},
    "urgent": {"type": "boolean"},
    "insured": {"type": "boolean", "missing": True},
    "day": {"type": "date", "categories": ["2026-01-01", "2026-01-02"]},
}
TYPES: dict[str, ColumnType] = {name: column["type"] for name, column in COLUMNS.items()}
UNITS: tuple[dict[str, Any], ...] = ({"column": "person"}, {"column": "age"}, {"rows": 1})

PEOPLE = (
    "ann",
    "ben",
    "zo\u00eb",
    "zoe\u0308",
    "Ann",
    "",
    " ",
    "1",
    "\U0001f926\u200d",
    "'\"\\",
    None,
)
WARDS = ("a", "b", "A", "zo\u00eb", "zoe\u0308", "a ", "", "x" * 300, "NULL", None)
AGES = (0, 4, -5, 33, 90, 2**63 - 1, -(2**63), 2**53 + 1, None)
COSTS = (
    *(0.0, -0.0, -0.25, 0.25, 0.75, 1.25, 49.99, -1e9, 5e-324, -5e-324),
    *(1e300, 1.7976931348623157e308, -1.7976931348623157e308, math.nan, math.inf, -math.inf, None),
)
FLAGS = (True, False, None)
DAYS = (
    *(datetime.date(2026, 1, 1), datetime.date(2026, 1, 2), datetime.date(2026, 2, 28)),
    *(datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None),
)
CELLS: tuple[Sequence[Any], ...] = (PEOPLE, WARDS, AGES, COSTS, FLAGS, FLAGS, DAYS)

rows = st.lists(st.tuples(*map(st.sampled_from, CELLS)), max_size=40)

MARGINALS: dict[str, Any] = {
    "type": "marginals",
    "columns": ["ward", {"column": "age", "bins": [-3, 0, 5, 11]}, "urgent"],
}
WORKLOAD: dict[str, Any] = {
    "type": "workload",
    "columns": ["urgent", {"column": "age", "bins": [-3, 0, 1, 4, 5, 11, 90]}, "ward"],
    "queries": ["total", "all_ranges", [[1, 0, 0, -2]]],
    "strategy": ["marginals", "tree", [[1, 1, 0, 0], [0, 1, -3, 0], [0, 0, 2, 0], [0, 0, 0, 1]]],
}
OVER_COLUMNS = (MARGINALS, WORKLOAD)
"""Statistics whose groups are in their columns."""

AGGREGATES: tuple[dict[str, Any], ...] = (
    {"type": "count"},
    {"type": "count_units"},
    {"type": "sum", "column": "cost"},
    {"type": "sum", "column": "cost", "step": 3, "lower": -7, "upper": 1e15},
    {"type": "sum", "column": "age"},
    {"type": "sum", "column": "age", "lower": -(2**51), "upper": 2**51},
    {"type": "mean", "column": "cost"},
    {"type": "mean", "column": "age", "step": 4},
    {"type": "histogram", "column": "cost", "bins": [-10, 0, 0.5, 50]},
    {"type": "uncategorized", "column": "ward"},
    {"type": "uncategorized", "column": "day"},
    {"type": "uncategorized", "column": "urgent"},
    {"type": "count", "columns": ["urgent", "insured"]},
    {"type": "count_units", "columns": ["insured"]},
    {"type": "moments", "columns": ["cost", "age"], "bounds": {"cost": [-1.25, 50]}},
    {"type": "moments", "columns": ["age"], "grid": 16, "bounds": {"age": [-3, 11]}},
    {"type": "moments", "columns": ["cost", "age"], "order": 1},
    {"type": "regression", "outcome": "cost", "predictors": ["age"], "grid": 256},
    {"type": "quantiles", "column": "cost", "lower": -0.25, "upper": 50, "bins": 17},
    {"type": "quantiles", "column": "age", "bins": 40},
    {"type": "quantiles", "column": "cost", "scale": "log"},
    *OVER_COLUMNS,
)
GROUPS: tuple[dict[str, Any], ...] = (
    {"column": "ward"},
    {"column": "urgent"},
    {"column": "day"},
    {"column": "age", "bins": [-5, 0, 4, 90]},
    {"column": "cost", "bins": [-0.25, 0, 1.25]},
)
CONDITIONS: tuple[dict[str, Any], ...] = (
    {"column": "age", "op": ">=", "value": 4},
    {"column": "cost", "op": "<", "value": 0.75},
    {"column": "ward", "op": "!=", "value": "b"},
    {"column": "ward", "op": "in", "value": ["a", "zo\u00eb"]},
    {"column": "day", "op": "<=", "value": "2026-01-02"},
    {"column": "urgent", "op": "=", "value": True},
    {"column": "insured", "op": "not_in", "value": [False]},
    {"column": "person", "op": "!=", "value": "'\"\\"},
)
NULLS: tuple[dict[str, Any], ...] = (
    {"column": "cost", "op": "is_null"},
    {"column": "day", "op": "is_not_null"},
    {"column": "age", "op": "is_null"},
    {"column": "person", "op": "is_null"},
)
ENTRIES: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.sampled_from((*CONDITIONS, *NULLS)),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda entries: {"any": entries}),
        st.lists(inner, min_size=1, max_size=3).map(lambda entries: {"all": entries}),
        inner.map(lambda entry: {"not": entry}),
    ),
    max_leaves=6,
)
"""Conditions, joined in any way."""
DOMAINS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("age", {"type": "uint64"}),
    ("age", {"type": "uint64", "size": 91}),
    ("person", {"type": "string", "alphabet": "abeno\u00eb'\"\\z", "length": 3}),
    ("ward", {"type": "sha256_64"}),
)
STRUCTURES: tuple[dict[str, Any], ...] = (
    {"structure": "correlated"},
    {"structure": "correlated", "trade_off": 1},
    {"structure": "correlated", "known_size": 3},
)
_limits = st.tuples(st.integers(1, 4), st.integers(1, 4)).map(
    lambda pair: {"max_groups": pair[0], "max_rows_per_group": pair[1]}
)


def groups_of(aggregate: dict[str, Any], given: Sequence[object] = ("ward",)) -> list[object]:
    """Return the groupings of a statistic, of those that have none in their columns."""
    return [] if aggregate in OVER_COLUMNS else list(given)


DERIVED: dict[str, Any] = {
    "score": {
        "subtract": [
            {"multiply": [{"column": "age"}, 3, {"add": [{"column": "age"}, -7]}]},
            {
                "case": [{"when": {"column": "cost", "op": ">", "value": 0.25}, "then": 5}],
                "else": -1,
            },
        ]
    },
    "kind": {
        "case": [
            {"when": {"column": "age", "op": "<", "value": 4}, "then": "'\"\\"},
            {"when": {"not": {"column": "day", "op": "is_null"}}, "then": {"column": "ward"}},
            {"when": {"any": [{"column": "urgent", "op": "=", "value": True}]}, "then": "zo\u00eb"},
        ]
    },
    "large": {"multiply": [{"negate": {"column": "age"}}, 2**43 - 1]},
    "rank": {
        "case": [{"when": {"column": "urgent", "op": "=", "value": True}, "then": 2}],
        "else": {"case": [{"when": {"column": "cost", "op": "is_null"}, "then": 0}], "else": 1},
    },
}
"""Derived columns, of which the last two of ``OVER_DERIVED`` have groups."""

OVER_DERIVED: tuple[dict[str, Any], ...] = (
    {"aggregate": {"type": "sum", "column": "score"}, "group_by": ["kind"]},
    {"aggregate": {"type": "sum", "column": "large"}, "group_by": ["rank"]},
    {"aggregate": {"type": "mean", "column": "large"}, "group_by": ["urgent"]},
    {"aggregate": {"type": "mean", "column": "score", "lower": -5, "upper": 90}},
    {"aggregate": {"type": "uncategorized", "column": "kind"}},
    {"aggregate": {"type": "moments", "columns": ["score", "large", "age"]}},
    {"aggregate": {"type": "quantiles", "column": "large", "bins": 17}},
    {"aggregate": {"type": "histogram", "column": "score", "bins": [-9, 0, 40, 900]}},
    {"aggregate": {"type": "count_units"}, "group_by": ["kind", "rank"]},
    {"aggregate": {"type": "marginals", "columns": ["kind", "rank", "ward"]}},
    {
        "aggregate": {"type": "count"},
        "where": [
            {"any": [{"column": "large", "op": "<", "value": -5}, CONDITIONS[3]]},
            {"not": {"column": "kind", "op": "=", "value": "b"}},
        ],
    },
)

_where = st.lists(ENTRIES, max_size=2)
_groups = st.lists(st.sampled_from(GROUPS), max_size=2, unique_by=str)
_plain = st.fixed_dictionaries(
    {
        "aggregate": st.sampled_from(AGGREGATES),
        "group_by": _groups,
        "where": _where,
        "contribution": _limits,
    }
).map(lambda spec: {**spec, "group_by": groups_of(spec["aggregate"], spec["group_by"])})
_together = st.tuples(_plain, st.sampled_from(STRUCTURES)).map(lambda pair: {**pair[0], **pair[1]})
_open = st.tuples(st.sampled_from(DOMAINS), st.sampled_from(AGGREGATES[:2]), _where, _limits).map(
    lambda parts: {
        "structure": "sparse_histogram",
        "domain": parts[0][1],
        "group_by": [parts[0][0]],
        "aggregate": parts[1],
        "where": parts[2],
        "contribution": parts[3],
    }
)
_derived = st.tuples(st.sampled_from(OVER_DERIVED), _where, _limits).map(
    lambda parts: {
        "derived": DERIVED,
        **parts[0],
        "where": [*parts[0].get("where", ()), *parts[1]],
        "contribution": parts[2],
    }
)
specs = st.lists(st.one_of(_plain, _derived, _together, _open), min_size=3, max_size=5)
"""Specs, of which some mean nothing (see ``meaningful``)."""

_KINDS: dict[object, type[ComputedQuery]] = {
    None: ComputedQuery,
    "correlated": CorrelatedQuery,
    "sparse_histogram": HistogramQuery,
}


def query_of(spec: dict[str, Any]) -> ComputedQuery:
    """Return the query of a spec."""
    named = {"name": "question", "dataset": "visits", **spec}
    return _KINDS[spec.get("structure")].model_validate(named)


def meaningful(dataset: DatasetSpec, requests: Sequence[dict[str, Any]]) -> list[ComputedQuery]:
    """Return the queries of those specs that are not refused."""
    queries = []
    for spec in requests:
        query = query_of(spec)
        try:
            interpret(dataset, query)
        except InvalidInput:
            continue
        queries.append(query)
    return queries


LIMITS = {"max_groups": 1, "max_rows_per_group": 2}
EVERY: tuple[dict[str, Any], ...] = (
    *(
        {"aggregate": aggregate, "group_by": groups_of(aggregate), "contribution": LIMITS}
        for aggregate in AGGREGATES
    ),
    *(
        {
            "aggregate": {"type": "count_units"},
            "group_by": ["ward"],
            "contribution": {"max_groups": 3},
            **structure,
        }
        for structure in STRUCTURES
    ),
    *(
        {
            "structure": "sparse_histogram",
            "domain": domain,
            "group_by": [column],
            "aggregate": {"type": "count"},
            "contribution": LIMITS,
        }
        for column, domain in DOMAINS
    ),
    *({"derived": DERIVED, **spec, "contribution": LIMITS} for spec in OVER_DERIVED),
)
"""One spec of each kind."""

MANY: list[Row] = [
    tuple(
        cells[(number * (7 + 2 * place) + number // 11) % len(cells)]
        for place, cells in enumerate(CELLS)
    )
    for number in range(160)
]
"""Rows in which every cell meets many others."""

HOSTILE: tuple[Row, ...] = (
    ("hostile", "b", 2**63 - 1, math.nan, None, None, None),
    ("hostile", "x" * 100_000, -(2**63), math.inf, True, False, None),
    ("hostile", "'; DROP TABLE visits; --", None, -math.inf, None, True, None),
    ("hostile", '\\x00 %s $1 {} "', 0, 1.7976931348623157e308, None, True, None),
    ("hostile", "", 1, 5e-324, None, True, None),
)
"""Rows of one person, with cells that do harm where they are not read as cells."""
