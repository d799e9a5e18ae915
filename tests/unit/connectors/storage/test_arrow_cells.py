"""Cells that the engine is given by Arrow are those that it reads from a local file itself."""

import uuid
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.connectors.storage.lakes import Memory

from penstock.connectors.storage.address import Address
from penstock.connectors.storage.arrow_cells import cells, is_exact
from penstock.connectors.storage.lake import Lake
from penstock.connectors.storage.stores.objects import Part

WHOLE = [0, 1, None, -5]


def moments() -> dict[str, pa.Array]:
    return {
        f"moments {unit} {zone}": pa.array([0, 1, None, -1234567], pa.int64()).view(
            pa.timestamp(unit, zone)
        )
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "UTC", "Europe/Paris")
    }


COLUMNS: dict[str, pa.Array] = {
    **{
        str(kind): pa.array(WHOLE, kind) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())
    },
    "unsigned": pa.array([2**64 - 1, 2**63, 5, None], pa.uint64()),
    "half": pa.array(np.array([1.5, np.nan, -np.inf, 65504], dtype=np.float16)),
    "float": pa.array([0.1, float("nan"), -0.0, 3e38], pa.float32()),
    "double": pa.array([0.1, float("nan"), -0.0, 1e300]),
    "decimal": pa.array([Decimal("1.50"), Decimal("-0.01"), None, Decimal("9.99")]),
    "long decimal": pa.array(
        [Decimal("1.5"), None, Decimal("9" * 30 + ".9")], pa.decimal128(38, 2)
    ),
    "short decimal": pa.array([Decimal("1.50"), None], pa.decimal32(7, 2)),
    "boolean": pa.array([True, False, None]),
    **{
        f"bytes {kind}": pa.array([b"abcd", b"\xff\x00ab", None, b"\\x12"], kind)
        for kind in (pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(4))
    },
    **{
        f"texts {kind}": pa.array(["a", "", None, "\u00e9\x00b"], kind)
        for kind in (pa.string(), pa.large_string(), pa.string_view())
    },
    "names": pa.array(["a", "", None, "\u00e9"]).dictionary_encode(),
    "named bytes": pa.array([b"\xff", b"", None]).dictionary_encode(),
    "dates": pa.array([0, -719528, None, 20000, 2**31 - 2, -(2**31)], pa.int32()).view(pa.date32()),
    "more dates": pa.array([0, 86_400_000, None], pa.int64()).view(pa.date64()),
    **moments(),
    "duration": pa.array(WHOLE, pa.int64()).view(pa.duration("us")),
    "nothing": pa.nulls(3),
    "uuid": pa.ExtensionArray.from_storage(
        pa.uuid(), pa.array([uuid.UUID(int=7).bytes, None], pa.binary(16))
    ),
    "json": pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a": 1}', "[]", None])),
    "bool8": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0, None, 2], pa.int8())),
}


@pytest.fixture
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def local(engine: duckdb.DuckDBPyConnection, path: Path) -> list[Any]:
    question = "SELECT TRY_CAST(a AS VARCHAR) FROM read_parquet(?)"
    return engine.execute(question, [str(path)]).fetchall()


def streamed(engine: duckdb.DuckDBPyConnection, content: bytes) -> list[Any]:
    store = Memory()
    store.put("a.parquet", content)
    lake = Lake(store, Address("s3", "lake", "a.parquet"), [Part(store.head("a.parquet"))])
    engine.register("cells", lake.relation({"a": "c0"}))
    return engine.execute("SELECT TRY_CAST(c0 AS VARCHAR) FROM cells").fetchall()


@pytest.mark.parametrize("described", [True, False])
def test_every_type_reads_as_from_a_local_file(
    engine: duckdb.DuckDBPyConnection, tmp_path: Path, described: bool
) -> None:
    """With Arrow's own description of the types in the file, and without it."""
    for name, column in COLUMNS.items():
        path = tmp_path / "a.parquet"
        pq.write_table(pa.table({"a": column}), path, store_schema=described)
        assert streamed(engine, path.read_bytes()) == local(engine, path), name


def test_moments_of_older_writers_read_as_from_a_local_file(
    engine: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    path = tmp_path / "a.parquet"
    column = pa.array([0, 1, None, 10**15], pa.int64()).view(pa.timestamp("us"))
    pq.write_table(pa.table({"a": column}), path, use_deprecated_int96_timestamps=True)
    assert streamed(engine, path.read_bytes()) == local(engine, path)


def test_decimals_that_the_engine_would_round_are_told_from_others() -> None:
    assert is_exact(pa.decimal128(38, 2))
    assert not is_exact(pa.decimal256(70, 2))
    assert not is_exact(pa.dictionary(pa.int32(), pa.decimal256(70, 2)))


@pytest.mark.parametrize(
    "kind",
    [
        *(pa.decimal128(precision, 2) for precision in (2, 4, 5, 9, 18, 20, 38)),
        *(pa.decimal128(38, 38), pa.decimal64(12, 2), pa.decimal32(5, 5), pa.decimal32(9, 0)),
    ],
    ids=str,
)
def test_decimals_with_more_digits_than_their_type_are_no_cells(
    engine: duckdb.DuckDBPyConnection, kind: pa.DataType
) -> None:
    size, most = kind.bit_width // 8, 10**kind.precision - 1
    far = 2 ** (8 * size - 1) - 1
    bits = [most, -most, 0, most + 1, -most - 1, far, -far - 1]
    content = b"".join(each.to_bytes(size, "little", signed=True) for each in bits)
    column = pa.Array.from_buffers(kind, len(bits), [None, pa.py_buffer(content)])
    found = cells(column)
    assert found.type == kind
    assert found.slice(0, 3).equals(column.slice(0, 3))
    assert found.slice(3).null_count == 4
    engine.register("cells", pa.table({"c": found}))
    rows = engine.execute("SELECT TRY_CAST(c AS VARCHAR) FROM cells").fetchall()
    assert [row is None for (row,) in rows] == [False] * 3 + [True] * 4
