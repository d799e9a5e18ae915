"""Ask what the template means of a dozen rows, with answers that are known.

Engines differ over these rows: no value, NaN, infinity, negative numbers, ties, text of no
such type, Unicode in two forms, people with many rows and groups.  An engine with any other
answer reads no data.
"""

import datetime
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.plan import Plan
from penstock.connectors.specs.cells import Cell
from penstock.connectors.specs.correlated import CorrelatedQuery
from penstock.connectors.specs.histograms import HistogramQuery
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec
from penstock.structures.sparse_histogram.contents import parted

SALT = bytes(range(32))
NAMES = ("person", "ward", "cost", "age", "urgent", "day")

Row = tuple[str | None, str | None, str | None, str | None, str | None, str | None]

ROWS: tuple[Row, ...] = (
    ("\u00e4nn", "Zo\u00eb", "-0.25", "30", "true", "2026-01-01"),
    ("\u00e4nn", "\u6771\u4eac", "99", "31", "false", "2026-01-02"),
    ("\u00e4nn", "\u6771\u4eac", "1.25", "32", "true", "2026-01-02"),
    ("\u00e4nn", "\u6771\u4eac", "1.3", "33", "true", None),
    ("\u00e4nn", "b", "-0.75", "-7", "true", "2026-02-30"),
    ("b\u00f6b", "Zoe\u0308", "2", "30", "true", "2026-01-01"),
    ("b\u00f6b", "b", "NaN", "30.0", "perhaps", "2026-01-01"),
    ("b\u00f6b", "b", "Infinity", "2.5", "true", "2026-01-02"),
    ("B\u00f6b", "b", "-99", None, "false", "2026-01-02"),
    ("B\u00f6b", "Zo\u00eb", None, "0", "true", "2026-01-01"),
    (None, "b", "1", "30", "true", "2026-01-01"),
    ("\U0001f926", "b", "0.75", "120", "true", "2026-01-01"),
)
"""``Zoë`` is spelled in two Unicode forms, of which the first one is declared."""

COLUMNS: dict[str, dict[str, Any]] = {
    "person": {"type": "string"},
    "ward": {"type": "string", "categories": ["Zo\u00eb", "\u6771\u4eac", "b", "none"]},
    "cost": {"type": "number", "lower": -1, "upper": 2, "step": 0.5},
    "age": {"type": "integer", "lower": -10, "upper": 100, "missing": 5},
    "urgent": {"type": "boolean"},
    "day": {"type": "date", "categories": ["2026-01-01", "2026-01-02"]},
}

_KINDS: dict[object, type[ComputedQuery]] = {
    None: ComputedQuery,
    "correlated": CorrelatedQuery,
    "sparse_histogram": HistogramQuery,
}
_WARDS = [{"column": "ward"}]
_BOUNDED = {"max_groups": 2, "max_rows_per_group": 2}


@dataclass(frozen=True)
class Question:
    """Hold a query over the rows, and its answer in lattice steps.

    For open keys the answer is the ranks, and then the counts.  The dataset's source is none of
    the engine's: a plan does not depend on it.
    """

    name: str
    fields: dict[str, Any]
    answer: tuple[int, ...]
    unit: dict[str, Any] | None = None

    @cached_property
    def plan(self) -> Plan:
        """Return what the query means."""
        unit = {"column": "person"} if self.unit is None else self.unit
        dataset = DatasetSpec.model_validate(
            {
                "name": "probe",
                "source": {"engine": "duckdb", "uri": "probe.csv"},
                "privacy_unit": unit,
                "neighboring": "add_remove",
                "columns": COLUMNS,
            }
        )
        query = {"name": "probe", "dataset": "probe", **self.fields}
        return interpret(dataset, _KINDS[query.get("structure")].model_validate(query))

    def is_answered_by(self, answer: NDArray[np.int64]) -> bool:
        """Return True if an engine gave the right answer."""
        parts = (answer,) if self.plan.open_keys is None else parted(answer)
        return tuple(number for part in parts for number in part.tolist()) == self.answer


