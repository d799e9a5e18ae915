"""Test the timeline as CSV: the same rows as the list, and no cell that a spreadsheet runs."""

import csv
import io
import json
from collections.abc import Iterator

import pytest
from tests.api.world import World

from penstock.http import event_tables
from penstock.http.event_tables import COLUMNS, cells, csv_answer

EXPORT = "/api/v1/audit/events/export"


def rows(world: World, more: str = "") -> list[dict[str, str]]:
    answer = world.call("GET", EXPORT + more, by="olga", headers={"Accept": "text/csv"})
    assert (answer.status_code, answer.mimetype) == (200, "text/csv")
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


@pytest.mark.parametrize("more", ["", "?kind=release", "?user=ann", "?query=visits&kind=release"])
def test_the_file_has_the_leaves_that_the_list_has(world: World, more: str) -> None:
    listed = world.answer("GET", f"/api/v1/audit/events{more}", by="olga")["items"]
    written = rows(world, more)
    assert [int(row["index"]) for row in written] == [event["index"] for event in listed]
    for row, event in zip(written, listed, strict=True):
        leaf = {name: event[name] for name in event if name not in ("index", "leaf_hash")}
        assert json.loads(row["leaf"]) == leaf
        assert row["leaf_hash"] == event["leaf_hash"]
        assert row["user"] == event.get("user", "")
    lines = world.call("GET", EXPORT + more, by="olga").text.splitlines()
    assert [json.loads(line) for line in lines] == listed


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "'"])
def test_no_cell_is_a_formula(first: str) -> None:
    name = f'{first}HYPERLINK("x"),"\n'
    event = {"index": 0, "leaf_hash": "00", "actor": name, "user": name, "level": {"value": -1}}
    written = csv_answer([event]).get_data(as_text=True)
    (row,) = csv.DictReader(io.StringIO(written, newline=""))
    assert row["actor"] == row["user"] == f"'{name}"
    assert row["level"] == "'-1"
    assert json.loads(row["leaf"])["actor"] == name


def test_the_file_is_written_while_it_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_tables, "PART", 2)
    taken = []

    def events() -> Iterator[dict[str, object]]:
        for index in range(5):
            taken.append(index)
            yield {"index": index, "leaf_hash": "00"}

    first = next(csv_answer(events()).iter_encoded())
    assert taken == [0, 1]
    assert first.decode().startswith(",".join(COLUMNS))


def test_a_level_is_in_cells_of_its_own() -> None:
    event = {"index": 3, "leaf_hash": "ab", "level": {"parameter": "variance", "value": 400.0}}
    row = dict(zip(COLUMNS, cells(event), strict=True))
    assert (row["level_parameter"], row["level"], row["tier"]) == ("variance", "400.0", "")


def test_another_format_is_refused_with_those_that_are_served(world: World) -> None:
    answer = world.call("GET", EXPORT, by="olga", headers={"Accept": "application/pdf"})
    assert answer.status_code == 406
    assert "application/jsonl and text/csv" in answer.text
