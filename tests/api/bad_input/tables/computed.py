"""Provide invalid queries over a file."""

import json
from typing import Any

from tests.api.bad_input.row import Absent, Flaw, Row, rows_of
from tests.api.bad_input.tables.vectors import QUERIES

GOOD: dict[str, Any] = {
    "name": "fresh",
    "dataset": "stays",
    "where": [{"column": "visits", "op": ">=", "value": 1}],
    "group_by": [{"column": "town"}],
    "aggregate": {"type": "count"},
    "contribution": {"max_groups": 1, "max_rows_per_group": 2},
    "mechanism": "laplace",
    "levels": {"public": {"epsilon": 0.01}, "internal": {"epsilon": 0.02}},
}
SUM: dict[str, Any] = {**GOOD, "aggregate": {"type": "sum", "column": "visits"}}


def by(**group: Any) -> dict[str, Any]:
    """Return the fields of a single grouping."""
    return {"group_by": [group]}


def where(column: str, op: str, value: Any) -> dict[str, Any]:
    """Return the fields of a single condition."""
    return {"where": [{"column": column, "op": op, "value": value}]}


def adding(**changes: Any) -> dict[str, Any]:
    """Return a sum of visits with these fields."""
    return {"aggregate": {"type": "sum", "column": "visits", **changes}}


