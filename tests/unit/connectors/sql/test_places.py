"""Test that refusals say the line and the column, both from 1."""

import pytest
from sqlglot import parse_one
from tests.unit.connectors.sql.statements import refusal_of

from penstock.connectors.sql.places import SqlText, start_of


@pytest.mark.parametrize(
    ("text", "start", "place"),
    [
        ("SELECT", 0, "Line 1, column 1: "),
        ("SELECT a", 7, "Line 1, column 8: "),
        ("SELECT\n a", 8, "Line 2, column 2: "),
        ("SELECT\r\n\ta", 9, "Line 2, column 2: "),
        ("a", 99, "Line 1, column 2: "),
    ],
)
def test_lines_and_columns_are_counted_from_one(text: str, start: int, place: str) -> None:
    assert SqlText(text).placed(start, "Here.") == f"{place}Here."


def test_a_node_begins_where_its_first_part_does() -> None:
    tree = parse_one("SELECT a + b FROM t WHERE c = NULL", read="duckdb")
    assert start_of(tree.expressions[0]) == 7
    # NULL has no place of its own.
    assert start_of(tree.args["where"].this.expression) == 26


def test_a_refusal_names_the_place_of_what_it_refuses() -> None:
    text = "SELECT COUNT(*)\nFROM visits\nWHERE urgent\n  AND shoe = 3"
    assert refusal_of(text).startswith("Line 4, column 7: The dataset visits declares no column")
