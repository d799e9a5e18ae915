"""Test that conditions and columns in their simplest form select the same rows, and that the same
conditions in other words have the same one.

What is in the simplest form is hashed and never run.  Here it is run, on files with missing cells,
cells beyond all bounds and undeclared ones.
"""

import datetime
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.thorough import by_count
from tests.unit.connectors.cases import KEY, SALT, Folder, dataset_of, query_of

from penstock.connectors.choice import connector_of
from penstock.connectors.formulas.formula import Filter
from penstock.connectors.formulas.simplest import FALSE
from penstock.connectors.formulas.simplest_plan import simplest_plan
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.plan import Plan
from penstock.connectors.planning.prepare import answer, fingerprint, prepare
from penstock.connectors.sources import Sources

Entry = dict[str, Any]

COLUMNS: dict[str, dict[str, Any]] = {
    "person": {"type": "string"},
    "visits": {"type": "integer", "lower": 0, "upper": 3},
    "level": {"type": "integer", "categories": [1, 2, 4], "missing": 2, "lower": 1, "upper": 4},
    "cost": {"type": "number", "lower": -1, "upper": 2, "step": 0.5},
    "urgent": {"type": "boolean"},
    "insured": {"type": "boolean", "missing": True},
    "ward": {"type": "string", "categories": ["a", "b", "c"]},
    "day": {"type": "date"},
}
SOURCE = {"engine": "duckdb", "uri": "visits.parquet"}
DATASET = dataset_of(source=SOURCE, columns=COLUMNS, max_units=1000)
DAYS = [datetime.date(2026, 1, 1), datetime.date(2026, 1, 2), datetime.date(9999, 12, 31)]
CELLS: dict[str, tuple[Any, list[Any]]] = {
    "visits": (pa.int64(), [-(2**63), -1, 0, 1, 2, 3, 4, 2**63 - 1, None]),
    "level": (pa.int64(), [0, 1, 2, 3, 4, None]),
    "cost": (pa.float64(), [-0.5, -0.0, 0.0, 0.5, 1.0, 1.5, 1e300, None]),
    "urgent": (pa.bool_(), [True, False, None]),
    "insured": (pa.bool_(), [True, False, None]),
    "ward": (pa.string(), ["a", "b", "c", "elsewhere", None]),
    "day": (pa.date32(), [datetime.date(1, 1, 1), *DAYS, None]),
}
VALUES: dict[str, list[Any]] = {
    "visits": [-1, 0, 1, 2, 3, 4, 2**63 - 1025],
    "level": [1, 2, 4],
    "cost": [0, 0.5, 1],
    "urgent": [True, False],
    "insured": [True, False],
    "ward": ["a", "b", "c"],
    "day": [day.isoformat() for day in (datetime.date(1, 1, 1), *DAYS)],
    "cut": [0, 1, 3],
    "total": [1, 3, 4],
    "apart": [-1, 0, 1],
    "flag": [0, 1],
    "text": ["a", "b", "c"],
    "band": ["low", "high"],
}
TYPES = {name: column["type"] for name, column in COLUMNS.items()} | {
    **dict.fromkeys(("cut", "total", "apart", "flag"), "integer"),
    **dict.fromkeys(("text", "band"), "string"),
}
ORDERED = {name for name, kind in TYPES.items() if kind in ("integer", "number", "date")}
INTEGERS = {name for name, kind in TYPES.items() if kind == "integer"}
DERIVED = ("cut", "total", "apart", "flag", "text", "band")


@st.composite
def comparisons(draw: st.DrawFn, names: tuple[str, ...] = tuple(VALUES)) -> Entry:
    """Return a comparison of one column."""
    name = draw(st.sampled_from(names))
    orders = ["<", "<=", ">", ">="] if name in ORDERED else []
    op = draw(st.sampled_from(["=", "!=", "in", "not_in", "is_null", "is_not_null", *orders]))
    if op in ("is_null", "is_not_null"):
        return {"column": name, "op": op}
    value = st.sampled_from(VALUES[name])
    several = st.lists(value, min_size=1, max_size=3)
    return {"column": name, "op": op, "value": draw(several if "in" in op else value)}


def joined(inner: st.SearchStrategy[Entry]) -> st.SearchStrategy[Entry]:
    """Return conditions that are made of others."""
    parts = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.builds(lambda part: {"any": part}, parts),
        st.builds(lambda part: {"all": part}, parts),
        st.builds(lambda part: {"not": part}, inner),
    )


DECLARED = tuple(name for name in VALUES if name not in DERIVED)
entries = st.recursive(comparisons(), joined, max_leaves=6)
of_declared = st.recursive(comparisons(DECLARED), joined, max_leaves=3)
wheres = st.lists(entries, max_size=3)


