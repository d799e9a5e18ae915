"""Test metadata of other systems: what is mapped, what is noted, and what is refused."""

from typing import Any

import pytest
import yaml

from penstock.connectors.specs.metadata import read_metadata
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.specs.schema import check_schema
from penstock.errors import InvalidInput

SMARTNOISE = """
engine: csv
Clinic:
  Wards:
    Visits:
      rows: 1000
      max_ids: 4
      sample_max_ids: True
      patient:
        type: int
        private_id: True
      '"Length-of-stay"':
        type: int
        lower: 0
        upper: 365
        missing_value: 0
      cost:
        type: float
        lower: 0.5
        upper: 99.5
        sensitivity: 3
      urgent:
        type: boolean
      admitted:
        type: datetime
        lower: 2020-01-01
      notes:
        type: unknown
"""

LOMAS = """
max_ids: 1
row_privacy: true
rows: 344
censor_dims: False
columns:
  species:
    type: string
    cardinality: 2
    categories: [Adelie, Gentoo]
    nullable: true
  flipper_length:
    type: float
    precision: 64
    lower: 150.0
    upper: 250
  year:
    type: int
    precision: 32
    cardinality: 2
    categories: [2_007, 2008]
    max_influenced_partitions: 1
"""


def read(text: str, table: str | None = None) -> dict[str, Any]:
    return read_metadata(yaml.safe_load(text), table).fields


def registered(text: str) -> DatasetSpec:
    spec = {
        "name": "it",
        "source": {"engine": "duckdb", "uri": "it.csv"},
        "neighboring": "add_remove",
        **read(text),
    }
    dataset = DatasetSpec.model_validate(spec)
    check_schema(dataset)
    return dataset


def test_a_table_of_smartnoise_becomes_a_dataset() -> None:
    dataset = registered(SMARTNOISE)
    assert dataset.model_dump(exclude_none=True)["columns"] == {
        "patient": {"type": "integer"},
        "Length-of-stay": {"type": "integer", "lower": 0, "upper": 365, "missing": 0},
        "cost": {"type": "number", "lower": 0.5, "upper": 99.5},
        "urgent": {"type": "boolean"},
        "admitted": {"type": "date"},
    }
    assert read(SMARTNOISE)["privacy_unit"] == {"column": "patient"}
    assert read_metadata(yaml.safe_load(SMARTNOISE)).table == "Visits"


def test_metadata_of_lomas_become_a_dataset() -> None:
    dataset = registered(LOMAS)
    assert dataset.model_dump(exclude_none=True)["columns"] == {
        "species": {"type": "string", "categories": ("Adelie", "Gentoo")},
        "flipper_length": {"type": "number", "lower": 150.0, "upper": 250},
        "year": {"type": "integer", "categories": (2007, 2008)},
    }
    assert read(LOMAS)["privacy_unit"] == {"rows": 1}


def test_what_is_left_out_is_said() -> None:
    notes = read_metadata(yaml.safe_load(SMARTNOISE)).notes
    for what in ("rows", "sample_max_ids", "sensitivity of column 'cost'", "Column 'notes'"):
        assert any(note.startswith(what) and "left out" in note for note in notes), what
    assert any("max_ids is 4" in note for note in notes)
    assert any("'cost' has no step" in note for note in notes)
    assert any("without the time of day" in note for note in notes)
    assert any("lower of column 'admitted'" in note for note in notes)
    assert any("max_groups" in note for note in read_metadata(yaml.safe_load(LOMAS)).notes)


def test_options_that_nobody_knows_are_noted_and_not_taken_for_columns() -> None:
    found = read_metadata(
        {"columns": {"a": {"type": "int", "odd": 1}}, "row_privacy": True, "x": 2}
    )
    assert found.notes == (
        "x is left out: it is not known here.",
        "odd of column 'a' is left out: it is not known here.",
    )


def test_a_private_id_protects_more_than_rows_do() -> None:
    columns = {"who": {"type": "string", "private_id": True}, "x": {"type": "int"}}
    found = read_metadata({"columns": columns, "row_privacy": True, "max_ids": 3})
    assert found.fields["privacy_unit"] == {"column": "who"}
    assert any("row_privacy is left out" in note for note in found.notes)


TWO = {
    "": {
        "S": {"A": {"row_privacy": True, "x": {"type": "int"}}},
        "T": {"A": {"row_privacy": True, "y": {"type": "int"}}, "B": {"z": {"type": "int"}}},
    }
}


def test_one_of_several_tables_is_chosen_by_name() -> None:
    assert list(read_metadata(TWO, "T.A").fields["columns"]) == ["y"]
    with pytest.raises(InvalidInput, match="3 tables"):
        read_metadata(TWO)
    with pytest.raises(InvalidInput, match="several tables"):
        read_metadata(TWO, "A")
    with pytest.raises(InvalidInput, match="no table"):
        read_metadata(TWO, "C")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (None, "must be a mapping"),
        ([1], "must be a mapping"),
        ({}, "No table"),
        ({"a": 1, "b": {"c": 2}}, "No table"),
        ({"": {"T": {"B": {"z": {"type": "int"}}}}}, "nothing says who is"),
        ({"columns": {"x": 1}, "row_privacy": True}, "must be a mapping with a type"),
        ({"columns": {"x": {}}, "row_privacy": True}, "no type that is known"),
        ({"columns": {"x": {"type": "money"}}, "row_privacy": True}, "no type that is known"),
        ({"columns": {"x": {"type": "int"}}, "row_privacy": "yes"}, "must be true or false"),
        ({"columns": {"x": {"type": "int", "private_id": 1}}}, "must be true or false"),
        ({"columns": {"x": {"type": "int"}}, "row_privacy": True, "max_ids": 2}, "contradict"),
        ({"columns": {"x": {"type": "int"}}, "row_privacy": True, "max_ids": 0}, "from 1"),
        ({"columns": {"x": {"type": "unknown", "private_id": True}}}, "no type"),
        (
            {"columns": {name: {"type": "int", "private_id": True} for name in "xy"}},
            "2 columns have private_id",
        ),
        (
            {"columns": {"x": {"type": "string", "categories": []}}, "row_privacy": True},
            "must be a list",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(document: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_metadata(document)


@pytest.mark.parametrize("category", ["NO", "01", "null", "2020-01-01"])
def test_texts_that_yaml_takes_for_something_else_are_refused(category: str) -> None:
    text = f"row_privacy: true\ncolumns: {{x: {{type: string, categories: [SE, {category}]}}}}"
    with pytest.raises(InvalidInput, match=r"category 2 of column 'x'.*quotation marks"):
        read(text)
    quoted = text.replace(category, f"'{category}'")
    assert read(quoted)["columns"]["x"]["categories"] == ["SE", category]
