"""Test a picture: drawn at two widths under ids of its own, with a table beside it."""

from markupsafe import Markup

from penstock.web.charts.drawing.svg import NARROW
from penstock.web.charts.drawing.values import Table
from penstock.web.presenters.figure import picture, small


def test_a_chart_is_drawn_at_both_widths_and_its_table_is_taken_once() -> None:
    drawn: list[tuple[str, str, int]] = []

    def chart(content: str, prefix: str, width: int) -> str:
        drawn.append((content, prefix, width))
        return f"<svg>{prefix}</svg>"

    made = picture(chart, lambda content: Table(content, (), ()), "hospital", "p1", "cut")
    assert [prefix for _, prefix, _ in drawn] == ["p1-narrow", "p1-wide"]
    assert drawn[0][2] < drawn[1][2]
    assert {content for content, _, _ in drawn} == {"hospital"}
    assert (made.table.caption, made.remark) == ("hospital", "cut")


def test_what_was_drawn_is_markup_that_templates_do_not_escape_again() -> None:
    made = picture(lambda *_: "<svg></svg>", lambda _: Table("t", (), ()), None, "p")
    assert isinstance(made.drawn, Markup)
    assert "<svg>" in Markup("{}").format(made.drawn)


def test_a_small_chart_is_drawn_once_as_on_phones_under_other_ids() -> None:
    def chart(_: object, prefix: str, width: int) -> str:
        return f"<svg>{prefix} {width}</svg>"

    made = picture(chart, lambda _: Table("t", (), ()), None, "p")
    assert small(made, "q").drawn == f"<svg>q {NARROW}</svg>"
    assert isinstance(small(made, "q").drawn, Markup)
    assert small(made, "q").table == made.table
