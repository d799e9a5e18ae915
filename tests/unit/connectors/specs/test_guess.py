"""Test that types are guessed from what a file declares; cells are not looked at."""

import datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.connectors.specs.guess import guess_schema
from penstock.errors import InvalidInput


def test_every_type_of_parquet_is_read_as_one_of_ours(tmp_path: Path) -> None:
    table = pa.table(
        {
            "flag": pa.array([True]),
            "small": pa.array([1], pa.uint8()),
            "large": pa.array([1], pa.int64()),
            "half": pa.array([0.5], pa.float32()),
            "price": pa.array([Decimal("1.50")], pa.decimal128(5, 2)),
            "day": pa.array([datetime.date(2026, 1, 1)]),
            "moment": pa.array([datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)]),
            "name": pa.array(["1"]),
        }
    )
    pq.write_table(table, tmp_path / "all.parquet")
    assert guess_schema(tmp_path / "all.parquet") == {
        "flag": "boolean",
        "small": "integer",
        "large": "integer",
        "half": "number",
        "price": "number",
        "day": "date",
        "moment": "date",
        "name": "string",
    }


def test_every_column_of_csv_is_a_string_whatever_its_cells_hold(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,day\n7,2026-01-01\n")
    assert guess_schema(tmp_path / "a.csv") == {"age": "string", "day": "string"}


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_a_file_without_commas_is_refused(tmp_path: Path, mark: str) -> None:
    (tmp_path / "a.csv").write_text(mark.join(["age", "day"]) + "\n")
    with pytest.raises(InvalidInput, match="separated by commas"):
        guess_schema(tmp_path / "a.csv")


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_a_header_that_is_no_utf_8_is_refused(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.csv").write_bytes("person,größe\n".encode(encoding))
    with pytest.raises(InvalidInput, match="again in UTF-8"):
        guess_schema(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_bytes("person,größe\n".encode("utf-8-sig"))
    assert list(guess_schema(tmp_path / "a.csv")) == ["person", "größe"]


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,day,age\n")
    with pytest.raises(InvalidInput, match="several columns of the same name, 'age'"):
        guess_schema(tmp_path / "a.csv")
