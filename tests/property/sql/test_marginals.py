"""Test that several sets of groupings mean what plain DuckDB computes, and are written back."""

import datetime
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.sql.plain import ONE_ROW, plainly, table_of
from tests.property.sql.round_trips import require_round_trip
from tests.property.sql.texts import COLUMNS, DATASET, conditions, rows
from tests.support.thorough import by_count
from tests.unit.connectors.cases import Folder, query_of

from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.plan import Plan
from penstock.connectors.sql.grammar import parsed
from penstock.connectors.sql.reading import reading
from penstock.connectors.sql.writing.statement import written
from penstock.structures.marginals.tables import reconstructed

AGES = (
    "CASE WHEN age >= 0 AND age < 17.5 THEN '[0, 17.5)'"
    " WHEN age >= 17.5 AND age <= 50 THEN '[17.5, 50]' END"
)
KINDS = (
    ("Ward", "Ward IN ('A', 'a', 'b')"),
    ("urgent", "urgent IS NOT NULL"),
    ("COALESCE(insured, TRUE)", ""),
    ("day", "day IN ('2026-01-01', DATE '2026-01-02')"),
    (AGES, "age BETWEEN 0 AND 50"),
    ("WIDTH_BUCKET(cost, [-10, 0, 12])", "cost >= -10 AND cost < 12"),
    (
        "CASE WHEN age < 18 THEN 'young' WHEN urgent THEN 'urgent' END",
        "CASE WHEN age < 18 THEN 'young' WHEN urgent THEN 'urgent' END IS NOT NULL",
    ),
)
"""Groupings, each with the condition that a row is among its keys."""

Clause = tuple[list[tuple[str, str]], list[str], str]
Cells = dict[tuple[str | None, ...], int]


def _clauses(kinds: list[tuple[str, str]]) -> st.SearchStrategy[Clause]:
    """Return clauses over columns, by their numbers; all are in at least one set."""
    numbers = [str(place + 1) for place in range(len(kinds))]
    every = f"({', '.join(numbers)})"
    sets = st.lists(
        st.sets(st.sampled_from(numbers), min_size=1).map(sorted).map(", ".join).map("({})".format),
        unique=True,
        max_size=4,
    )
    ways = st.one_of(
        sets.map(lambda some: f"GROUPING SETS ({', '.join({every: 0} | dict.fromkeys(some))})"),
        st.sampled_from([f"CUBE {every}", f"ROLLUP {every}", f"GROUPING SETS ({every[1:-1]})"]),
        st.just(f"GROUPING SETS (ROLLUP {every}, ({numbers[-1]}))" if kinds[1:] else "CUBE (1)"),
    )
    conditions_of = [condition for _, condition in kinds if condition]
    return ways.map(lambda way: (kinds, conditions_of, way))


clauses = st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True).flatmap(_clauses)


def text_of(clause: Clause, own: str | None, *, within: bool) -> str:
    """Return a statement, with conditions that rows are among all keys or without."""
    kinds, keys, way = clause
    every = [f"({each})" for each in ([] if own is None else [own]) + (keys if within else [])]
    where = f" WHERE {' AND '.join(every)}" if every else ""
    selected = ", ".join(name for name, _ in kinds)
    return f"SELECT {selected}, COUNT(*) FROM visits{where} GROUP BY {way}"


def cells_of(plan: Plan, steps: list[int]) -> Cells:
    """Return the cells of all tables by key, which has None for columns that one does not have."""
    assert plan.marginals is not None
    tables = reconstructed(plan.marginals, np.array(steps, dtype=np.float64))
    labels = [each.labels for each in plan.groupings]
    return {
        key: round(float(value))
        for columns in plan.marginals.sets
        for key, value in zip(_keys(labels, columns), tables[columns].ravel(), strict=True)
    }


def _keys(
    labels: list[tuple[str, ...]], columns: tuple[int, ...]
) -> Iterator[tuple[str | None, ...]]:
    return product(*(each if place in columns else (None,) for place, each in enumerate(labels)))


def _label(plan: Plan, place: int, value: Any) -> str | None:
    if value is None:
        return None
    if plan.groupings[place].edges and isinstance(value, int):
        return plan.groupings[place].labels[value - 1]
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool) else str(value)


@settings(max_examples=by_count(80, 1500), deadline=None)
@given(cells=rows, clause=clauses, own=st.none() | conditions)
def test_marginals_are_what_plain_sql_counts(
    tmp_path_factory: pytest.TempPathFactory,
    cells: list[tuple[Any, ...]],
    clause: Clause,
    own: str | None,
) -> None:
    text = text_of(clause, own, within=True)
    table = table_of(cells)
    understood = reading(parsed(text), DATASET)
    assert all("The set () is no table" in note for note in understood.notes)
    query = query_of(**{**understood.fields, "contribution": ONE_ROW})
    plan = interpret(DATASET, query)
    folder = Folder(Path(tmp_path_factory.mktemp("files")))
    folder.parquet({name: table[name] for name in COLUMNS})
    computed = cells_of(plan, folder.ask(DATASET, query).tolist())
    shown = written(query, DATASET)
    texts = [text] if shown is None else [text, shown]
    order = [[each.column.name for each in plan.groupings].index(name) for name in _names(query)]
    assert order == sorted(order)
    for plain_text in texts:
        plain = {
            tuple(_label(plan, place, value) for place, value in enumerate(row[:-1])): row[-1]
            for row in plainly(table, plain_text)
        }
        plain.pop((None,) * len(plan.groupings), None)
        assert plain == {key: count for key, count in computed.items() if count}


def _names(query: Any) -> list[str]:
    return [each.column for each in query.aggregate.columns]


@settings(max_examples=by_count(80, 1500), deadline=None)
@given(clause=clauses, own=st.none() | conditions)
def test_conditions_on_the_keys_make_no_other_marginals(clause: Clause, own: str | None) -> None:
    without, within = (
        reading(parsed(text_of(clause, own, within=each)), DATASET) for each in (False, True)
    )
    assert within.fields == without.fields
    assert len(within.notes) <= len(without.notes)


@settings(max_examples=by_count(80, 1500), deadline=None)
@given(clause=clauses, own=st.none() | conditions)
def test_marginals_are_written_and_read_again(clause: Clause, own: str | None) -> None:
    query = query_of(**reading(parsed(text_of(clause, own, within=False)), DATASET).fields)
    assert require_round_trip(query, DATASET)