@st.composite
def deriveds(draw: st.DrawFn) -> dict[str, Any]:
    """Return expressions of all kinds; those of cases have conditions of their own."""
    visits, level = {"column": "visits"}, {"column": "level"}
    count = draw(st.sampled_from([1, 2]))
    bands: list[Any] = [{"when": draw(of_declared), "then": "low"}]
    bands += [{"when": draw(of_declared), "then": each} for each in ["high", {"column": "ward"}]]
    flags = [{"when": draw(of_declared), "then": draw(st.sampled_from([0, 1]))} for _ in "ab"]
    flag: dict[str, Any] = {"case": flags[:count]}
    return {
        "cut": visits,
        "total": {"add": [visits, level, 1]},
        "apart": {"subtract": [visits, level] if draw(st.booleans()) else [level, visits]},
        "flag": {**flag, "else": 0} if draw(st.booleans()) else flag,
        "text": {"column": "ward"},
        "band": {"case": bands[:count], "else": "high"},
    }


AGGREGATES = st.sampled_from(
    [
        *({"type": kind} for kind in ("count", "count_units")),
        *({"type": "sum", "column": name} for name in ("visits", "cut", "total")),
        *({"type": "sum", "column": "cut", **bounds} for bounds in ({"upper": 5}, {"lower": 1})),
        {"type": "mean", "column": "cut"},
        {"type": "quantiles", "column": "cut", "bins": 3},
        {"type": "moments", "columns": ["cut", "level"]},
        {"type": "uncategorized", "column": "text"},
    ]
)
GROUPS = st.sampled_from(
    [
        *([], ["ward"], ["text"], ["urgent"], ["level"], ["flag"]),
        *([{"column": name, "bins": [0, 2, 3]}] for name in ("visits", "cut", "total")),
        [{"column": "cut", "bins": [1, 2]}],
    ]
)
ROWS = st.lists(
    st.tuples(*(st.sampled_from(cells) for _, cells in CELLS.values())), min_size=4, max_size=40
)


def plan_of(where: list[Entry], derived: Mapping[str, Any], **parts: Any) -> Plan:
    """Return the plan of a question about rows, of which each is a person."""
    used = {**parts, "contribution": {"max_groups": 1, "max_rows_per_group": 1}}
    return interpret(DATASET, query_of(where=where, derived=dict(derived), **used))


def hash_of(where: list[Entry], derived: Mapping[str, Any], **parts: Any) -> str | None:
    """Return the hash under which a question is registered."""
    used = {**parts, "contribution": {"max_groups": 1, "max_rows_per_group": 1}}
    query = query_of(where=where, derived=dict(derived), **used)
    return prepare(DATASET, query, version=1, mechanism="gaussian").canonical_hash


def executable(plan: Plan) -> Plan:
    """Return a plan with a comparison in place of what never holds, which no engine is told."""
    if plan.filters != (FALSE,):
        return plan
    person = plan.unit
    assert person is not None
    return replace(plan, filters=(Filter(person, "is_null", ()),))


def answers(folder: Folder, plan: Plan) -> list[int]:
    """Return the exact answer of a plan by DuckDB."""
    sources = Sources(folder.path, threads=1)
    found = answer(
        DATASET,
        connector_of(DATASET, sources).statement(plan),
        salt=SALT,
        fingerprint_key=KEY,
        fingerprint=fingerprint(DATASET, KEY, sources),
        sources=sources,
    )
    return [int(step) for step in found.steps]


def written(folder: Folder, cells: list[tuple[Any, ...]]) -> None:
    """Write rows of different people."""
    columns: dict[str, Any] = {"person": pa.array([f"p{place}" for place in range(len(cells))])}
    for place, (name, (kind, _)) in enumerate(CELLS.items()):
        columns[name] = pa.array([row[place] for row in cells], kind)
    folder.parquet(columns)


COMPARED = {"column": "cost", "op": ">", "value": 0}
VISITS, LEVEL = {"column": "visits"}, {"column": "level"}
PLAIN = {"cut": VISITS}
SUMS = {**PLAIN, "total": {"add": [VISITS, LEVEL]}, "apart": {"multiply": [VISITS, LEVEL]}}
EVERY: list[tuple[Any, ...]] = [
    tuple(cells[place % len(cells)] for _, cells in CELLS.values()) for place in range(40)
]


