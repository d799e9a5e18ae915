"""Rows are streamed with the columns that are used, group by group, and as often as asked for."""

from typing import Any

import duckdb
import pyarrow as pa
import pytest
from tests.unit.connectors.storage.lakes import Memory

from penstock.connectors.storage import relation
from penstock.connectors.storage.relation import Relation
from penstock.connectors.storage.stores.objects import Part
from penstock.errors import InvalidInput, SourceChanged, Unavailable

ROWS = 5000
WIDE = ["x" * 200 + str(row) for row in range(ROWS)]


@pytest.fixture
def store() -> Memory:
    store = Memory()
    for place in range(3):
        numbers = list(range(place * ROWS, (place + 1) * ROWS))
        columns = {"a": numbers, "b": [str(number % 7) for number in numbers], "wide": WIDE}
        store.put_table(f"{place}.parquet", columns, row_group_size=1000, compression="none")
    return store


def streamed(store: Memory, *names: str, parts: list[Part] | None = None) -> Relation:
    parts = parts or [Part(store.head(f"{place}.parquet")) for place in range(3)]
    types = {"a": pa.int64(), "b": pa.string(), "wide": pa.string(), "c": pa.large_string()}
    return Relation(store, parts, types, {name: name for name in names})


def asked(rows: Relation, question: str, threads: int = 1) -> Any:
    with duckdb.connect(config={"threads": threads}) as connection:
        connection.register("rows", rows)
        return connection.execute(question).fetchall()


@pytest.mark.parametrize("threads", [1, 4])
def test_all_rows_of_all_objects_are_read(store: Memory, threads: int) -> None:
    total = 3 * ROWS
    question = "SELECT count(*), sum(a), count(DISTINCT b) FROM rows"
    assert asked(streamed(store, "a", "b"), question, threads) == [
        (total, total * (total - 1) // 2, 7)
    ]


def test_a_statement_may_read_its_source_twice(store: Memory) -> None:
    """A stream that ends after the first scan would count nothing in the second."""
    question = "SELECT (SELECT count(*) FROM rows), (SELECT max(a) FROM rows)"
    assert asked(streamed(store, "a"), question) == [(3 * ROWS, 3 * ROWS - 1)]


def test_only_the_columns_that_are_used_are_fetched(store: Memory) -> None:
    size = sum(store.head(f"{place}.parquet").size for place in range(3))
    asked(streamed(store, "a"), "SELECT sum(a) FROM rows")
    few = store.read_bytes
    assert few < size / 4
    asked(streamed(store, "wide"), "SELECT max(wide) FROM rows")
    assert store.read_bytes - few > size / 2


def test_no_object_is_read_as_a_whole(store: Memory) -> None:
    asked(streamed(store, "a", "b", "wide"), "SELECT max(wide) FROM rows")
    assert store.largest_read < store.head("0.parquet").size / 3


def test_large_row_groups_are_read_page_by_page(
    store: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relation, "LARGE", 1)
    monkeypatch.setattr(relation, "_BUFFER", 1 << 16)
    pages = {"use_dictionary": False, "data_page_size": 1 << 14, "write_batch_size": 64}
    store.put_table("0.parquet", {"wide": WIDE}, compression="none", **pages)
    parts = [Part(store.head("0.parquet"))]
    question = "SELECT count(*), max(wide) FROM rows"
    assert asked(streamed(store, "wide", parts=parts), question) == [(ROWS, max(WIDE))]
    assert store.largest_read <= 1 << 17 < store.head("0.parquet").size


def test_rows_are_there_for_a_plan_that_uses_no_column(store: Memory) -> None:
    assert asked(streamed(store), "SELECT count(*) FROM rows") == [(3 * ROWS,)]


def test_cells_of_a_table_s_folders_are_constant(store: Memory) -> None:
    parts = [
        Part(store.head("0.parquet"), {"c": "left"}),
        Part(store.head("1.parquet"), {"c": None}),
        Part(store.head("2.parquet"), {"c": "right"}),
    ]
    question = "SELECT c, count(*) FROM rows GROUP BY c ORDER BY c"
    assert asked(streamed(store, "c", parts=parts), question) == [
        ("left", ROWS),
        ("right", ROWS),
        (None, ROWS),
    ]
    assert len(asked(streamed(store, "c", "a", parts=parts), "SELECT c, a FROM rows")) == 3 * ROWS


def failed(rows: Relation, question: str = "SELECT count(*), sum(a) FROM rows") -> Exception:
    with pytest.raises(duckdb.Error):
        asked(rows, question)
    assert rows.failure is not None
    return rows.failure


def test_an_object_that_is_replaced_or_removed_in_between_is_a_change(store: Memory) -> None:
    import obstore

    rows = streamed(store, "a")
    store.put_table("1.parquet", {"a": list(range(ROWS))}, row_group_size=1000)
    assert isinstance(failed(rows), SourceChanged)
    rows = streamed(store, "a")
    obstore.delete(store.objects, "2.parquet")
    assert isinstance(failed(rows), SourceChanged)


def test_other_columns_or_types_are_a_change(store: Memory) -> None:
    for columns in ({"b": ["1"]}, {"a": ["1"]}):
        store.put_table("1.parquet", columns)
        assert isinstance(failed(streamed(store, "a")), SourceChanged)


def test_a_damaged_object_is_said_to_be_and_none_of_it_shown(store: Memory) -> None:
    item = store.head("1.parquet")
    content = store.read(item, 0, item.size)
    begin = content.index(b"\x15")  # the first page's header
    store.put("1.parquet", content[:begin] + b"\xff" * 3000 + content[begin + 3000 :])
    problem = failed(streamed(store, "a", "wide"), "SELECT sum(a), max(wide) FROM rows")
    assert isinstance(problem, InvalidInput)
    assert "damaged" in problem.detail
    assert "xxx" not in problem.detail


def test_a_store_that_fails_midway_is_unavailable(
    store: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, calls = store.read, iter(range(100))

    def failing(*arguments: Any) -> bytes:
        if next(calls) == 6:
            raise Unavailable("The store answers with the status 503.")
        return read(*arguments)

    monkeypatch.setattr(store, "read", failing)
    assert isinstance(failed(streamed(store, "a")), Unavailable)


def test_progress_is_that_of_objects(store: Memory) -> None:
    reports: list[int | None] = []
    rows = streamed(store, "a")
    rows._progress = lambda _, percent=None: reports.append(percent)
    asked(rows, "SELECT sum(a) FROM rows")
    assert reports == [0, 33, 66]
