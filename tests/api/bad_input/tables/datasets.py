"""Provide invalid datasets."""

from pathlib import Path
from typing import Any

from tests.api.bad_input.row import Absent, Flaw, Row, rows_of
from tests.api.world import DATASET

DATASETS = "/api/v1/datasets"
OTHER_FILE = "other.csv"
"""A file with other columns, beside the one that is registered."""
GOOD: dict[str, Any] = {**DATASET, "name": "fresh"}
COLUMNS: dict[str, Any] = {
    "person": {"type": "string"},
    "town": {"type": "string", "categories": ["north", "south", "west"]},
    "visits": {"type": "integer", "lower": 0, "upper": 4, "step": 1},
}
STAYS: dict[str, Any] = {
    **DATASET,
    "name": "stays",
    "privacy_unit": {"column": "person"},
    "max_units": 100_000,
    "columns": COLUMNS,
}


def of_file(path: str, **changes: Any) -> dict[str, Any]:
    """Return a dataset that the server reads from ``path``."""
    return {**STAYS, "source": {"engine": "duckdb", "uri": path}, **changes}


BUDGETS = [
    Flaw("no budgets", {"budgets": {}}, "/budgets", "Enter an epsilon"),
    Flaw("budgets left out", {"budgets": Absent}, "/budgets", "Enter an epsilon"),
    Flaw("a list of budgets", {"budgets": []}, "/budgets", "must be an object"),
    Flaw("a text for a budget", {"budgets": {"public": "1"}}, "/budgets/public", "be an object"),
    Flaw("a budget of -1", {"budgets": {"public": -1}}, "/budgets/public/epsilon", "above 0"),
    Flaw("an empty budget", {"budgets": {"public": {}}}, "/budgets/public/epsilon", "an epsilon: "),
    Flaw(
        "a delta for one tier",
        {"budgets": {"public": {"epsilon": 1, "delta": 1e-9}}},
        "/budgets/public/delta",
        "unknown",
    ),
    Flaw(
        "budgets that shrink as rank rises",
        {"budgets": {"public": {"epsilon": 4}, "internal": {"epsilon": 1}}},
        "/budgets/internal",
        "'internal' is epsilon 1, below that of the less trusted 'public', 4",
    ),
    Flaw(
        "a tier that does not exist",
        {"budgets": {"moon": {"epsilon": 1}}},
        "/budgets/moon",
        "no tier 'moon'; create it",
    ),
    Flaw(
        "a tier twice, in other case",
        {"budgets": {"public": {"epsilon": 1}, "Public": {"epsilon": 2}}},
        "/budgets",
        "listed twice",
    ),
    Flaw(
        "a tier twice, in other Unicode",
        {"budgets": {"caf\u00e9": {"epsilon": 1}, "cafe\u0301": {"epsilon": 2}}},
        "/budgets",
        "listed twice",
    ),
    Flaw("a tier without a name", {"budgets": {"": {"epsilon": 1}}}, "/budgets/", "1 to 64"),
    Flaw("a name with signs", {"budgets": {"a/b~c": {"epsilon": 1}}}, "/budgets/a~1b~0c", "slash"),
    Flaw("1001 budgets", {"budgets": {f"t{n}": {"epsilon": 1} for n in range(1001)}}, "/budgets",
         "1000 or less"),
]  # fmt: skip
EPSILONS = [
    Flaw(
        f"epsilon {value!r}", {"budgets": {"public": {"epsilon": value}}},
        "/budgets/public/epsilon", says,
    )
    for value, says in (
        (0, "above 0"),
        (-1, "above 0"),
        (-0.0, "above 0"),
        (1e308, "up to 1e.06"),
        (10**15, "up to 1e.06"),
        (5e-324, "leaves nothing to spend"),
        (1e-5, "leaves nothing to spend.*epsilon of 0.00591 or more"),
        (True, "must be a number"),
        ("1", "must be a number"),
        (None, "Enter an epsilon: a number above 0"),
        ([1], "must be a number"),
    )
]  # fmt: skip
DELTAS = [
    Flaw(f"delta {value!r}", {"delta": value}, "/delta", says)
    for value, says in (
        (-1e-6, "at least 0"),
        (1, "below 1"),
        (2, "below 1"),
        (1e-300, "at least 1e-15"),
        (5e-324, "at least 1e-15"),
        (True, "must be a number"),
        ("1e-6", "must be a number"),
        (None, "Enter the chance that"),
        (Absent, "Enter the chance that"),
    )
]
OTHER = [
    Flaw("an unknown relation", {"neighboring": "next"}, "/neighboring", "'add_remove'"),
    Flaw("no relation", {"neighboring": Absent}, "/neighboring", "Say which data are compared"),
    Flaw("no source", {"source": Absent}, "/source", "Say where the data are"),
    Flaw("a text for a source", {"source": "vector"}, "/source", "must be an object"),
    Flaw("an unknown engine", {"source": {"engine": "excel"}}, "/source/engine", "'duckdb'"),
    Flaw("no engine", {"source": {}}, "/source/engine", "Enter"),
    Flaw("a password", {"source": {"engine": "vector", "password": "x"}}, "/source/password",
         "unknown"),
    Flaw("a file of vectors", {"source": {"engine": "vector", "uri": "x.csv"}}, "/source/uri",
         "leave this out"),
    Flaw("columns of vectors", {"columns": COLUMNS}, "/columns", "leave this out"),
    Flaw("max_units 0", {"max_units": 0}, "/max_units", "at least 1"),
    Flaw("too many units", {"max_units": 2**49}, "/max_units", "at most 281474976710656"),
    Flaw("half a unit", {"max_units": 0.5}, "/max_units", "an integer"),
    Flaw("a text for a unit", {"privacy_unit": "person"}, "/privacy_unit", "\"rows\": 1"),
    Flaw("no unit in it", {"privacy_unit": {}}, "/privacy_unit", "\"rows\": 1"),
    Flaw("two rows a unit", {"privacy_unit": {"rows": 2}}, "/privacy_unit/rows", "at most 1"),
    Flaw("a version of one's own", {"version": 2}, "/version", "unknown"),
    Flaw("a field that is not known", {"surprise": 1}, "/surprise", "unknown"),
    Flaw("a name that is taken", {"name": "sites"}, None, "'sites' already", 409, "NAME_TAKEN"),
    Flaw("a name in capitals", {"name": "SITES"}, None, "'sites' already", 409, "NAME_TAKEN"),
    Flaw("a long s", {"name": "\u017fites"}, None, "'sites' already", 409, "NAME_TAKEN"),
    Flaw("a name that climbs", {"name": ".."}, "/name", "begins with a letter"),
    Flaw("a zero byte in a name", {"name": "a\x00"}, "/name", "control characters"),
    Flaw("a number for a name", {"name": 1}, "/name", "must be a string"),
]  # fmt: skip

