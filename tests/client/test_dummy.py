"""Test made-up rows as tables of the three libraries."""

import pytest

from penstock_client import Dummy, Fit, SyntheticRows
from penstock_client._http.fields import Fields

ROWS = [{"town": "north", "visits": 3, "day": None}, {"town": None, "visits": 1, "day": "2026-1"}]


def dummy(*rows: object) -> Dummy:
    return Dummy.read(Fields({"items": list(rows)}, "dummy"), "stays")


def test_made_up_rows_make_a_table() -> None:
    made_up = dummy(*ROWS)
    assert len(made_up) == 2
    assert made_up.to_polars().to_dicts() == ROWS
    assert made_up.to_arrow().to_pylist() == ROWS
    frame = made_up.to_pandas()
    assert (frame["visits"].tolist(), frame["town"][0]) == ([3, 1], "north")


@pytest.mark.parametrize("form", ["to_pandas", "to_polars", "to_arrow"])
def test_no_rows_make_an_empty_table(form: str) -> None:
    assert len(getattr(dummy(), form)()) == 0


def test_a_column_that_a_row_lacks_is_missing_there() -> None:
    rows = dummy({"a": 1}, {"b": 2}).to_arrow().to_pylist()
    assert rows == [{"a": 1, "b": None}, {"a": None, "b": 2}]


def test_rows_are_read_only() -> None:
    with pytest.raises(TypeError):
        dummy(*ROWS).rows[0]["town"] = "south"  # type: ignore[index] # writing is what is refused


def test_rows_of_a_release_make_a_table() -> None:
    answer = {
        "release": "rel_1",
        "query": "stays",
        "tier": "public",
        "columns": {"town": ["north", "south"], "age": ["0-39", "0-39"]},
        "fits": [{"columns": ["town", "age"], "distance": 0.25, "fitted": True}],
    }
    rows = SyntheticRows.read(Fields(answer, "rows"))
    assert len(rows) == 2
    assert rows.fits == (Fit(("town", "age"), 0.25, fitted=True),)
    table = [{"town": "north", "age": "0-39"}, {"town": "south", "age": "0-39"}]
    assert rows.to_arrow().to_pylist() == rows.to_polars().to_dicts() == table
    assert rows.to_pandas()["town"].tolist() == ["north", "south"]
