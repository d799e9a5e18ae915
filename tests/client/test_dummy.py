"""Test made-up rows as tables of the three libraries."""

import pytest

from penstock_client import Dummy
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