ADDRESSES = [
    ("a file that is not there", "absent.csv", "no such file"),
    ("a file of another kind", "/etc/passwd", r"\.csv or \.parquet"),
    ("a file found by climbing", "../../../etc/passwd", r"\.csv or \.parquet"),
    ("an address", "http://127.0.0.1/x.csv", "This is an address"),
    ("a bucket", "s3://bucket/x.parquet", "This is an address"),
    ("a file by address", "file:///etc/x.csv", "This is an address"),
    ("an empty name", "", "Enter the path"),
    ("a zero byte", "a\x00.csv", "control characters"),
    ("an endless name", "x" * 1025, "at most 1024"),
    ("a name too long for a disk", "x" * 300 + ".csv", "no such file"),
    ("a device", "/dev/zero", r"\.csv or \.parquet"),
    ("a process", "/proc/self/environ", r"\.csv or \.parquet"),
    ("a pattern", "*.csv", "no such file"),
    ("somebody's home", "~/x.csv", "no such file"),
    ("a command", "|ls>x.csv", "no such file"),
    ("SQL", "x'); DROP TABLE tier; --.csv", "no such file"),
    ("a number", 1, "must be a string"),
    ("nothing", None, "Name the CSV or Parquet file"),
]


def of_columns(**columns: Any) -> dict[str, Any]:
    """Return the declared columns: the unit's, and these."""
    return {"columns": {"person": {"type": "string"}, **columns}}


FILES = [
    Flaw("a column that is missing", of_columns(height={"type": "number"}), "/columns/height",
         "1 of the 2 declared columns cannot be found"),
    Flaw("a column in other case", of_columns(Town={"type": "string"}), "/columns/Town", "cannot"),
    Flaw("two names but for case", of_columns(Person={"type": "string"}), "/columns", "only in"),
    Flaw("no columns", {"columns": {}}, "/columns", "Declare the columns"),
    Flaw("an unknown type", of_columns(town={"type": "text"}), "/columns/town/type", "'string'"),
    Flaw("reversed bounds", of_columns(visits={"type": "integer", "lower": 4, "upper": 0}),
         "/columns/visits/upper", "bounds are reversed: lower is 4, upper 0"),
    Flaw("a step of 0", of_columns(visits={"type": "integer", "step": 0}), "/columns/visits/step",
         "power of two"),
    Flaw("a bound of texts", of_columns(town={"type": "string", "lower": 1}),
         "/columns/town/lower", "Only integer and number"),
    Flaw("no categories", of_columns(town={"type": "string", "categories": []}),
         "/columns/town/categories", "length of 1 or more"),
    Flaw("a category twice", of_columns(town={"type": "string", "categories": ["a", "a"]}),
         "/columns/town/categories", "occurs once"),
    Flaw("a category of another type", of_columns(town={"type": "string", "categories": ["a", 1]}),
         "/columns/town/categories/1", "must be a string"),
    Flaw("a stand-in of another type", of_columns(visits={"type": "integer", "missing": "x"}),
         "/columns/visits/missing", "an integer"),
    Flaw("a stand-in for a person", {"columns": {"person": {"type": "string", "missing": "x"}}},
         "/columns/person/missing", "nothing can stand in"),
    Flaw("a column's name with signs", of_columns(**{"a/b~": {"type": "x"}}),
         "/columns/a~1b~0/type", "'string'"),
    Flaw("a zero byte in a column's name", of_columns(**{"\x00": {"type": "string"}}),
         "/columns/\x00", "control characters"),
    Flaw("1001 columns", {"columns": {f"c{n}": {"type": "string"} for n in range(1001)}},
         "/columns", "1000 or less"),
    Flaw("no unit", {"privacy_unit": Absent}, "/privacy_unit", "whose records"),
    Flaw("events", {"privacy_unit": "event"}, "/privacy_unit", "for streams"),
    Flaw("a unit that is not declared", {"privacy_unit": {"column": "moon"}},
         "/privacy_unit/column", "not declared"),
    Flaw("the same file again", {}, None, "registered already, as dataset 'stays'", 409),
]  # fmt: skip


