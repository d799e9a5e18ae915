"""Provide previews of specs that are not valid or name something hidden.

A spec is refused as in registering it.
"""

from typing import Any

from tests.api.bad_input.row import Absent, Flaw, Row, rows_of
from tests.api.bad_input.tables import computed, vectors

PREVIEW = "/api/v1/queries/preview"
NAMED: dict[str, Any] = {"query": "visits"}
GOOD = [
    vectors.GOOD,
    vectors.SHARED,
    computed.GOOD,
    computed.SUM,
    {name: part for name, part in vectors.GOOD.items() if name != "values"},
    NAMED,
    {"query": "BY_TOWN"},
]

NAMES = [
    Flaw("a query that does not exist", {"query": "moon"}, None, "no query 'moon'", 404),
    Flaw("a number for a query", {"query": 1}, "/query", "must be a string"),
    Flaw("null for a query", {"query": None}, "/query", "Name a query"),
    Flaw("a list of queries", {"query": ["visits"]}, "/query", "must be a string"),
    Flaw("an empty query", {"query": ""}, "/query", "Name a query"),
    Flaw("a query that is also a spec", {"name": "fresh"}, "/name", "unknown"),
    Flaw("nothing", {"query": Absent}, "/name", "Enter a name"),
]
OTHERS = [
    Flaw("a hidden query", {"query": "secret"}, None, "no query 'secret'", 404),
    Flaw("a missing one in the same words", {"query": "moon"}, None, "no query 'moon'", 404),
]
VALUELESS = [
    Flaw("neither keys nor values", {"values": Absent, "keys": Absent}, "/keys", "keys or values"),
    Flaw("more values than the server allows", {"values": [1] * 20_001, "keys": Absent}, None,
         "20001 values; this server allows 20000"),
    Flaw("null for values", {"values": None}, "/values", "Enter at least one number"),
    Flaw("no values and a key twice", {"values": Absent, "keys": ["a", "a"]}, "/keys", "once"),
    Flaw("no values and no dataset", {"values": Absent, "dataset": "moon"}, None, "'moon'", 404),
    Flaw("no values, of a file", {"values": Absent, "dataset": "stays"}, "/dataset", "reads the"),
    Flaw("no values, a taken name", {"values": Absent, "name": "visits"}, None, "'visits' already",
         409, "NAME_TAKEN"),
]  # fmt: skip
ROWS = [
    *rows_of("preview", PREVIEW, NAMED, NAMES),
    *rows_of("preview by ann", PREVIEW, NAMED, OTHERS, by="ann"),
    *rows_of("preview of a vector", PREVIEW, vectors.GOOD, VALUELESS),
    Row("preview: an auditor's", "POST", PREVIEW, "takes the role analyst or admin", 403,
        body=NAMED, by="olga"),
    Row("preview: no clearance", "POST", PREVIEW, "no dataset 'sites'", 404,
        body=vectors.GOOD, by="noa"),
    Row("preview: an argument", "POST", PREVIEW + "?dry=1", "unknown here; known arguments: none",
        body=NAMED, pointer="/dry"),
]  # fmt: skip
