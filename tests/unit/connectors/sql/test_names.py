"""Test how columns are named, and which constants they are compared with."""

import pytest
from tests.unit.connectors.cases import VISITS, dataset_of
from tests.unit.connectors.sql.statements import fields_of, refusal_of, where_of

COLUMNS = {
    **VISITS,
    "Size": {"type": "integer", "lower": 0, "upper": 9},
    "two words": {"type": "integer"},
    "left": {"type": "integer", "missing": 5},
    "lost": {"type": "boolean", "missing": False},
}
DATASET = dataset_of(columns=COLUMNS)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        *(("age", "age"), ("AGE", "age"), ('"age"', "age"), ("visits.age", "age")),
        *(("size", "Size"), ('"Size"', "Size"), ('"two words"', "two words"), ("(age)", "age")),
        ("COALESCE(left, 5)", "left"),
        ('COALESCE("left", 5)', "left"),
    ],
)
def test_a_column_is_named_in_any_case_unless_it_is_quoted(written: str, name: str) -> None:
    assert where_of(f"{written} > 1", DATASET) == [{"column": name, "op": ">", "value": 1}]


@pytest.mark.parametrize("written", ['"AGE"', '"size"', "ages", "visit.age"])
def test_other_names_are_refused(written: str) -> None:
    refusal = refusal_of(f"SELECT COUNT(*) FROM visits WHERE {written} > 1", DATASET)
    assert "declares no column" in refusal or "no dataset of this name" in refusal


def test_an_alias_of_the_dataset_takes_the_place_of_its_name() -> None:
    text = "SELECT COUNT(*) FROM visits AS v WHERE {}.age > 1"
    assert "no dataset of this name" in refusal_of(text.format("visits"), DATASET)
    assert fields_of(text.format("V"), DATASET)["where"]
    quoted = text.replace(" v ", ' "v" ')
    assert "no dataset of this name" in refusal_of(quoted.format('"V"'), DATASET)


@pytest.mark.parametrize("written", ["left", "COALESCE(left, 6)", "COALESCE(left, 5, 6)"])
def test_what_stands_in_for_missing_cells_is_written(written: str) -> None:
    refusal = refusal_of(f"SELECT COUNT(*) FROM visits WHERE {written} > 1", DATASET)
    assert "5 stands in for the column's missing cells" in refusal


def test_another_constant_for_missing_cells_makes_a_derived_column() -> None:
    fields = fields_of("SELECT COUNT(*) FROM visits WHERE COALESCE(age, 0) > 1", DATASET)
    there = {"when": {"column": "age", "op": "is_not_null"}, "then": {"column": "age"}}
    assert fields["derived"] == {"derived_1": {"case": [there], "else": 0}}
    assert fields["where"] == [{"column": "derived_1", "op": ">", "value": 1}]


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        *(("age = 3", 3), ("age = -3", -3), ("age = 3.0", 3.0), ("age = 1e1", 10.0)),
        *(("cost = 0.25", 0.25), ("cost = -.5", -0.5), ("cost = 2", 2), ("person = '3'", "3")),
        *(("person = 'it''s'", "it's"), ("urgent = FALSE", False)),
        *(("day = '2026-01-01'", "2026-01-01"), ("day = DATE '2026-01-01'", "2026-01-01")),
        ("day = CAST('2026-01-01' AS DATE)", "2026-01-01"),
    ],
)
def test_constants_are_read_by_the_type_of_their_column(condition: str, value: object) -> None:
    ((entry),) = where_of(condition)
    assert (entry["value"], type(entry["value"])) == (value, type(value))


@pytest.mark.parametrize(
    "condition",
    [
        *(
            "age = '3.5'",
            "age = '1_0'",
            "age = 2.5",
            "age = TRUE",
            "cost = 'x'",
            "person = 3",
            "urgent = 1",
        ),
        *("day = '2026-02-30'", "day = 20260101", "day = CAST('a' AS DATE)", "cost = 1e999"),
        *("age = 99999999999999999999999999999999999999999999", "age = 9223372036854775808"),
        *("day = CAST('2026-01-01' AS TIMESTAMP)", "age = -'3'", "person = 'a' 'b'"),
    ],
)
def test_constants_of_another_type_are_refused(condition: str) -> None:
    assert "column" in refusal_of(f"SELECT COUNT(*) FROM visits WHERE {condition}")
