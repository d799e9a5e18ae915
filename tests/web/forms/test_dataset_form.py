"""Test datasets declared by form: pushed vectors, and files whose fields carry column numbers."""

from penstock.web.forms.dataset_form import spec_of

TIERS = ("public", "internal")
FORM = {
    "name": " people ",
    "neighboring": "add_remove",
    "delta": "1e-6",
    "uri": "/data/a.csv",
    "column 0": "who",
    "type 0": "string",
    "column 1": "age",
    "type 1": "integer",
    "lower 1": "0",
    "upper 1": "120",
    "column 2": "town",
    "type 2": "string",
    "categories 2": "north\n south \n\n",
    "missing 2": "unknown",
    "column 3": "left out",
    "unit": "column",
    "unit column": "who",
    "epsilon internal": "2.5",
    "max_units": "1000",
}


def test_a_file_has_its_columns_unit_and_budgets() -> None:
    assert spec_of(FORM, TIERS) == {
        "name": "people",
        "source": {"engine": "duckdb", "uri": "/data/a.csv"},
        "neighboring": "add_remove",
        "delta": 1e-6,
        "columns": {
            "who": {"type": "string"},
            "age": {"type": "integer", "lower": 0, "upper": 120},
            "town": {"type": "string", "categories": ["north", "south"], "missing": "unknown"},
        },
        "budgets": {"internal": {"epsilon": 2.5}},
        "privacy_unit": {"column": "who"},
        "max_units": 1000,
    }


def test_vectors_that_are_pushed_have_neither_columns_nor_a_unit() -> None:
    spec = spec_of({**FORM, "uri": " "}, TIERS)
    assert spec["source"] == {"engine": "vector"}
    assert spec["columns"] == {}
    assert "privacy_unit" not in spec


def test_the_file_of_a_page_is_taken_before_one_that_is_typed() -> None:
    assert spec_of(FORM, TIERS, "/data/b.csv")["source"]["uri"] == "/data/b.csv"


def test_units_are_rows_or_events_as_well() -> None:
    assert spec_of({**FORM, "unit": "rows"}, TIERS)["privacy_unit"] == {"rows": 1}
    assert spec_of({**FORM, "unit": "event"}, TIERS)["privacy_unit"] == "event"


def test_same_people_and_accountant_are_there_where_they_were_given() -> None:
    spec = spec_of({**FORM, "same_people_as": " others ", "accountant": "gaussian"}, TIERS)
    assert (spec["same_people_as"], spec["accountant"]) == ("others", "gaussian")
    assert {"same_people_as", "accountant"}.isdisjoint(spec_of(FORM, TIERS))
