"""Test what a whole statement says, and what is said of rows that it counts otherwise."""

import pytest
from tests.unit.connectors.cases import VISITS, dataset_of
from tests.unit.connectors.sql.statements import DATASET, refusal_of

from penstock.connectors.sql.grammar import parsed
from penstock.connectors.sql.reading import read, reading, table_of
from penstock.errors import InvalidInput


def notes_of(text: str) -> tuple[str, ...]:
    return reading(parsed(text), DATASET).notes


def test_a_statement_says_the_data_half_of_a_spec() -> None:
    text = "SELECT ward, AVG(cost) FROM Visits WHERE age >= 18 GROUP BY ward"
    assert read(text, DATASET) == {
        "dataset": "visits",
        "where": [{"column": "age", "op": ">=", "value": 18}],
        "group_by": [{"column": "ward"}],
        "aggregate": {"type": "mean", "column": "cost"},
    }
    assert table_of(parsed(text)) == "Visits"


ORDERED = "SELECT ward AS w, AVG(cost) AS m FROM visits GROUP BY ward ORDER BY "


@pytest.mark.parametrize(
    "keys", ["m DESC", "1", "ward", "w, AVG(cost) DESC NULLS LAST", "ALL", "visits.ward"]
)
def test_an_order_of_what_is_selected_changes_no_statistic(keys: str) -> None:
    assert read(ORDERED + keys, DATASET) == read(ORDERED.split(" ORDER")[0], DATASET)
    (note,) = notes_of(ORDERED + keys)
    assert "ORDER BY is no part of a statistic" in note


def test_an_order_of_one_row_needs_no_words() -> None:
    assert notes_of("SELECT COUNT(*) AS n FROM visits ORDER BY n DESC") == ()


@pytest.mark.parametrize("keys", ["COUNT(*)", "age", "w + 1", "3", "nobody"])
def test_an_order_of_what_is_not_answered_is_refused(keys: str) -> None:
    assert refusal_of(ORDERED + keys).startswith("Line 1, column 69: ")


def test_a_computed_column_is_missing_only_if_its_case_leaves_cells_out() -> None:
    case = "SELECT COUNT(*), SUM(CASE WHEN age > 3 THEN 2 WHEN age > 1 THEN 1{} END) FROM visits"
    assert notes_of(case.format(" ELSE 0")) == ()
    (note,) = notes_of(case.format(""))
    assert "derived_1, which is computed here, has a value" in note


def test_another_dataset_is_refused() -> None:
    assert "another dataset" in refusal_of("SELECT COUNT(*) FROM wards")


def test_a_dataset_of_vectors_has_no_statements() -> None:
    dataset = dataset_of(columns={}, source={"engine": "vector"}, privacy_unit=None)
    refusal = refusal_of("SELECT COUNT(*) FROM visits", dataset)
    assert "Line 1, column 22: The dataset visits holds pushed vectors only" in refusal


def test_a_refusal_of_the_spec_is_placed_in_the_text() -> None:
    columns = {**VISITS, "free": {"type": "integer"}}
    refusal = refusal_of(
        "SELECT\n  SUM(free)\nFROM visits GROUP BY ward", dataset_of(columns=columns)
    )
    assert refusal.startswith("Line 2, column 3: Bounds are needed for sum")


def test_a_refusal_of_what_no_statement_says_keeps_its_place() -> None:
    understood = reading(parsed("SELECT COUNT(*) FROM visits"), DATASET)
    refusal = understood.placed(InvalidInput("Too many.", pointer="/contribution/max_groups"))
    assert refusal.errors == (("/contribution/max_groups", "Too many."),)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits",
        "SELECT AVG(cost) FROM visits",
        "SELECT AVG(cost), VAR_POP(cost), COUNT(cost) FROM visits",
        "SELECT COVAR_POP(cost, age), CORR(age, cost) FROM visits",
        "SELECT COUNT(*), VAR_POP(cost) FROM visits WHERE cost IS NOT NULL",
        "SELECT COUNT(*), VAR_POP(cost) FROM visits WHERE cost > 3",
        "SELECT MEDIAN(age), QUANTILE_CONT(age, 0.1) FROM visits",
    ],
)
def test_what_counts_the_rows_that_sql_counts_has_no_notes(text: str) -> None:
    assert notes_of(text) == ()


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("SELECT COUNT(*), VAR_POP(cost) FROM visits", "cost"),
        ("SELECT COUNT(*), MEDIAN(cost) FROM visits", "cost"),
        ("SELECT AVG(age), VAR_POP(cost) FROM visits WHERE age > 3", "cost"),
        ("SELECT COUNT(*), VAR_POP(cost) FROM visits WHERE cost IS NULL OR cost > 3", "cost"),
    ],
)
def test_what_counts_fewer_rows_than_sql_says_so(text: str, column: str) -> None:
    (note,) = notes_of(text)
    assert note.startswith("Line 1, column 8: ")
    assert f"{column} IS NOT NULL" in note
