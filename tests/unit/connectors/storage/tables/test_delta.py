"""A Delta table is read at the version that was registered, and as its files show it."""

import datetime as dt
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.databases.object_store import ACCESS_KEY, REGION, SECRET_KEY, ObjectStore
from tests.unit.connectors.storage.answering import Request, answering
from tests.unit.connectors.storage.lakes import dataset, s3_access

from penstock.connectors.storage.access import Access
from penstock.connectors.storage.lake import Lake, located, registered
from penstock.connectors.storage.tables import delta
from penstock.errors import InvalidInput, SourceChanged, Unavailable

KEY = bytes(range(32))
ROWS = pa.table(
    {
        "person": ["ann", "bob", "eve"],
        "ward": ["a b", "\u00e9/=", None],
        "day": [dt.date(2026, 1, 1), dt.date(2026, 1, 2), None],
        "at": pa.array([1, None, 10**15 + 5], pa.timestamp("us", "UTC")),
        "urgent": [True, False, None],
    }
)
pytestmark = pytest.mark.slow


class Table:
    """Represent a Delta table in a bucket of its own."""

    def __init__(self, server: ObjectStore) -> None:
        self.access: Access = s3_access(server.url)
        self.place = f"s3://{server.bucket()}/lake/visits"
        self.options = {
            "AWS_ENDPOINT_URL": server.url,
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_REGION": REGION,
            "AWS_S3_ALLOW_UNSAFE_RENAME": "true",
        }

    def write(self, rows: pa.Table, **how: Any) -> None:
        write_deltalake(self.place, rows, storage_options=self.options, **how)

    def located(self, pin: str = "") -> Lake:
        return located(self.access, f"delta+{self.place}{pin}")

    def vacuum(self) -> None:
        table = DeltaTable(self.place, storage_options=self.options)
        table.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)


@pytest.fixture
def table(object_store: ObjectStore) -> Table:
    return Table(object_store)


def cells(lake: Lake, *names: str) -> list[tuple[str | None, ...]]:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("rows", lake.relation({name: name for name in names}))
        columns = ", ".join(f'CAST("{name}" AS VARCHAR)' for name in names)
        return connection.execute(f"SELECT {columns} FROM rows ORDER BY ALL").fetchall()  # noqa: S608


def test_partitioned_columns_read_as_those_in_files(table: Table) -> None:
    names = ROWS.column_names
    table.write(ROWS)
    plain = table.located()
    parted = Table.__new__(Table)
    parted.__dict__.update(table.__dict__, place=table.place + "2")
    parted.write(ROWS, partition_by=["ward", "day", "at", "urgent"])
    lake = parted.located()
    assert len(lake.parts) == 3
    assert cells(lake, *names) == cells(plain, *names)
    assert cells(lake, "day") == [("2026-01-01",), ("2026-01-02",), (None,)]
    lake.check(dataset(person="string", day="date", urgent="boolean"))


def test_a_version_is_pinned_and_read_again_when_there_are_later_ones(table: Table) -> None:
    table.write(ROWS)
    lake = table.located()
    assert str(lake.address) == f"delta+{table.place}?version=0"
    table.write(ROWS, mode="append")
    again = registered(table.access, str(lake.address), KEY, lake.fingerprint(KEY))
    assert len(cells(again, "person")) == 3
    assert len(cells(table.located(), "person")) == 6
    assert table.located().fingerprint(KEY) != lake.fingerprint(KEY)


def test_a_version_whose_files_were_removed_is_a_change(table: Table) -> None:
    table.write(ROWS, partition_by=["person"])
    lake = table.located()
    table.write(ROWS.slice(0, 1), mode="overwrite")
    table.vacuum()
    with pytest.raises(SourceChanged, match="vacuum") as changed:
        registered(table.access, str(lake.address), KEY, lake.fingerprint(KEY))
    assert "person=" not in changed.value.detail
    with pytest.raises(SourceChanged, match="Version 7 of the Delta table"):
        registered(table.access, f"delta+{table.place}?version=7", KEY, lake.fingerprint(KEY))


def test_what_is_no_table_is_refused(table: Table) -> None:
    with pytest.raises(InvalidInput, match="no Delta table"):
        table.located()
    with pytest.raises(InvalidInput, match="no Delta table"):
        located(table.access, "delta+s3://no-such-bucket/visits")


def test_another_table_of_the_same_name_is_a_change(table: Table) -> None:
    table.write(ROWS)
    before = table.located().fingerprint(KEY)
    table.place += "2"
    table.write(ROWS)
    assert table.located().fingerprint(KEY) != before


@pytest.mark.parametrize(
    ("configuration", "word"),
    [
        ({"delta.enableDeletionVectors": "true"}, None),  # allowed, and none is there
        ({"delta.columnMapping.mode": "name"}, "maps its columns"),
    ],
)
def test_a_table_whose_files_do_not_show_its_rows_is_refused(
    table: Table, configuration: dict[str, str], word: str | None
) -> None:
    """Asked of the check itself: the library that writes tables here makes none of these."""

    class Protocol:
        min_reader_version = 3
        reader_features: tuple[str, ...] = ("deletionVectors", "columnMapping")

    class Opened:
        def __init__(self) -> None:
            self.vectors: list[object] = []

        def protocol(self) -> Protocol:
            return Protocol()

        def metadata(self) -> Any:
            return type("Metadata", (), {"configuration": configuration})()

        def deletion_vectors(self) -> list[object]:
            return self.vectors

    opened = Opened()
    if word is not None:
        with pytest.raises(InvalidInput, match=word):
            delta._require_plain(opened)
        return
    delta._require_plain(opened)
    opened.vectors = ["a batch"]
    with pytest.raises(InvalidInput, match="deletion vectors"):
        delta._require_plain(opened)
    Protocol.reader_features = ("typeWidening",)
    with pytest.raises(InvalidInput, match="typeWidening"):
        delta._require_plain(opened)


def test_a_bucket_that_refuses_is_reported_without_what_it_wrote() -> None:
    def refusing(request: Request) -> None:
        request.reply(403, b"<Error><Code>AccessDenied</Code><Message>cell</Message></Error>")

    with answering(refusing) as host, pytest.raises(Unavailable, match=r"\(403\)") as refused:
        located(s3_access(f"http://{host}"), "delta+s3://lake/visits")
    assert SECRET_KEY not in refused.value.detail
    assert "cell" not in refused.value.detail
