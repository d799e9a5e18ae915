"""Test that names and values that would like to be SQL stay names and values."""

import pytest
from tests.unit.connectors.cases import Folder, dataset_of, query_of

from penstock.connectors.duckdb.source import identifier, literal
from penstock.connectors.planning.prepare import check_source
from penstock.connectors.sources import Sources

HOSTILE = [
    'x"; DROP TABLE keys_0; --',
    "x'; DROP TABLE keys_0; --",
    "' OR '1'='1",
    '" OR ""="',
    "$salt",
    "$1 ? :x {0} {key} %s",
    "\\'; SELECT 1; --",
    "/* */ -- ;",
    "typed.unit",
    "unit",
    "key",
    "c0",
    "source",
    "ＳＥＬＥＣＴ ‘’“”",
    "🤦🏼",
    " ",
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_column_name_is_only_a_name(folder: Folder, hostile: str) -> None:
    folder.names = ["person", hostile, "unit key"]
    folder.csv([("ann", 3, 1), ("ben", 5, 2), ("ben", 8, 3)])
    columns = {
        "person": {"type": "string"},
        hostile: {"type": "integer", "lower": 0, "upper": 10, "categories": [3, 5]},
    }
    dataset = dataset_of(columns=columns)
    check_source(dataset, Sources(folder.path))
    total = query_of({"type": "sum", "column": hostile})
    assert folder.ask(dataset, total).tolist() == [16]
    grouped = query_of(
        group_by=[{"column": hostile}], where=[{"column": hostile, "op": ">", "value": 3}]
    )
    assert folder.ask(dataset, grouped).tolist() == [0, 1]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_unit_column_is_only_a_name(folder: Folder, hostile: str) -> None:
    folder.names = [hostile]
    folder.csv([("ann",), ("ben",), ("ann",)])
    dataset = dataset_of(columns={hostile: {"type": "string"}}, unit={"column": hostile})
    assert folder.ask(dataset, query_of({"type": "count_units"})).tolist() == [2]


@pytest.mark.slow
@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_category_or_value_is_only_a_text(folder: Folder, hostile: str) -> None:
    folder.csv([("ann", hostile, "", "", "", ""), ("ben", "b", "", "", "", "")])
    columns = {
        "person": {"type": "string"},
        "ward": {"type": "string", "categories": [hostile, "b"], "missing": hostile},
    }
    dataset = dataset_of(columns=columns)
    assert folder.ask(dataset, query_of(group_by=[{"column": "ward"}])).tolist() == [1, 1]
    for op, expected in (("=", 1), ("!=", 1)):
        query = query_of(where=[{"column": "ward", "op": op, "value": hostile}])
        assert folder.ask(dataset, query).tolist() == [expected]


def test_hostile_people_are_only_people(folder: Folder) -> None:
    folder.csv([(hostile, "a", 1, 1, "", "") for hostile in HOSTILE if hostile.strip()])
    query = query_of({"type": "count_units"}, group_by=[{"column": "ward"}])
    assert folder.ask(dataset_of(), query)[0] == len(HOSTILE) - 1


def test_a_hostile_file_name_is_only_a_name(folder: Folder) -> None:
    name = "x' ; DROP TABLE y; -- \".csv"
    folder.csv([("ann", "a", 1, 1, "", "")], name)
    assert folder.ask(dataset_of(name), query_of()).tolist() == [1]


def test_a_folder_that_looks_like_a_partition_adds_no_column(folder: Folder) -> None:
    nested = Folder(folder.path / "ward=z")
    nested.path.mkdir()
    nested.csv([("ann", "a", 1, 1, "", "")])
    nested.parquet({"person": ["ann"], "ward": ["a"]})
    query = query_of(group_by=[{"column": "ward"}])
    columns = {name: dataset_of().columns[name].model_dump() for name in ("person", "ward")}
    assert nested.ask(dataset_of(), query).tolist() == [1, 0, 0]
    parquet = dataset_of("visits.parquet", columns=columns)
    assert nested.ask(parquet, query).tolist() == [1, 0, 0]


def test_quoting_doubles_the_mark_and_nothing_else() -> None:
    assert identifier('a"b\\') == '"a""b\\"'
    assert literal("a'b\\") == "'a''b\\'"
