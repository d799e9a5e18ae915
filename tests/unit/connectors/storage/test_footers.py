"""Types of columns are compared as the engine reads them, and damage is said and not shown."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from tests.unit.connectors.storage.lakes import (
    Memory,
    dataset,
    parquet,
    parquet_of_decimals_in_bytes,
)

from penstock.connectors.storage import footers
from penstock.connectors.storage.stores.objects import Part
from penstock.errors import InvalidInput

MOMENT = pa.array([0], pa.int64())


def check(*columns: Any) -> None:
    store = Memory()
    for place, cells in enumerate(columns):
        store.put_table(f"{place}.parquet", {"a": cells})
    parts = [Part(store.head(f"{place}.parquet")) for place in range(len(columns))]
    footers.check_columns(dataset(a="string"), parts, footers.schemas(store, parts))


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (pa.array(["a"]), pa.array(["a"], pa.large_string()), True),
        (pa.array(["a"]), pa.array(["a"]).dictionary_encode(), True),
        (MOMENT.view(pa.timestamp("ms")), MOMENT.view(pa.timestamp("us")), True),
        (MOMENT.view(pa.timestamp("us")), MOMENT.view(pa.timestamp("us", "UTC")), False),
        (pa.array([1]), pa.array([1], pa.int32()), False),
        (pa.array([1]), pa.array([1.0]), False),
        (pa.array([1]), pa.nulls(1), True),
    ],
)
def test_types_are_the_same_if_the_engine_is_given_the_same(
    first: Any, second: Any, same: bool
) -> None:
    if same:
        check(first, second)
        return
    with pytest.raises(InvalidInput, match="write all objects with one type"):
        check(first, second)


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([[1]]),
        pa.array([{"b": 1}]),
        pa.array([0], pa.int64()).view(pa.time64("us")),
        pa.array([Decimal(1)], pa.decimal256(70, 2)),
    ],
)
def test_types_that_no_declared_one_is_read_from_are_refused(cells: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        check(cells)
    assert refused.value.errors[0][0] == "/columns/a"


@pytest.mark.parametrize("first", [b"\x01", b"", b"\x01" * 17])
def test_decimals_of_any_length_are_refused_whatever_their_cells(first: bytes) -> None:
    """Arrow fails at a cell of no bytes or of more than 16, and reads the others."""
    store = Memory()
    store.put("0.parquet", parquet_of_decimals_in_bytes([first, b"\x02"]))
    parts = [Part(store.head("0.parquet"))]
    with pytest.raises(InvalidInput, match=r"decimal128\(9, 0\) in any number of bytes") as refused:
        footers.check_columns(dataset(a="integer"), parts, footers.schemas(store, parts))
    assert refused.value.errors[0][0] == "/columns/a"


def test_a_name_that_is_there_twice_is_refused() -> None:
    store = Memory()
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    store.put("0.parquet", parquet_of(table))
    parts = [Part(store.head("0.parquet"))]
    with pytest.raises(InvalidInput, match="Several columns"):
        footers.check_columns(dataset(a="integer"), parts, footers.schemas(store, parts))


def parquet_of(table: pa.Table) -> bytes:
    import io

    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"secret,cell\n" * 20, parquet({"a": ["secret"]})[:-9]]
)
def test_an_object_that_is_no_parquet_is_named_and_none_of_it_shown(content: bytes) -> None:
    store = Memory()
    store.put("0.parquet", content)
    with pytest.raises(InvalidInput) as refused:
        footers.schemas(store, [Part(store.head("0.parquet"))])
    assert "'0.parquet'" in refused.value.detail
    assert "secret" not in refused.value.detail


def test_a_file_of_a_table_is_not_named_since_its_folders_are_cells() -> None:
    store = Memory()
    store.put("person=zoe/0.parquet", b"nothing")
    with pytest.raises(InvalidInput) as refused:
        footers.schemas(store, [Part(store.head("person=zoe/0.parquet"), {"person": "zoe"})])
    assert "zoe" not in refused.value.detail


def test_columns_of_a_table_are_found_by_number_and_made_where_they_are_constant() -> None:
    schema = pa.schema(
        [
            pa.field("old name", pa.int64(), metadata={b"PARQUET:field_id": b"1"}),
            pa.field("b", pa.int64(), metadata={b"PARQUET:field_id": b"7"}),
        ]
    )
    part = Part(an_object(), dict.fromkeys(["a", "b"]), {"a": 1, "b": 2})
    named = footers.fields(schema, part)
    assert named["a"].name == "old name"
    # Another column once had this name.
    assert footers.is_empty(named["b"].type)
    assert footers.made(schema, part) == {"b"}


def an_object() -> Any:
    store = Memory()
    store.put("0.parquet", b"1")
    return store.head("0.parquet")
