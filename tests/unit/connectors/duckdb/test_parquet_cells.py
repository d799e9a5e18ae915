"""Test cells of Parquet files that the engine refuses to read: each is a bad cell, and no more."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from tests.unit.connectors.cases import VISITS, Folder, dataset_of, query_of

from penstock.connectors.duckdb import parquet_cells, source, source_file
from penstock.connectors.planning.prepare import check_source
from penstock.connectors.sources import Sources
from penstock.errors import InvalidInput

TEXT = pa.string()
SEED = 20_261_123
FILE = "visits.parquet"

BAD_TEXTS = [
    *(b"\xff", b"so\xff\xfeuth", b"\xed\xa0\x80", b"\xf0\x9f", b"\xc0\xaf", b"a\x00\xff"),
    b"x" * 100_000 + b"\xfe",
]
"""Not UTF-8: stray bytes, a surrogate, a character cut short, an overlong one."""

GOOD_TEXTS = [b"a", b"b", b"c", b"?", b"a\x00", b"", "\u00e9\ufffd".encode(), b"x" * 100_000]


def texts(cells: Sequence[bytes | None], kind: pa.DataType = TEXT) -> pa.Array:
    """Return cells that say that they are UTF-8, whether they are or not."""
    wide = kind == pa.large_string()
    raw = pa.array(cells, pa.large_binary() if wide else pa.binary())
    return pa.Array.from_buffers(kind, len(cells), raw.buffers(), raw.null_count)


def large(cells: Sequence[bytes | None]) -> pa.Array:
    return texts(cells, pa.large_string())


def named(cells: Sequence[bytes | None]) -> pa.Array:
    return texts(cells).dictionary_encode()


SHAPES = [texts, large, named]


def decoded(cells: Sequence[bytes | None]) -> list[bytes | None]:
    """Return what is not UTF-8 left out, by Python's own decoder."""

    def one(cell: bytes | None) -> bytes | None:
        return None if cell is None or cell.decode(errors="replace").encode() != cell else cell

    return [one(cell) for cell in cells]


def ask(folder: Folder, columns: dict[str, Any], missing: str | None = None, **more: Any) -> Any:
    ward = {**VISITS["ward"], **({"missing": missing} if missing else {})}  # type: ignore[dict-item]  # a spec
    declared = {"person": VISITS["person"], "ward": ward}
    pq.write_table(pa.table(columns), folder.path / FILE, row_group_size=3, **more)
    query = query_of({"type": "count_units"}, group_by=[{"column": "ward"}])
    return folder.ask(dataset_of(FILE, columns=declared), query).tolist()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("missing", "count"), [(None, [1, 0, 1]), ("b", [1, 1, 1])])
def test_a_text_that_is_not_utf_8_is_missing(
    folder: Folder,
    shape: Callable[[Sequence[bytes | None]], pa.Array],
    missing: str | None,
    count: list[int],
) -> None:
    wards = shape([b"a", b"so\xff\xfeuth", b"b", b"c"])
    people = texts([b"p0", b"p1", b"no \xff unit", b"p3"])
    assert ask(folder, {"person": people, "ward": wards}, missing) == count
    # Plainly stored as well as by a dictionary of the file.
    assert ask(folder, {"person": people, "ward": wards}, missing, use_dictionary=False) == count


CELLS = st.lists(
    st.tuples(*[st.sampled_from([*BAD_TEXTS, *GOOD_TEXTS, None]) | st.binary(max_size=4)] * 2),
    min_size=1,
    max_size=12,
)


