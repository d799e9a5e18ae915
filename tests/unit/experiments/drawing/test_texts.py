"""Test what goes with a drawing."""

from penstock.experiments.drawing.line_chart import Line, Panel
from penstock.experiments.drawing.texts import described, table


def test_a_table_is_aligned_to_the_right() -> None:
    assert table(("a", "b"), [("1", "2")]) == "| a | b |\n|---:|---:|\n| 1 | 2 |"


def test_a_description_says_where_each_line_ends() -> None:
    lines = (Line("one", ((1.0, 5.0), (8.0, 2.5))), Line("two", ((1.0, 5.0), (8.0, 3.0))))
    panel = Panel("Errors", "steps", "error", lines)
    assert described([panel]) == "Line charts. Errors: one 2.5, two 3 at 8."
