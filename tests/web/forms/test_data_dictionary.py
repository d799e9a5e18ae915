"""Test data dictionaries that are pasted: every format, and all mistakes at once."""

import json
from typing import Any

import pytest

from penstock.errors import InvalidInput
from penstock.web.forms import data_dictionary

HOURS = {"type": "number", "lower": "0", "upper": "10", "step": "0.5"}
TEAM = {"type": "string", "categories": "red\nblue"}
SHIFT = {"type": "boolean", "missing": "false"}
EXPECTED = {"hours": HOURS, "team": TEAM, "shift": SHIFT}

CSV = """\ufeffColumn,Data type,Minimum,Maximum,Step,Values,Missing value,Comment
hours,float,0,10,0.5,,,"as paid, not as worked"
team,varchar(20),,,,red|blue,,
shift,logical,,,,,false,
"""
API: dict[str, dict[str, Any]] = {
    "hours": {"type": "number", "lower": 0, "upper": 10, "step": 0.5},
    "team": {"type": "string", "categories": ["red", "blue"]},
    "shift": {"type": "boolean", "missing": False},
}
LIMITS = {"minimum": 0, "maximum": 10}
SCHEMA = {
    "fields": [
        {"name": "hours", "type": "number", "constraints": LIMITS, "step": 0.5},
        {"name": "team", "type": "string", "constraints": {"enum": ["red", "blue"]}},
        {"name": "shift", "type": "boolean", "missing": False, "title": "Night shift"},
    ]
}  # fmt: skip
YAML = """
hours: {type: float, lower: 0, upper: 10, step: 0.5}
team:
  type: string
  categories:
    red: the red team
    blue: the blue team
shift: {type: boolean, missing: no}
"""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(CSV, id="csv"),
        pytest.param(CSV.replace(",,,red|blue", ",,,red;blue"), id="csv with semicolons in a cell"),
        pytest.param(CSV.replace("as paid, not", "as paid not").replace(",", ";"), id="semicolons"),
        pytest.param(CSV.replace("as paid, not", "as paid not").replace(",", "\t"), id="tabs"),
        pytest.param(CSV.replace("\n", "\r\n"), id="carriage returns"),
        pytest.param(json.dumps(API), id="columns of the api"),
        pytest.param(json.dumps({"columns": API}), id="a dataset of the api"),
        pytest.param(json.dumps([{"name": name, **part} for name, part in API.items()]), id="list"),
        pytest.param(json.dumps(SCHEMA, indent="\t"), id="table schema"),
        pytest.param(YAML, id="yaml"),
    ],
)
def test_columns_of_every_format_are_read_alike(text: str) -> None:
    assert data_dictionary.columns_of(text) == EXPECTED


def test_metadata_of_smart_noise_are_read() -> None:
    nested = """
"":
  public:
    staff:
      row_privacy: false
      hours: {type: float, lower: 0, upper: 10}
      person: {type: string, private_id: true}
"""
    columns = data_dictionary.columns_of(nested)
    assert columns["hours"] == {"type": "number", "lower": "0", "upper": "10"}
    assert columns["person"] == {"type": "string"}


def test_a_name_with_its_type_alone_is_enough() -> None:
    assert data_dictionary.columns_of("born: date\nage: int") == {
        "born": {"type": "date"},
        "age": {"type": "integer"},
    }


def test_fields_are_filled_by_the_name_of_their_column() -> None:
    given = {"column 0": "team", "column 1": "hours", "upper 1": "99", "type 0": "integer",
             "column 2": "person", "type 2": "string", "epsilon public": "1"}  # fmt: skip
    filled, left = data_dictionary.filled({**given, "dictionary": CSV}, 3)
    assert filled["type 0"] == "string"
    assert filled["categories 0"] == "red\nblue"
    assert filled["upper 1"] == "10"
    assert filled["type 2"] == "string"
    assert filled["epsilon public"] == "1"
    assert left == ["shift"]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "Paste the data dictionary first"),
        ("  \n", "Paste the data dictionary first"),
        ("{", "not JSON: line 1, column 2"),
        ("a: b: c", "not YAML: line 1, column 5"),
        ("[" * 5000, "nests too deep"),
        ("a: " + "[" * 5000, "nests too deep"),
        ('{"a": ' + "9" * 5000 + "}", "nests too deep or has a value"),
        ("just words", "lists no columns"),
        ("[1, 2]", "lists no columns"),
        ("[]", "No column is listed"),
        ("name,type\n", "No column is listed"),
        ('name,type\n"hours,float\n', "is not CSV"),
        ("name,type\na,int\na,int\n", "Column 'a' is listed twice"),
        ("name,type\n,int\n", "has no name"),
        ("name,type\na,geopoint\n", "type that is not known here"),
        ('{"a": {"type": "int", "lower": [1]}}', "no single value for lower"),
        ('{"a": {"type": "string", "categories": ["x", ["y"]]}}', "category that is empty or"),
        ('{"a": {"type": "string", "categories": ["x\\ny"]}}', "category that is empty or"),
        ("a: &x [1]\nb: {type: string, categories: [*x, *x]}", "category that is empty or"),
    ],
)
def test_what_cannot_be_read_is_refused_at_its_field(text: str, part: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        data_dictionary.columns_of(text)
    assert {pointer for pointer, _ in refused.value.errors} == {data_dictionary.POINTER}
    assert part in " ".join(sentence for _, sentence in refused.value.errors)


def test_all_mistakes_are_named_at_once() -> None:
    with pytest.raises(InvalidInput) as refused:
        data_dictionary.columns_of("name,type\na,geopoint\nb,time\n,int\nb,int\n")
    assert len(refused.value.errors) == 4


def test_a_template_reads_as_a_dictionary_that_changes_nothing() -> None:
    columns = {"plain": "string", 'with, "marks"': "integer", "last": "date"}
    text = data_dictionary.template_of(columns, 2)
    assert text.splitlines()[0] == "name,type,lower,upper,step,categories,missing"
    read = data_dictionary.columns_of(text)
    assert {name: entry["type"] for name, entry in read.items()} == {
        "plain": "string",
        'with, "marks"': "integer",
    }
    assert all(set(entry.values()) <= {entry["type"], ""} for entry in read.values())


def test_every_heading_of_a_template_is_known() -> None:
    assert set(data_dictionary.HEADINGS) == set(data_dictionary.PARTS.values())