@settings(max_examples=by_count(60, 3000), deadline=None)
@given(cells=ROWS, where=wheres, derived=deriveds(), aggregate=AGGREGATES, groups=GROUPS)
@example(EVERY, [COMPARED], PLAIN, {"type": "count"}, [])
@example(EVERY, [{"not": COMPARED}], PLAIN, {"type": "count"}, [])
@example(EVERY, [{"column": "urgent", "op": "!=", "value": True}], PLAIN, {"type": "count"}, [])
@example(EVERY, [], PLAIN, {"type": "sum", "column": "cut", "upper": 5}, [])
@example(EVERY, [], PLAIN, {"type": "count"}, [{"column": "cut", "bins": [0, 2, 3]}])
@example(
    EVERY,
    [{"column": name, "op": "is_not_null"} for name in ("total", "apart", "visits")],
    SUMS,
    {"type": "count"},
    [],
)
def test_the_simplest_form_selects_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory,
    cells: list[tuple[Any, ...]],
    where: list[Entry],
    derived: dict[str, Any],
    aggregate: dict[str, Any],
    groups: list[Any],
) -> None:
    folder = Folder(Path(tmp_path_factory.mktemp("files")))
    written(folder, cells)
    plan = plan_of(where, derived, aggregate=aggregate, group_by=groups)
    simplest = simplest_plan(plan)
    assert answers(folder, executable(simplest)) == answers(folder, plan)
    assert simplest_plan(simplest) == simplest


@st.composite
def reworded(draw: st.DrawFn, entry: Entry) -> Entry:
    """Return a condition in other words."""
    for name in ("any", "all"):
        if name in entry:
            parts = [draw(reworded(part)) for part in entry[name]]
            parts = draw(st.permutations([*parts, *parts[: draw(st.integers(0, 1))]]))
            other = "all" if name == "any" else "any"
            if draw(st.booleans()):
                return {"not": {other: [{"not": part} for part in parts]}}
            return {name: parts}
    if "not" in entry:
        return {"not": draw(reworded(entry["not"]))}
    ways = _ways(entry)
    return draw(st.sampled_from(ways))(entry)


def _ways(entry: Entry) -> list[Callable[[Entry], Entry]]:
    """Return functions that say a comparison otherwise."""
    name, op = entry["column"], entry["op"]
    value: Any = entry.get("value")

    def of(op: str, value: Any = None, column: str = name) -> Entry:
        rest = {} if value is None else {"value": value}
        return {"column": column, "op": op, **rest}

    opposites = {"=": "!=", "in": "not_in", "<": ">=", "<=": ">", "is_null": "is_not_null"}
    opposites |= {right: left for left, right in opposites.items()}
    ways: list[Callable[[Entry], Entry]] = [
        lambda entry: entry,
        lambda entry: {"all": [{"any": [entry]}, entry]},
        lambda entry: {"not": {"not": entry}},
        lambda entry: {"not": {**entry, "op": opposites[entry["op"]]}},
    ]
    if op == "in":
        ways.append(lambda _: {"any": [of("=", each) for each in value]})
    if op == "not_in":
        ways.append(lambda _: {"all": [of("!=", each) for each in value]})
    if op == "=" and name in ORDERED:
        ways.append(lambda _: {"all": [of(">=", value), of("<=", value)]})
    if op == "!=" and name in ORDERED:
        ways.append(lambda _: {"any": [of("<", value), of(">", value)]})
    if op in ("=", "!=") and TYPES[name] == "boolean":
        turned = "=" if op == "!=" else "!="
        ways.append(lambda _: of(turned, not value))
    if name in INTEGERS and name != "level":
        steps = {">": (">=", 1), ">=": (">", -1), "<": ("<=", -1), "<=": ("<", 1)}
        if op in steps:
            turned, step = steps[op]
            ways.append(lambda _: of(turned, value + step))
    if name == "text":
        ways.append(lambda _: of(op, value, "ward"))
    if op == "is_not_null" and name in ("insured", "level"):
        ways.append(lambda entry: {"any": [entry, of("is_null"), of("=", VALUES[name][0])]})
    return ways


@settings(max_examples=by_count(100, 5000), deadline=None)
@given(data=st.data(), where=wheres, derived=deriveds(), aggregate=AGGREGATES, groups=GROUPS)
def test_the_same_in_other_words_has_the_same_hash(
    data: st.DataObject,
    where: list[Entry],
    derived: dict[str, Any],
    aggregate: dict[str, Any],
    groups: list[Any],
) -> None:
    parts = {"aggregate": aggregate, "group_by": groups}
    others = data.draw(st.permutations([data.draw(reworded(entry)) for entry in where]))
    words = {
        name: {
            **expression,
            "case": [
                {**each, "when": data.draw(reworded(each["when"]))} for each in expression["case"]
            ],
        }
        if "case" in expression
        else expression
        for name, expression in derived.items()
    }
    assert hash_of(others, words, **parts) == hash_of(where, derived, **parts)