QUESTIONS: tuple[Question, ...] = (
    Question(
        "count_units",
        {"aggregate": {"type": "count_units"}, "group_by": _WARDS, "contribution": _BOUNDED},
        (2, 1, 3, 0),
    ),
    Question(
        "count",
        {
            "aggregate": {"type": "count"},
            "group_by": [*_WARDS, {"column": "age", "bins": [-7, 5, 30, 120]}],
            "contribution": _BOUNDED,
        },
        (1, 0, 1, 0, 0, 2, 0, 2, 2, 0, 0, 0),
    ),
    Question(
        "sum",
        {
            "aggregate": {"type": "sum", "column": "cost"},
            "group_by": _WARDS,
            "contribution": _BOUNDED,
        },
        (0, 8, 0, 0),
    ),
    Question(
        "mean",
        {
            "aggregate": {"type": "mean", "column": "cost"},
            "group_by": _WARDS,
            "contribution": _BOUNDED,
        },
        (-2, 9, -4, 0, 6, 12, 12, 0),
    ),
    Question(
        "rows that no category takes",
        {
            "aggregate": {"type": "uncategorized", "column": "ward"},
            "contribution": {"max_rows_per_group": 5},
        },
        (-9, 11),
    ),
    Question(
        "products",
        {
            "aggregate": {
                "type": "moments",
                "columns": ["cost", "age"],
                "bounds": {"cost": [-1, 2], "age": [-10, 100]},
                "grid": 16,
            },
            "group_by": _WARDS,
            "contribution": _BOUNDED,
        },
        (
            *(256, -128, -64, 64, 32, 16, 512, 299, -128, 219, -75, 32),
            *(512, -224, 96, 260, 192, 356, 0, 0, 0, 0, 0, 0),
        ),
    ),
    Question(
        "sums",
        {
            "aggregate": {
                "type": "moments",
                "order": 1,
                "columns": ["cost", "age"],
                "bounds": {"cost": [-1, 2], "age": [-10, 100]},
                "grid": 16,
            },
            "group_by": _WARDS,
            "contribution": _BOUNDED,
        },
        (16, -8, -4, 32, 19, -8, 32, -14, 6, 0, 0, 0),
    ),
    Question(
        "quantiles",
        {
            "aggregate": {
                "type": "quantiles",
                "column": "cost",
                "lower": -1,
                "upper": 2,
                "bins": 5,
            },
            "group_by": _WARDS,
            "contribution": _BOUNDED,
        },
        (
            *(0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1),
            *(1, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0),
        ),
    ),
    Question(
        "filters",
        {
            "aggregate": {"type": "sum", "column": "age"},
            "where": [
                {"column": "urgent", "op": "=", "value": True},
                {"column": "ward", "op": "not_in", "value": ["none"]},
                {"column": "cost", "op": ">=", "value": -0.25},
            ],
            "group_by": [{"column": "day"}],
            "contribution": _BOUNDED,
        },
        (160, 32),
    ),
    Question(
        "joined conditions",
        {
            "aggregate": {"type": "count"},
            "where": [
                {
                    "any": [
                        {"column": "cost", "op": "is_null"},
                        {"not": {"column": "ward", "op": "in", "value": ["b", "none"]}},
                        {
                            "all": [
                                {"not": {"column": "age", "op": "<", "value": 30}},
                                {"column": "day", "op": "is_not_null"},
                            ]
                        },
                    ]
                },
                {"not": {"column": "urgent", "op": "=", "value": False}},
            ],
            "group_by": _WARDS,
            "contribution": _BOUNDED,
        },
        (2, 2, 2, 0),
    ),
    Question(
        "derived columns",
        {
            "derived": {
                "score": {
                    "add": [
                        {"multiply": [{"column": "age"}, {"negate": {"column": "age"}}, 2**14]},
                        {
                            "case": [
                                {
                                    "when": {"column": "cost", "op": "<", "value": 1},
                                    "then": {"subtract": [7, {"column": "age"}]},
                                }
                            ],
                            "else": 1,
                        },
                    ]
                },
                "kind": {
                    "case": [
                        {"when": {"column": "urgent", "op": "is_null"}, "then": "unknown"},
                        {
                            "when": {"column": "age", "op": ">=", "value": 30},
                            "then": {"column": "ward"},
                        },
                    ],
                    "else": "others",
                },
            },
            "aggregate": {"type": "sum", "column": "score"},
            "where": [{"column": "score", "op": "!=", "value": -(10**4) * 2**14}],
            "group_by": [{"column": "kind"}],
            "contribution": _BOUNDED,
        },
        (-14745599, -14745623, 0, -163840093, 0, -1621998),
    ),
    Question(
        "columns",
        {
            "structure": "correlated",
            "trade_off": 1,
            "aggregate": {"type": "count", "columns": ["urgent"]},
            "group_by": _WARDS,
            "contribution": {"max_groups": 3, "max_rows_per_group": 2},
        },
        tuple(node << 12 for node in (2, 2, 2, 2, 1, 5, 0, 0)),
    ),
    Question(
        "overlapping groups",
        {
            "structure": "correlated",
            "trade_off": 1,
            "aggregate": {"type": "count_units"},
            "group_by": _WARDS,
            "contribution": {"max_groups": 3, "max_rows_per_group": 2},
        },
        tuple(node << 12 for node in (0, -2, 4, -4, 4)),
    ),
    Question(
        "rows",
        {"aggregate": {"type": "sum", "column": "cost"}, "group_by": [{"column": "urgent"}]},
        (2, 13),
        {"rows": 1},
    ),
)

OPEN_QUESTIONS: tuple[Question, ...] = (
    Question(
        "uint64",
        {
            "structure": "sparse_histogram",
            "domain": {"type": "uint64", "size": 33},
            "aggregate": {"type": "count"},
            "group_by": [{"column": "age"}],
            "contribution": _BOUNDED,
        },
        (0, 5, 30, 31, 32, 1, 2, 2, 1, 1),
    ),
    Question(
        "string",
        {
            "structure": "sparse_histogram",
            "domain": {"type": "string", "alphabet": "bn\u00e4\u00f6", "length": 3},
            "aggregate": {"type": "count"},
            "group_by": [{"column": "person"}],
            "contribution": _BOUNDED,
        },
        (12, 37, 2, 2),
    ),
    Question(
        "sha256_64",
        {
            "structure": "sparse_histogram",
            "domain": {"type": "sha256_64"},
            "aggregate": {"type": "count"},
            "group_by": [{"column": "ward"}],
        },
        (
            *(1369119241984014309, 4477677635727087946, 13909034664460676204),
            *(14312763526516556048, 3, 6, 1, 2),
        ),
        {"rows": 1},
    ),
)
"""Keys that cannot be listed."""


def typed_rows() -> dict[str, list[Cell | None]]:
    """Return the rows' columns as typed engines hold them: no value for text of no such type."""
    return {
        name: [_typed(COLUMNS[name]["type"], row[place]) for row in ROWS]
        for place, name in enumerate(NAMES)
    }


def _typed(kind: str, text: str | None) -> Cell | None:
    if text is None or kind == "string":
        return text
    with suppress(ValueError):
        match kind:
            case "number":
                return float(text)
            case "integer":
                return int(float(text)) if float(text) == int(float(text)) else None
            case "date":
                return datetime.date.fromisoformat(text)
    return {"true": True, "false": False}.get(text)
