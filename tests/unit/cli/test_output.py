"""Test how results of commands are written."""

import csv
import io
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.cli.output import Column, Document, Format, plainly, written

COLUMNS = (Column("name"), Column("how_many", right=True), Column("hidden", None))


def document(*rows: tuple[object, ...], **more: object) -> Document:
    return Document(list(rows), COLUMNS, rows, facts=more.get("facts", ()))  # type: ignore[arg-type]  # a sequence, if given


def test_a_table_is_aligned_by_what_a_terminal_shows() -> None:
    text = written(document(("a", 1.0, 9), ("水水", 12345.6, 9), (None, None, 9)), Format.TABLE)
    assert text == "name  how many\na            1\n水水    12,346\n\n"


def test_facts_stand_above_a_table_and_alone_without_rows() -> None:
    assert written(document(("a", 1, 2), facts=["x"]), Format.TABLE).startswith("x\n\nname")
    assert written(document(facts=["x"]), Format.TABLE) == "x\n"
    assert written(document(), Format.TABLE) == ""


# Python's csv leaves a lone carriage return unquoted; no name of ours can hold one.
TEXT = st.text(st.characters(exclude_characters="\r"))


@given(st.lists(st.tuples(TEXT, st.integers(), TEXT), min_size=1, max_size=5))
def test_any_text_stays_in_its_cell(rows: list[tuple[str, int, str]]) -> None:
    table = written(document(*rows), Format.TABLE)
    assert table.count("\n") == len(rows) + 1
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", table) is None
    read = list(csv.reader(io.StringIO(written(document(*rows), Format.CSV), newline="")))
    # What would be a formula to a spreadsheet has an apostrophe before it.
    cells = [[cell.removeprefix("'") for cell in row] for row in read[1:]]
    assert cells == [[name, str(count), hidden] for name, count, hidden in rows]


def test_csv_has_every_column_and_rounds_nothing() -> None:
    at = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=timezone(timedelta(hours=1)))
    text = written(document((at, 0.1 + 0.2, ["x", "y"]), (True, None, {"k": at})), Format.CSV)
    assert text.splitlines() == [
        "name,how_many,hidden",
        "2026-01-02T02:04:05.000006Z,0.30000000000000004,x y",
        'true,,"{""k"": ""2026-01-02T02:04:05.000006Z""}"',
    ]


def test_json_writes_views_arrays_and_times() -> None:
    @dataclass(frozen=True)
    class View:
        values: object
        at: datetime

    answer = View(np.array([0.1, 2.0]), datetime(2026, 1, 1, tzinfo=UTC))
    text = written(Document([answer], (), ()), Format.JSON)
    assert json.loads(text) == [{"values": [0.1, 2.0], "at": "2026-01-01T00:00:00Z"}]


def test_json_refuses_what_json_cannot_say() -> None:
    with pytest.raises(ValueError, match="JSON"):
        written(Document([float("nan")], (), ()), Format.JSON)


def test_csv_holds_no_formula_and_loses_nothing() -> None:
    texts = ["=1+1", "@x", "-5", "'=1+1", "plain", "5"]
    rows = [(text, -1.5) for text in texts]
    document = Document(None, (Column("key"), Column("value")), rows)
    written_rows = list(csv.reader(io.StringIO(written(document, Format.CSV))))[1:]
    assert [row[0] for row in written_rows] == ["'=1+1", "'@x", "'-5", "''=1+1", "plain", "5"]
    assert [row[0].removeprefix("'") for row in written_rows] == texts
    assert {row[1] for row in written_rows} == {"-1.5"}


@pytest.mark.parametrize(
    ("cell", "shown"),
    [(True, "yes"), (False, "no"), (3, "3"), (0.123456, "0.123"), (["a", 1.5], "a, 1.5")],
)
def test_cells_are_short(cell: object, shown: str) -> None:
    assert plainly(cell) == shown
