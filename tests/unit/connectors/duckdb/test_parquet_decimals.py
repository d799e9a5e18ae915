"""Test decimals that a Parquet file stores in more bytes than their digits need."""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.connectors.cases import VISITS, Folder, dataset_of, query_of

from penstock.connectors.duckdb import parquet_cells
from penstock.connectors.duckdb.parquet_decimals import BytesDecimal
from penstock.connectors.planning.prepare import check_source
from penstock.connectors.sources import Sources
from penstock.errors import InvalidInput

FILE = "visits.parquet"
DECLARED = {name: VISITS[name] for name in ("person", "ward", "cost")}
SUMS = query_of({"type": "sum", "column": "cost"}, group_by=[{"column": "ward"}])


def write(
    path: Path,
    costs: Sequence[int],
    wide: int,
    narrow: int,
    *,
    whole: bool = False,
    second: str = "q",
) -> None:
    """Write decimals of ``wide`` digits, then let the file's footer say that they have fewer.

    ``second`` is the second person, whose name is no UTF-8 if it has a surrogate's escape.
    """
    names = pa.array([b"p", second.encode(errors="surrogateescape")], pa.binary())
    persons = pa.Array.from_buffers(pa.string(), 2, names.buffers())
    cells = pa.array([Decimal(cost) for cost in costs], pa.decimal128(wide, 0))
    table = pa.table({"person": persons, "ward": ["a", "b"], "cost": cells})
    pq.write_table(table, path, store_decimal_as_integer=whole, store_schema=False)
    content = path.read_bytes()
    begin = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    # In Thrift's compact protocol: a scale of 0, and behind it the digits, each doubled.
    said, changed = (b"\x15\x00\x15" + bytes([2 * digits]) for digits in (wide, narrow))
    assert content[begin:].count(said) == 2
    path.write_bytes(content[:begin] + content[begin:].replace(said, changed))
    assert pq.read_schema(path).field("cost").type == pa.decimal128(narrow, 0)


@pytest.mark.parametrize("narrow", [3, 4, 9, 18, 20])
def test_a_decimal_that_needs_more_bytes_than_its_digits_ends_no_query(
    folder: Folder, narrow: int
) -> None:
    """The person's cell is no cell, and the other's is read as before."""
    dataset = dataset_of(FILE, columns=DECLARED)
    for cost, first in ((1, 2), (10**37, 0), (-(10**37), 0), (10**narrow, 0), (-(10**narrow), 0)):
        write(folder.path / FILE, [cost, 3], 38, narrow)
        check_source(dataset, Sources(folder.path))
        assert folder.ask(dataset, SUMS).tolist() == [first, 6, 0], cost


@pytest.mark.parametrize("whole", [True, False])
def test_a_failure_elsewhere_changes_no_decimal(folder: Folder, *, whole: bool) -> None:
    """Decimals that are stored as whole numbers are read by the engine both times."""
    dataset = dataset_of(FILE, columns=DECLARED)
    for cost in (1, 9999, 70_000, 99_999, 10**17):
        answers = []
        for person in ("q", "\udcff"):
            write(folder.path / FILE, [cost, 3], 18, 4, whole=whole, second=person)
            answers.append(folder.ask(dataset, SUMS).tolist())
        assert [each[0] for each in answers] == [answers[0][0]] * 2, cost
        assert [each[1] for each in answers] == [6, 0], cost


@pytest.mark.parametrize("length", [0, 17])
def test_decimals_that_arrow_cannot_read_are_refused_by_their_type(length: int) -> None:
    kind = BytesDecimal(pa.decimal128(9, 2), length)
    assert parquet_cells.unreadable(kind)
    assert not parquet_cells.unreadable(BytesDecimal(kind.kind, 16))


def test_the_refusal_names_the_column(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder.path / FILE, [1, 3], 38, 9)
    monkeypatch.setattr("penstock.connectors.duckdb.parquet_decimals._LONGEST", 15)
    with pytest.raises(InvalidInput, match=r"decimal128\(9, 0\) in 16 bytes") as caught:
        check_source(dataset_of(FILE, columns=DECLARED), Sources(folder.path))
    assert [place for place, _ in caught.value.errors] == ["/columns/cost"]