GROUPS = [
    Flaw("a column that is missing", by(column="moon"), "/group_by/0/column", "declares no column"),
    Flaw("a column in other case", by(column="Town"), "/group_by/0/column", "declares no column"),
    Flaw("an open domain", by(column="person"), "/group_by/0/column", "Keys are declared"),
    Flaw("numbers without bins", by(column="visits"), "/group_by/0/column", "give bins"),
    Flaw("bins over texts", by(column="town", bins=[0, 1]), "/group_by/0/bins", "Bins are for"),
    Flaw("one edge", by(column="visits", bins=[0]), "/group_by/0/bins", "length of 2 or more"),
    Flaw("edges that fall", by(column="visits", bins=[1, 0]), "/group_by/0/bins/1", "rise"),
    Flaw("an edge twice", by(column="visits", bins=[0, 0]), "/group_by/0/bins/1", "rise"),
    Flaw(
        "bins that overlap",
        by(column="visits", bins=[[0, 2], [1, 3]]),
        "/group_by/0/bins/0",
        "must be a number",
    ),
    Flaw("edges in no order", by(column="visits", bins=[0, 3, 1, 2]), "/group_by/0/bins/2", "rise"),
    Flaw("a later edge twice", by(column="visits", bins=[0, 1, 1]), "/group_by/0/bins/2", "rise"),
    Flaw(
        "one edge in two spellings",
        by(column="visits", bins=[0, 1, 1.0, 2]),
        "/group_by/0/bins/2",
        "rise",
    ),
    Flaw("both zeros", by(column="visits", bins=[-0.0, 0.0, 1]), "/group_by/0/bins/1", "rise"),
    Flaw("null for an edge", by(column="visits", bins=[0, None]), "/group_by/0/bins/1", "edges"),
    Flaw(
        "NaN as a text for an edge",
        by(column="visits", bins=[0, "NaN"]),
        "/group_by/0/bins/1",
        "must be a number",
    ),
    Flaw("no edges", by(column="visits", bins=[]), "/group_by/0/bins", "Enter the edges"),
    Flaw("a text for an edge", by(column="visits", bins=[0, "1"]), "/group_by/0/bins/1", "number"),
    Flaw("a huge edge", by(column="visits", bins=[0, 1e300]), "/group_by/0/bins/1", "2.63"),
    Flaw(
        "too many bins",
        by(column="visits", bins=list(range(10_002))),
        "/group_by/0/bins",
        "10001 or less",
    ),
    Flaw(
        "no column", by(), "/group_by/0/column", "Choose the column by whose values rows are group"
    ),
    Flaw("a number for groups", {"group_by": 1}, "/group_by", "must be a list"),
    Flaw("an unknown column alone", {"group_by": "moon"}, "/group_by/0/column", "no column"),
    Flaw("too many groups", {"group_by": [{"column": "town"}] * 17}, "/group_by", "16 or less"),
    Flaw(
        "too many keys",
        {"group_by": [{"column": "visits", "bins": list(range(5000))} for _ in range(3)]},
        "/group_by",
        "have \\d+ keys; .* has at most",
    ),
]
CONDITIONS = [
    Flaw("a column that is missing", where("moon", "=", 1), "/where/0/column", "no column"),
    Flaw("a key outside the domain", where("town", "=", "east"), "/where/0/value", "categories"),
    Flaw("keys outside it", where("town", "in", ["north", "east"]), "/where/0/value", "categories"),
    Flaw("an order of texts", where("town", "<", "north"), "/where/0/op", "compares integers"),
    Flaw("an unknown relation", where("town", "~", "n.*"), "/where/0/op", "'=', '!='"),
    Flaw("a text for a number", where("visits", "=", "1"), "/where/0/value", "an integer"),
    Flaw("a fraction", where("visits", "=", 1.5), "/where/0/value", "an integer that fits"),
    Flaw("a boolean", where("visits", "=", value=True), "/where/0/value", "an integer that fits"),
    Flaw("65 bits", where("visits", "=", 2**64 - 1), "/where/0/value", "2.63 - 1"),
    Flaw("an empty list", where("visits", "in", []), "/where/0/value", "Enter what it is compared"),
    Flaw("a long list", where("visits", "in", [1] * 1001), "/where/0/value", "1 to 1000"),
    Flaw("one for a list", where("visits", "in", 3), "/where/0/value", "takes a list"),
    Flaw("a list for one", where("visits", "=", [3]), "/where/0/value", "takes one value"),
    Flaw("null", where("visits", "=", None), "/where/0/value", "Enter what it is compared"),
    Flaw("an object", where("visits", "=", {"a": 1}), "/where/0/value", "a string, a number"),
    Flaw("SQL", where("town", "=", "n'; DROP TABLE tier; --"), "/where/0/value", "categories"),
    Flaw("a zero byte", where("person", "=", "a\x00"), "/where/0/value", "control characters"),
    Flaw(
        "an empty object for all",
        {"where": {}},
        "/where/0/column",
        "Choose the column that is compared",
    ),
    Flaw("257 of them", {"where": GOOD["where"] * 257}, "/where", "more than 256 entries"),
]
AGGREGATES = [
    Flaw("an unknown one", {"aggregate": {"type": "median"}}, "/aggregate", "whose type is count"),
    Flaw("a text", {"aggregate": "count"}, "/aggregate", "must be an object whose type"),
    Flaw("null", {"aggregate": None}, "/aggregate", "must be an object whose type"),
    Flaw("none", {"aggregate": Absent}, "/aggregate", "Say what to compute"),
    Flaw("a list for its type", {"aggregate": {"type": ["sum"]}}, "/aggregate", "an object whose"),
    Flaw("a field too many", {"aggregate": {"type": "count", "column": "visits"}},
         "/aggregate/column", "unknown"),
    Flaw("a histogram without bins", {"aggregate": {"type": "histogram", "column": "visits"}},
         "/aggregate/bins", "Enter the edges of the bins"),
    Flaw("a histogram whose bins fall", {"aggregate": {"type": "histogram", "column": "visits",
         "bins": [0, 4, 2]}}, "/aggregate/bins/2", "rise"),
    Flaw("a histogram with a bin twice", {"aggregate": {"type": "histogram", "column": "visits",
         "bins": [0, 2, 2, 4]}}, "/aggregate/bins/2", "rise"),
    Flaw("a histogram of texts", {"aggregate": {"type": "histogram", "column": "town",
         "bins": [0, 1]}}, "/aggregate/bins", "Bins are for"),
]  # fmt: skip
SUMS = [
    Flaw("reversed bounds", adding(lower=4, upper=0), "/aggregate/upper", "bounds are reversed"),
    Flaw("a column that is missing", adding(column="moon"), "/aggregate/column", "no column"),
    Flaw("a column of texts", adding(column="town"), "/aggregate/column", "numbers add up"),
    Flaw("bounds of nothing", adding(lower=0, upper=0), "/aggregate", "sum is always 0"),
    Flaw("a step of 0.3", adding(step=0.3), "/aggregate/step", "power of two"),
    Flaw("a step of 0", adding(step=0), "/aggregate/step", "power of two"),
    Flaw(
        "bounds too far for doubles",
        adding(lower=-(2**60), upper=2**60, step=2**-20),
        "/aggregate/step",
        "at most 2.52",
    ),
    Flaw("a sum too large", adding(upper=2**50), "/aggregate", "range of exact integers"),
    Flaw("a text for a bound", adding(lower="0"), "/aggregate/lower", "must be a number"),
]
MEANS = [
    Flaw("a column of texts", {"aggregate": {"type": "mean", "column": "town"}},
         "/aggregate/column", "numbers add up"),
    Flaw("no column", {"aggregate": {"type": "mean"}}, "/aggregate/column", "Choose the column"),
    Flaw("equal bounds", {"aggregate": {"type": "mean", "column": "visits", "lower": 4}},
         "/aggregate", "the mean is known"),
    Flaw("a field too many", {"aggregate": {"type": "mean", "column": "visits", "bins": [0, 1]}},
         "/aggregate/bins", "unknown"),
]  # fmt: skip
LIMITS = [
    Flaw("none for groups", {"contribution": {"max_rows_per_group": 1}}, "/contribution/max_groups",
         "in how many of the 3 groups"),
    Flaw("none for rows", {"contribution": {"max_groups": 1}}, "/contribution/max_rows_per_group",
         "how many rows"),
    Flaw("0 groups", {"contribution": {"max_groups": 0}}, "/contribution/max_groups", "at least 1"),
    Flaw("-1 groups", {"contribution": {"max_groups": -1}}, "/contribution/max_groups", "least 1"),
    Flaw("countless groups", {"contribution": {"max_groups": 10**18}}, "/contribution/max_groups",
         "at most 10000000"),
    Flaw("half a group", {"contribution": {"max_groups": 1.5}}, "/contribution/max_groups",
         "an integer"),
    Flaw("too many rows", {"contribution": {"max_groups": 1, "max_rows_per_group": 2**32}},
         "/contribution/max_rows_per_group", "at most 2147483648"),
    Flaw("null", {"contribution": None}, "/contribution", "must be an object"),
]  # fmt: skip
OTHER = [
    Flaw("a dataset of vectors", {"dataset": "sites"}, "/dataset", "holds pushed vectors only"),
    Flaw("values of one's own", {"values": [1, 2, 3]}, "/values", "unknown"),
    Flaw("keys of one's own", {"keys": ["north", "moon"]}, "/keys", "unknown"),
    Flaw("a sensitivity of one's own", {"sensitivity": {"l1": 1}}, "/sensitivity", "unknown"),
    Flaw("a salt of one's own", {"salt": "00"}, "/salt", "unknown"),
    Flaw("a name that is taken", {"name": "By_Town"}, None, "'by_town'", 409, "NAME_TAKEN"),
    Flaw(
        "the same statistic in other words, and with max_groups above the keys",
        {
            "where": [],
            "aggregate": {"type": "count_units"},
            # There are three keys, so that this is three.
            "contribution": {"max_groups": 99, "max_rows_per_group": 7},
            "levels": {"internal": {"epsilon": 0.001}},
        },
        None,
        "registered already, as query 'by_town'; use that one",
        409,
    ),
]

ROWS = [
    *rows_of("computed, groups", QUERIES, GOOD, GROUPS),
    *rows_of("computed, conditions", QUERIES, GOOD, CONDITIONS),
    *rows_of("computed, aggregate", QUERIES, GOOD, AGGREGATES),
    *rows_of("computed, sum", QUERIES, SUM, SUMS),
    *rows_of("computed, mean", QUERIES, GOOD, MEANS),
    *rows_of("computed, limits", QUERIES, GOOD, LIMITS),
    *rows_of("computed", QUERIES, GOOD, OTHER),
    *(
        Row(f"computed, {name} for an edge", "POST", QUERIES, "is not JSON", 400, pointer="",
            data=json.dumps({**GOOD, **by(column="visits", bins=[0, edge])}).encode())
        for name, edge in (("NaN", float("nan")), ("infinity", float("inf")))
    ),
]  # fmt: skip
