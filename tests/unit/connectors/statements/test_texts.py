"""Test that a kept text is the one that would be written, whatever was written before."""

from dataclasses import fields, replace
from typing import Any

from tests.property.typed_rows import COLUMNS, EVERY, UNITS, meaningful
from tests.unit.connectors.cases import dataset_of, query_of

from penstock.connectors.duckdb.dialect import DuckDB
from penstock.connectors.formulas.formula import Column, Filter
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.plan import Grouping, Plan
from penstock.connectors.postgresql.dialect import PostgreSQL
from penstock.connectors.statements import template
from penstock.connectors.statements.texts import Texts, Written, shape_of

PAIRS: dict[str, Any] = {
    "aggregate": {"type": "count"},
    "group_by": ["day", "ward"],
    "contribution": {"max_groups": 1, "max_rows_per_group": 2},
}
"""Keys whose places depend on how many categories there are."""


def _plans() -> list[Plan]:
    """Return plans of all kinds; of each, some that differ in what its text may not have or has."""
    wards = ["a", "b", "zo\u00eb", "A"]
    variants: list[dict[str, Any]] = [
        {},
        {"ward": {**COLUMNS["ward"], "categories": ["x", "b", "y", "z"]}},
        {"ward": {**COLUMNS["ward"], "categories": [*wards, "more"]}},
        {"ward": {**COLUMNS["ward"], "missing": "a"}},
        {"age": {**COLUMNS["age"], "missing": 0}},
    ]
    plans = []
    for variant in variants:
        for unit in UNITS:
            dataset = dataset_of(columns={**COLUMNS, **variant}, unit=unit, max_units=1000)
            queries = meaningful(dataset, [*EVERY, PAIRS])
            plans += [interpret(dataset, query) for query in queries]
    return plans


def test_a_kept_text_is_the_one_that_is_written_anew() -> None:
    plans = _plans()
    for dialect in (DuckDB(), PostgreSQL()):
        texts: dict[Any, str] = {}
        for plan in plans:
            shape = shape_of(plan, dialect.name)
            text = template._written(plan, dialect).text
            assert texts.setdefault(shape, text) == text
            assert template.statement(plan, dialect).text == text
        # Other categories, as many of them, are the same text.
        assert len(texts) < len(plans)


def test_equal_values_with_other_texts_are_apart() -> None:
    query = query_of(where=[{"column": "cost", "op": "=", "value": 0.0}])
    plan = interpret(dataset_of(), query)
    (only,) = plan.filters
    assert isinstance(only, Filter)
    shapes = {
        shape_of(replace(plan, filters=(replace(only, values=(value,)),)), "duckdb")
        for value in (0.0, -0.0, 0, False)
    }
    assert len(shapes) == 4
    assert shape_of(plan, "duckdb") != shape_of(plan, "postgres")


def test_every_field_of_a_plan_is_in_its_shape() -> None:
    plan = interpret(dataset_of(), query_of({"type": "sum", "column": "cost"}, group_by=["ward"]))
    other: dict[str, Any] = {
        "unit": None,
        "filters": ("other",),
        "groupings": (),
        "measure": "other",
        "summand": None,
        "max_groups": 17,
        "max_rows": 17,
        "max_units": 17,
        "open_keys": "other",
        "flags": ("other",),
        "nodes": "other",
        "factors": ("other",),
        "order": 1,
        "weights": (1, 2),
        "bins": Grouping(Column("cost", "number", None), edges=(0.0, 1.0, 2.0)),
        "marginals": "other",
        "workload": "other",
    }
    assert {field.name for field in fields(Plan)} == set(other)
    for name, value in other.items():
        changed = replace(plan, **{name: value})
        assert shape_of(changed, "duckdb") != shape_of(plan, "duckdb"), name


def test_the_latest_texts_are_kept() -> None:
    texts, asked = Texts(2), list[str]()

    def written(name: str) -> Written:
        def write() -> Written:
            asked.append(name)
            return Written(name, "", ())

        return texts.of((name, ""), write)

    for name in ("a", "b", "a", "c", "a", "b"):
        assert written(name).text == name
    assert asked == ["a", "b", "c", "b"]
