"""Test what stands around a statement: sources in their types, and tables of keys."""

import duckdb
import pytest
from tests.unit.connectors.cases import dataset_of, query_of
from tests.unit.connectors.warehouses.on_duckdb import OnDuckDB

from penstock.connectors.planning.interpret import interpret
from penstock.connectors.statements.template import statement
from penstock.connectors.warehouses.bigquery import BigQuery
from penstock.connectors.warehouses.session import Engine
from penstock.connectors.warehouses.snowflake import Snowflake
from penstock.connectors.warehouses.surroundings import (
    WIDE,
    probe_source,
    qualified,
    quoted,
    surrounded,
    typed_source,
)
from penstock.connectors.warehouses.trino import Trino

ENGINES: tuple[Engine, ...] = (Trino(), BigQuery(), Snowflake())


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_keys_and_bins_stand_in_front_of_a_statement(engine: Engine) -> None:
    bins = {"column": "age", "bins": [0, 18, 65]}
    asked = statement(interpret(dataset_of(), query_of(group_by=["ward", bins])), engine.dialect)
    text = surrounded(asked, "SELECT 1", engine.dialect)
    assert text.startswith(f"WITH {quoted('source', engine.dialect)} AS (")
    assert text.count("65.00000000000001") == 1  # the last bin holds its upper edge
    assert asked.text in text


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_the_probe_has_numbers_that_are_not_finite(engine: Engine) -> None:
    rows = OnDuckDB(engine.dialect, duckdb.connect()).rows(probe_source(engine.dialect), {})
    assert {str(cell) for cell in rows["cost"]} >= {"nan", "inf", "-99.0", "None"}
    assert len(rows["person"]) == 12


def test_whole_numbers_of_38_digits_are_cells_if_they_have_64_bits() -> None:
    plan = interpret(dataset_of(), query_of({"type": "sum", "column": "age", "step": 1}))
    types = {"age": WIDE, "person": "TEXT"}
    dialect = Snowflake().dialect
    source = typed_source(plan, qualified(("main", "visits"), dialect), types, dialect)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE visits (person VARCHAR, age DECIMAL(38, 0))")
    connection.execute(
        "INSERT INTO visits VALUES ('a', 7), ('b', 9223372036854775807),"
        " ('c', 9223372036854775808), ('d', -9223372036854775808)"
    )
    rows = OnDuckDB(dialect, connection).rows(source, {})
    assert rows["age"] == [7, 2**63 - 1, None, -(2**63)]


def test_a_text_that_is_not_utf_8_is_no_cell_of_trino() -> None:
    """Trino's own ``translate`` would fail at it, and so reveal that it is there."""
    plan = interpret(dataset_of(), query_of({"type": "count_units"}))
    dialect = Trino().dialect
    source = typed_source(
        plan, qualified(("main", "visits"), dialect), {"person": "VARCHAR"}, dialect
    )
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE visits AS SELECT unnest(['a', 'not UTF-8', chr(65533), NULL]) AS person"
    )
    assert OnDuckDB(dialect, connection).rows(source, {})["person"] == ["a", None, "\ufffd", None]


def test_a_quote_in_a_name_ends_no_name() -> None:
    assert quoted('a"b', Trino().dialect) == '"a""b"'
    assert quoted("a`b", BigQuery().dialect) in {"`a``b`", "`a\\`b`"}
