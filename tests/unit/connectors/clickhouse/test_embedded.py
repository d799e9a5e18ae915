"""Test the ClickHouse inside this process: its folder, and what two readings share."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from tests.databases.clickhouse import Tables

from penstock.connectors.clickhouse.embedded import folder_of
from penstock.connectors.clickhouse.reading import reading
from penstock.connectors.clickhouse.session import Limits
from penstock.errors import InvalidInput, Unavailable


def test_a_folder_without_tables_is_none_and_stays_one(folder: Tables, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        address = f"chdb://{path}"
        with pytest.raises(Unavailable, match="no tables of ClickHouse"), reading(address):
            pass
    assert list(tmp_path.iterdir()) == []


def test_a_process_opens_one_folder(folder: Tables, tmp_path: Path) -> None:
    (tmp_path / "canary" / "metadata").mkdir(parents=True)
    other = f"chdb://{tmp_path / 'canary'}"
    with pytest.raises(Unavailable, match="reads another folder") as refused, reading(other):
        pass
    assert refused.value.__cause__ is None
    assert "canary" not in str(refused.value)


def test_a_folder_that_another_process_has_open_is_unavailable(folder: Tables) -> None:
    read = (
        "import sys; from penstock.connectors.clickhouse.reading import reading\n"
        "with reading(sys.argv[1]): pass"
    )
    done = subprocess.run(
        [sys.executable, "-c", read, folder.address], capture_output=True, text=True, check=False
    )
    assert "Unavailable: ClickHouse cannot open the connection's folder" in done.stderr


def test_an_address_has_a_path_alone() -> None:
    assert folder_of("chdb:///srv/a%20b") == Path("/srv/a b")
    for address in ("chdb://host/a", "chdb:///", "chdb:///a?mode=rw", "chdb:///a%3Fmode=rw"):
        with pytest.raises(InvalidInput, match="chdb:///srv/clickhouse") as refused:
            folder_of(address)
        assert "mode" not in str(refused.value)


def test_readings_share_no_relations(folder: Tables) -> None:
    own = {"mine": ("x Int64", pa.table({"x": [1]}))}
    with reading(folder.address) as one, reading(folder.address) as other:
        assert one.table("SELECT x FROM mine", own).to_pylist() == [{"x": 1}]
        for session in (one, other):
            assert session.types("mine") is None


def test_limits_of_memory_threads_and_time_are_set(folder: Tables) -> None:
    with reading(folder.address, Limits("2GB", 1, 1.5)) as session:
        text = "SELECT getSetting('max_memory_usage') AS memory, getSetting('max_threads') AS n"
        (row,) = session.table(text, {}).to_pylist()
        assert (row["memory"], int(row["n"])) == (2 << 30, 1)
        with pytest.raises(Unavailable, match="PENSTOCK_STATEMENT_TIMEOUT"):
            session.table("SELECT sum(cityHash64(number)) AS a FROM numbers(1000000000000)", {})


def test_nothing_of_a_failed_statement_stands_before_the_next_ones_rows(folder: Tables) -> None:
    failing = "SELECT throwIf(number = 900000, 'canary') AS a FROM numbers(1000000)"
    with reading(folder.address) as session:
        for _ in range(3):
            with pytest.raises(Unavailable):
                session.table(failing, {})
            assert session.table("SELECT 7 AS b", {}).to_pylist() == [{"b": 7}]