VERSIONS = [
    Flaw("no budgets", {"budgets": Absent}, "/budgets", "Enter an epsilon"),
    Flaw("no source", {"source": Absent}, "/source", "Say where the data are"),
    Flaw("other columns", {"columns": COLUMNS}, "/columns", "unknown"),
    Flaw("another unit", {"privacy_unit": {"rows": 1}}, "/privacy_unit", "unknown"),
    Flaw("another delta", {"delta": 1e-9}, "/delta", "unknown"),
    Flaw("a number of one's own", {"version": 7}, "/version", "unknown"),
    Flaw("a text for a statement", {"disjoint_units": "yes"}, "/disjoint_units", "true or false"),
    Flaw("vectors", {"source": {"engine": "vector"}}, "/source/engine", "the same kind of source"),
    Flaw("max_units 0", {"max_units": 0}, "/max_units", "at least 1"),
    Flaw("the same file again", {}, None, "'stays', version 1", 409),
    Flaw("the same file, of others", {"disjoint_units": True}, None, "'stays', version 1", 409),
]


def rows_of_version(path: str) -> list[Row]:
    """Return invalid requests for new data of a dataset."""
    good = {"source": {"engine": "duckdb", "uri": path}, "budgets": STAYS["budgets"]}
    other = {"engine": "duckdb", "uri": str(Path(path).with_name(OTHER_FILE))}
    flaws = [
        *VERSIONS,
        Flaw("another schema", {"source": other}, "/columns/town", "1 of the 3 declared columns"),
    ]
    vectors = rows_of("version of vectors", f"{DATASETS}/sites/versions", good, [PUSHED])
    return [*rows_of("version", f"{DATASETS}/stays/versions", good, flaws), *vectors]


def rows_of_change() -> list[Row]:
    """Return invalid corrections of a dataset's declaration."""
    path = f"{DATASETS}/stays"
    column = {"town": {"type": "string", "categories": ["a", "a"]}}
    both = {"delta": 1e-7, "budgets": {"public": 1}}
    budgets, people = "/budgets", {"same_people_as": "missing"}
    wanted: list[tuple[str, dict[str, Any], str | None, str]] = [
        ("nothing", {}, None, "Say what is declared otherwise"),
        ("nothing, said", {"columns": None}, None, "Say what is declared otherwise"),
        ("what it is", {"columns": {"person": {"type": "string"}}}, None, "like this already"),
        ("two acts", both, None, "each by a request of its own"),
        ("acts of others", {"delta": 1e-7, **people}, None, "each by a request of its own"),
        ("nobody's people", people, "/same_people_as", "There is no dataset 'missing'"),
        ("its own people", {"same_people_as": "STAYS"}, "/same_people_as", "the dataset itself"),
        ("a category twice", {"columns": column}, "/columns/town/categories", "occurs once"),
        ("no column", {"columns": {"sea": {"type": "string"}}}, "/columns/sea", "1 of the"),
        ("no column to leave out", {"columns": {"sea": None}}, "/columns/sea", "not declared"),
        ("the unit left out", {"columns": {"person": None}}, "/privacy_unit/column", "declared"),
        ("another file", {"source": {"engine": "vector"}}, "/source", "unknown"),
        (
            "no epsilon",
            {"budgets": {"public": {}}},
            f"{budgets}/public/epsilon",
            "Enter an epsilon",
        ),
    ]
    return [
        Row(f"correction: {name}", "PATCH", path, words, 422, pointer=pointer, body=body)
        for name, body, pointer, words in wanted
    ]


PUSHED = Flaw("a file", {}, None, "pushed, so there is no file", 409)


def rows_of_file(path: str) -> list[Row]:
    """Return the rows that need the path of a file that is there."""
    addresses = [
        Flaw(name, {"source": {"engine": "duckdb", "uri": uri}}, "/source/uri", says)
        for name, uri, says in ADDRESSES
    ]
    files = rows_of("file", DATASETS, of_file(path, name="fresh"), [*addresses, *FILES])
    return [*files, *rows_of_version(path), *rows_of_change()]


ROWS = rows_of("dataset", DATASETS, GOOD, [*BUDGETS, *EPSILONS, *DELTAS, *OTHER])
