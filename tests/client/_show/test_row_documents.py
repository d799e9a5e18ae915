"""Test rows and marginals as tables."""

from dataclasses import replace

from penstock_client import Marginal, Release
from penstock_client._show.output import Format, written
from penstock_client._show.row_documents import report_line, reported_values, synthetic
from penstock_client.dummy import Fit, SyntheticRows
from penstock_client.models import Part


def test_rows_without_a_column_are_an_empty_table() -> None:
    empty = SyntheticRows("rel_1", "stays", "public", {}, ())
    assert written(synthetic(empty), Format.TABLE) == ""
    made = replace(empty, columns={"ward": ("a", "b")}, fits=(Fit(("ward",), 0.031, fitted=True),))
    document = synthetic(made)
    assert "no row is anybody's" in document.note
    assert "at most 3.1%" in document.note
    assert "left out" not in document.note
    assert written(document, Format.CSV) == "ward\na\nb\n"


def test_reported_cells_are_in_the_order_of_the_values(release: Release) -> None:
    tables = (
        Marginal((), {(): 7.0}, 1.0, {(): 8.0}),
        Marginal(("ward",), {("b",): 1.0, ("a",): 6.0}, 1.0, {("a",): 5.0, ("b",): 3.0}),
    )
    given = replace(release, marginals=tables)
    assert reported_values(given) == [8.0, 3.0, 5.0]
    assert reported_values(replace(given, part=Part(0, 0, 3))) is None
    assert reported_values(release) is None


def test_the_line_names_the_forms(release: Release) -> None:
    named = replace(release, answer={"report": {"forms": ["whole"], "lossless": "weakly"}})
    assert report_line(named).startswith("reported: whole; weakly lossless")
    assert report_line(release).startswith("reported: in forms; weakly")
