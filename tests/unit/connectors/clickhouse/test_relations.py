"""Test which values the cells of each type are, and that names and values stay what they are."""

from decimal import Decimal

import pyarrow as pa
import pytest
from tests.databases.clickhouse import Tables
from tests.unit.connectors.cases import KEY, SALT, dataset_of, query_of, stated

from penstock.connectors.clickhouse import conformance
from penstock.connectors.clickhouse.reading import reading
from penstock.connectors.clickhouse.relations import source_of
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.prepare import answer, fingerprint
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec

HOSTILE = (
    *('x"; DROP TABLE data.odd; --', "x'; DROP TABLE data.odd; --", "' OR '1'='1", "\\", "\\'"),
    *("{salt:String}", "?x", "%s", "/* */ -- ;", "typed.unit", "key", "c0", "c1", "unit"),
    *("source", "salt", "value", "part", "`", "\uff33\u2018\u201c", " "),
)


@pytest.fixture(autouse=True)
def passed(monkeypatch: pytest.MonkeyPatch, folder: Tables) -> None:
    """Take the questions as answered, which test_conformance asks."""
    with reading(folder.address) as session:
        monkeypatch.setattr(conformance, "PASSED", {(folder.address, session.version)})


def _asked(tables: Tables, dataset: DatasetSpec, query: ComputedQuery) -> list[int]:
    numbers = answer(
        dataset,
        stated(dataset, query),
        salt=SALT,
        fingerprint_key=KEY,
        fingerprint=fingerprint(dataset, KEY, tables.sources),
        sources=tables.sources,
    ).steps
    return [int(number) for number in numbers]


def test_a_decimal_is_its_nearest_double(folder: Tables) -> None:
    cells = ["0.1", "123456789012345678.901234567", "-0.000000001", "9007199254740993"]
    rows = ", ".join(f"('{cell}')" for cell in cells)
    folder.run("DROP TABLE IF EXISTS data.exact")
    folder.run("CREATE TABLE data.exact (cost Decimal(38, 9)) ENGINE = Memory")
    folder.run(f"INSERT INTO data.exact VALUES {rows}")  # noqa: S608
    plan = interpret(dataset_of(), query_of({"type": "sum", "column": "cost"}))
    types = {"person": "String", "cost": "Decimal(38, 9)"}
    text = source_of(plan, "(SELECT 'a' AS person, cost FROM data.exact)", types)
    with reading(folder.address) as session:
        read = [row["cost"] for row in session.table(text, {}).to_pylist()]
    assert sorted(read) == sorted(float(Decimal(cell)) for cell in cells)


def test_texts_that_are_not_utf8_are_bad_cells(tables: Tables, visits: DatasetSpec) -> None:
    tables.run("ALTER TABLE data.visits UPDATE ward = unhex('61FF') WHERE 1")
    query = query_of({"type": "uncategorized", "column": "ward"}, group_by=["urgent"])
    # Nobody is in a category, and nothing is said of the bytes.
    assert len(_asked(tables, visits, query)) == 4
    assert _asked(tables, visits, query_of(group_by=["ward"])) == [0, 0, 0]
    ward = visits.columns["ward"].model_copy(update={"missing": "b"})
    missing = visits.model_copy(update={"columns": {**visits.columns, "ward": ward}})
    assert _asked(tables, missing, query_of(group_by=["ward"])) == [0, 4, 0]


def test_numbers_that_are_not_finite_are_no_value(tables: Tables, visits: DatasetSpec) -> None:
    costs = query_of({"type": "sum", "column": "cost"})
    assert _asked(tables, visits, costs) == [-1]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_name_is_only_a_name(folder: Tables, hostile: str) -> None:
    quoted = hostile.replace("\\", "\\\\").replace('"', '\\"')
    folder.run("DROP TABLE IF EXISTS data.odd")
    folder.run(f'CREATE TABLE data.odd ("{quoted}" Int64, "unit key" String) ENGINE = Memory')
    folder.run("INSERT INTO data.odd VALUES (3, 'ann'), (5, 'ben'), (8, 'ben')")
    columns = {
        "unit key": {"type": "string"},
        hostile: {"type": "integer", "lower": 0, "upper": 10, "categories": [3, 5]},
    }
    dataset = dataset_of(
        source=dict(folder.source_of("odd")), columns=columns, unit={"column": "unit key"}
    )
    assert _asked(folder, dataset, query_of({"type": "sum", "column": hostile})) == [16]
    grouped = query_of(
        group_by=[{"column": hostile}], where=[{"column": hostile, "op": ">", "value": 3}]
    )
    assert _asked(folder, dataset, grouped) == [0, 1]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_value_is_only_a_text(tables: Tables, visits: DatasetSpec, hostile: str) -> None:
    rows = {"person": pa.array(["ann", "ben"]), "ward": pa.array([hostile, "b"])}
    tables.fill("visits", pa.table(rows))
    columns = {
        "person": {"type": "string"},
        "ward": {"type": "string", "categories": [hostile, "b"]},
    }
    dataset = dataset_of(source=dict(tables.source_of("visits")), columns=columns)
    where = [{"column": "ward", "op": "=", "value": hostile}]
    assert _asked(tables, dataset, query_of(group_by=["ward"])) == [1, 1]
    assert _asked(tables, dataset, query_of(group_by=["ward"], where=where)) == [1, 0]
