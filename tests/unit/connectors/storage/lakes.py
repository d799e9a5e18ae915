"""Provide stores in memory and on the tests' S3 server, and Parquet objects in them."""

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import obstore
import pyarrow as pa
import pyarrow.parquet as pq
from obstore.store import MemoryStore
from tests.databases.object_store import ACCESS_KEY, REGION, SECRET_KEY

from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.storage.access import Access, access_of
from penstock.connectors.storage.stores.bucket import Bucket
from penstock.connectors.storage.stores.objects import StoredObject

ROOT = "s3://lake/"


class Memory(Bucket):
    """Represent a bucket in memory, which counts the bytes that are read of it."""

    def __init__(self) -> None:
        self.objects = MemoryStore()
        super().__init__(self.objects, ROOT)
        self.read_bytes = 0
        self.largest_read = 0

    def put(self, name: str, content: bytes) -> None:
        obstore.put(self.objects, name, content)

    def put_table(self, name: str, columns: Mapping[str, Any], **how: Any) -> None:
        self.put(name, parquet(columns, **how))

    def read(self, item: StoredObject, begin: int, end: int) -> bytes:
        self.read_bytes += end - begin
        self.largest_read = max(self.largest_read, end - begin)
        return super().read(item, begin, end)

    def under(self, folder: str) -> Iterator[StoredObject]:
        return reversed(list(super().under(folder)))  # stores need not sort by bytes


def parquet(columns: Mapping[str, Any], **how: Any) -> bytes:
    """Return a Parquet file of these columns."""
    stream = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), stream, **how)
    return stream.getvalue()


def parquet_of_decimals_in_bytes(cells: Sequence[bytes]) -> bytes:
    """Return a Parquet file whose column ``a`` has decimals of 9 digits, each of its own length.

    Arrow does not write these, so that the footer of a column of bytes is made to say so, in
    Thrift's compact protocol: converted type 5, scale 0, precision 9.
    """
    content = parquet({"a": pa.array(cells, pa.binary())}, store_schema=False)
    begin = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    column = b"\x15\x0c\x25\x02\x18\x01a"
    assert content[begin:-8].count(column + b"\x00") == 1
    footer = content[begin:-8].replace(column + b"\x00", column + b"\x25\x0a\x15\x00\x15\x12\x00")
    return content[:begin] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def s3_setting(endpoint: str, **more: object) -> str:
    """Return what an operator sets for a bucket of an S3 server without TLS."""
    return json.dumps(
        {
            "store": "s3",
            "endpoint": endpoint,
            "region": REGION,
            "access_key_id": ACCESS_KEY,
            "secret_access_key": SECRET_KEY,
            "allow_http": True,
            **more,
        }
    )


def s3_access(endpoint: str, **more: object) -> Access:
    return access_of(s3_setting(endpoint, **more), "lake")


def dataset(**columns: str) -> DatasetSpec:
    """Return a dataset in a bucket, with these columns and types."""
    return DatasetSpec.model_validate(
        {
            "name": "visits",
            "source": {"engine": "duckdb", "connection": "lake", "uri": "s3://lake/*.parquet"},
            "privacy_unit": {"rows": 1},
            "neighboring": "add_remove",
            "columns": {name: {"type": kind} for name, kind in columns.items()},
        }
    )
