"""Test lists of answers: lists to programs, tables to notebooks, columns to frames."""

import copy
from collections.abc import Sequence

import pytest

from penstock_client import MissingExtra
from penstock_client._show import listing
from penstock_client._show.listing import ROWS, Listing
from penstock_client._show.output import Column, Document


def numbers(items: Sequence[int]) -> Document:
    exclaimed = Column("number", lambda cell: f"{cell}!", right=True)
    columns = (Column("name"), exclaimed, Column("raw", None))
    rows = [(f"<{item}>" if item else None, item, 2 * item) for item in items]
    return Document(list(items), columns, rows, note="" if items else "Nothing & nobody.")


def test_it_is_a_list_in_every_other_respect() -> None:
    shown = Listing(iter([3, 1, 2]), numbers)
    assert shown == [3, 1, 2]
    assert sorted(shown) == [1, 2, 3]
    assert shown[:2] == [3, 1]
    assert copy.copy(shown) == shown


def test_a_notebook_shows_cells_for_people_without_markup_of_names() -> None:
    page = Listing([1, 0], numbers)._repr_html_()
    assert '<td style="text-align:left">&lt;1&gt;</td>' in page
    assert '<td style="text-align:right">1!</td>' in page
    assert '<td style="text-align:left"></td>' in page
    assert "raw" not in page


def test_an_empty_list_and_a_long_one_say_so() -> None:
    assert Listing([], numbers)._repr_html_() == "<div><p>Nothing &amp; nobody.</p></div>"
    page = Listing(range(1, ROWS + 6), numbers)._repr_html_()
    assert page.count("<tr>") == ROWS + 1
    assert f"The first {ROWS} of {ROWS + 5} rows" in page


def test_frames_have_unrounded_columns_for_programs() -> None:
    shown = Listing([1, 0], numbers)
    frame = shown.to_pandas()
    assert frame[["number", "raw"]].to_dict("list") == {"number": [1, 0], "raw": [2, 0]}
    assert frame["name"].isna().tolist() == [False, True]
    assert shown.to_polars()["raw"].to_list() == [2, 0]
    assert list(Listing([], numbers).to_pandas().columns) == ["name", "number", "raw"]


def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(extra: str, method: str) -> None:
        raise MissingExtra(extra, method)

    monkeypatch.setattr(listing, "library", missing)
    with pytest.raises(MissingExtra, match="pandas"):
        Listing([1], numbers).to_pandas()