@seed(SEED)
@settings(
    max_examples=15,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(rows=CELLS, missing=st.sampled_from([None, "b"]), shape=st.sampled_from(SHAPES))
def test_any_file_is_answered_as_the_same_file_without_its_bad_cells(
    folder: Folder,
    rows: list[tuple[bytes | None, bytes | None]],
    missing: str | None,
    shape: Callable[[Sequence[bytes | None]], pa.Array],
) -> None:
    people, wards = zip(*rows, strict=True)
    found = ask(folder, {"person": shape(people), "ward": shape(wards)}, missing)
    good = {"person": shape(decoded(people)), "ward": shape(decoded(wards))}
    assert found == ask(folder, good, missing)


MOST, FIRST = 2**63 - 1, -9_223_372_022_400_000_000
EDGES = {
    "us": [-MOST - 1, -MOST, 1 - MOST, FIRST - 1, FIRST, MOST - 1, MOST],
    "ms": [
        *(-MOST - 1, -MOST, -MOST // 1000 - 1, -MOST // 1000, -MOST // 1000 + 1, MOST),
        *(FIRST // 1000 - 1, FIRST // 1000, MOST // 1000, MOST // 1000 + 1),
    ],
}


def spelled(folder: Folder, moments: pa.Array) -> list[str | None]:
    """Return how the engine spells cells of a file.  Raises what it raises."""
    folder.parquet({"moment": moments}, FILE)
    with source.connect() as connection:
        text = f"SELECT TRY_CAST(moment AS VARCHAR) FROM '{folder.path / FILE}'"  # noqa: S608
        return [cell for (cell,) in connection.execute(text).fetchall()]


@pytest.mark.parametrize(("unit", "zone"), [("ms", None), ("ms", "Europe/Berlin"), ("us", None)])
def test_a_moment_is_missing_where_the_engine_refuses_it_and_reads_the_same_elsewhere(
    folder: Folder, unit: str, zone: str | None
) -> None:
    def moments(*cells: int | None) -> pa.Array:
        return pa.array(cells, pa.int64()).view(pa.timestamp(unit, zone))

    assert parquet_cells.repairable(pa.timestamp(unit, zone))
    edges, refused = EDGES[unit], []
    for edge in edges:
        try:
            spelled(folder, moments(edge))
        except duckdb.Error:
            refused.append(edge)
    # It may read every moment that is stored in its own unit: what the server takes it to read.
    assert bool(refused) == (unit != "us" or parquet_cells._earliest() > parquet_cells._FIRST)
    folder.parquet({"moment": moments(*edges, 0, None)}, FILE)
    with source.connect() as connection:
        file = source_file.locate_path(folder.path / FILE)
        parquet_cells.read(connection, file, {"moment": "c0"})
        text = f"SELECT CAST(c0 AS VARCHAR) FROM {parquet_cells.TABLE} ORDER BY number"  # noqa: S608
        found = [cell for (cell,) in connection.execute(text).fetchall()]
    kept = moments(*(None if edge in refused else edge for edge in edges), 0, None)
    assert found == spelled(folder, kept)


def test_a_moment_too_far_off_drops_its_row_alone(folder: Folder) -> None:
    columns = {"moment": {"type": "date", "categories": ["1970-01-01", "1970-01-02"]}}
    dataset = dataset_of(FILE, columns=columns, unit={"rows": 1})
    query = query_of({"type": "count"}, group_by=[{"column": "moment"}], contribution={})
    cells = pa.array([0, 86_400_000, 5, 10**18], pa.int64())
    folder.parquet({"moment": cells.view(pa.timestamp("ms"))}, FILE)
    assert folder.ask(dataset, query).tolist() == [2, 1]


EVERYTHING: dict[str, Any] = {
    **{f"int{bits}": np.array([-(2 ** (bits - 1)), 1], f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": np.array([2**bits - 1, 1], f"uint{bits}") for bits in (8, 16, 32, 64)},
    "half": np.array([np.nan, np.inf], np.float16),
    "single": np.array([-np.inf, 1e38], np.float32),
    "double": [5e-324, -1e308],
    "wide": pa.array([None, 10**30], pa.decimal128(38, 0)),
    "wider": pa.array([10**60, 1], pa.decimal256(76, 0)),
    "binary": [b"\xff", b"a\x00"],
    "fixed": pa.array([b"\xff" * 16, b"a" * 16], pa.binary(16)),
    "truth": [True, None],
    "nothing": pa.nulls(2),
    "date": pa.array([-(2**31), 2**31 - 1], pa.int32()).view(pa.date32()),
    "nanoseconds": pa.array([-(2**63) + 1, 2**63 - 1], pa.int64()).view(pa.timestamp("ns")),
    "duration": pa.array([-(2**63), 2**63 - 1], pa.int64()).view(pa.duration("us")),
    "texts": texts([b"\xff", b"9" * 400]),
    "moments": pa.array([-(2**63), 2**63 - 1], pa.int64()).view(pa.timestamp("ms")),
}


@pytest.mark.parametrize("name", EVERYTHING)
@pytest.mark.parametrize(
    "kind",
    [
        *("string", "number"),
        *(pytest.param(one, marks=pytest.mark.nightly) for one in ("integer", "boolean", "date")),
    ],
)
def test_no_cell_of_any_type_ends_a_query(folder: Folder, name: str, kind: str) -> None:
    folder.parquet({"person": ["ann", "bob"], "cell": EVERYTHING[name]}, FILE)
    some = {"string": "a", "integer": 1, "number": 1.5, "boolean": True, "date": "2026-01-01"}
    columns = {"person": {"type": "string"}, "cell": {"type": kind, "categories": [some[kind]]}}
    if kind in ("number", "boolean"):
        del columns["cell"]["categories"]  # type: ignore[attr-defined]  # a spec
    group = [] if kind == "number" else [{"column": "cell"}]
    where = [{"column": "cell", "op": "in", "value": [some[kind]]}]
    for unit in ("person", "cell") if kind == "string" else ("person",):
        dataset = dataset_of(FILE, columns=columns, unit={"column": unit})
        check_source(dataset, Sources(folder.path))
        query = query_of({"type": "count_units"}, where=where, group_by=group)
        assert 0 <= folder.ask(dataset, query).sum() <= 2


UNREADABLE = {
    "list": pa.ListArray.from_arrays(pa.array([0, 1, 2]), texts([b"\xff", b"a"])),
    "struct": pa.StructArray.from_arrays([texts([b"\xff", b"a"])], ["x"]),
    "map": pa.MapArray.from_arrays([0, 1, 2], texts([b"b", b"a"]), texts([b"\xff", b"a"])),
    "time": pa.array([-(2**31), 1], pa.int32()).view(pa.time32("ms")),
    "exact time": pa.array([-(2**63), 1], pa.int64()).view(pa.time64("us")),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_types_that_no_declared_one_is_read_from_are_refused_by_name(
    folder: Folder, name: str
) -> None:
    folder.parquet({"person": ["ann", "bob"], "cell": UNREADABLE[name]}, FILE)
    columns = {"person": {"type": "string"}, "cell": {"type": "string", "categories": ["a"]}}
    dataset = dataset_of(FILE, columns=columns)
    with pytest.raises(InvalidInput, match="no declared type can be read from") as caught:
        check_source(dataset, Sources(folder.path))
    assert [place for place, _ in caught.value.errors] == ["/columns/cell"]
    check_source(dataset_of(FILE, columns={"person": {"type": "string"}}), Sources(folder.path))
    # As a dataset from before the refusal would be read.
    query = query_of({"type": "count_units"}, group_by=[{"column": "cell"}])
    assert folder.ask(dataset, query).tolist() == [0]


def test_a_file_that_is_cut_short_is_still_damaged(folder: Folder) -> None:
    folder.parquet(
        {"person": texts([b"%d\xff" % n for n in range(5000)]), "ward": ["a"] * 5000}, FILE
    )
    whole = (folder.path / FILE).read_bytes()
    (folder.path / FILE).write_bytes(
        whole[:4] + bytes(len(whole) // 3) + whole[4 + len(whole) // 3 :]
    )
    dataset = dataset_of(FILE, columns={name: VISITS[name] for name in ("person", "ward")})
    with pytest.raises(InvalidInput, match="damaged"):
        folder.ask(dataset, query_of({"type": "count_units"}, group_by=[{"column": "ward"}]))


def test_csv_that_is_not_utf_8_drops_its_line_alone(folder: Folder) -> None:
    lines = [b"person,ward", *(b"p%d,a" % n for n in range(4)), b"x,\xff", b"y,a\x00", b"z,b", b""]
    dataset = dataset_of(columns={name: VISITS[name] for name in ("person", "ward")})
    (folder.path / "visits.csv").write_bytes(b"\n".join(lines))
    query = query_of({"type": "count_units"}, group_by=[{"column": "ward"}])
    assert folder.ask(dataset, query).tolist() == [4, 1, 0]


LEAST = 2**128 - 2**127
"""The bits of the least integer of 128 bits, which has more digits than any decimal type."""

MOST_DIGITS = 38
BEYOND = [(38, 0, LEAST), (38, 38, LEAST), (20, 20, LEAST), (20, 20, 2**127 - 1)]


def decimals(kind: pa.DataType, *bits: int) -> pa.Array:
    """Return decimals that have more digits than their type, if their bits have."""
    content = b"".join(each.to_bytes(16, "little") for each in bits)
    return pa.Array.from_buffers(kind, len(bits), [None, pa.py_buffer(content)])


def test_a_decimal_with_more_digits_than_its_type_is_no_cell(tmp_path: Path) -> None:
    for precision, scale, bits in BEYOND:
        kind = pa.decimal128(precision, scale)
        largest = 10**precision - 1
        cells = decimals(kind, bits, largest, 2**128 - largest, 0)
        pq.write_table(pa.table({"c": cells}), tmp_path / "cells.parquet")
        for relation in ("rows", f"'{tmp_path / 'cells.parquet'}'"):
            connection = source.connect(1)
            connection.register("rows", pa.table({"c": cells}))
            read = f"SELECT {parquet_cells.text(kind, 'c')} FROM {relation}"  # noqa: S608
            (bad,), (most,), (least,), (nothing,) = connection.execute(read).fetchall()
            # Files have as many bytes as the digits need: those of fewer digits are cut off.
            if relation == "rows" or precision == MOST_DIGITS:
                assert bad is None, (precision, scale, relation)
            assert (least, int(most.replace(".", ""))) == (f"-{most}", largest)
            assert float(nothing) == 0


def test_a_person_with_such_a_decimal_changes_no_other_person(folder: Folder) -> None:
    declared = {name: VISITS[name] for name in ("person", "ward", "cost")}
    query = query_of({"type": "sum", "column": "cost"}, group_by=[{"column": "ward"}])
    for bits, first in ((100, 2), (LEAST, 0)):
        costs = decimals(pa.decimal128(MOST_DIGITS, 2), bits, 300)
        table = pa.table({"person": ["p", "q"], "ward": ["a", "b"], "cost": costs})
        pq.write_table(table, folder.path / FILE)
        answer = folder.ask(dataset_of(FILE, columns=declared), query)
        assert answer.tolist() == [first, 6, 0]
