"""An address is of a store and of nothing else on this machine or its network."""

import pytest

from penstock.connectors.storage.address import parsed
from penstock.errors import InvalidInput


@pytest.mark.parametrize(
    "uri",
    [
        "s3://lake/visits.parquet",
        "s3://lake/a b/é/*.parquet",
        "gs://lake/**/visits-*.parquet",
        "az://lake/visits.json",
        "https://data.example.org:8443/a/visits.parquet",
        "delta+s3://lake/tables/visits",
        "delta+gs://lake/tables/visits?version=0",
        "iceberg+s3://lake/t/metadata/00001-a.metadata.json",
        "iceberg+s3://lake/t/metadata/v3.metadata.json?snapshot=3672121472969981513",
    ],
)
def test_an_address_is_read_and_written_the_same(uri: str) -> None:
    assert str(parsed(uri)) == uri


def test_a_table_has_a_version_once_it_is_pinned() -> None:
    address = parsed("delta+s3://lake/visits/")
    assert (address.table, address.pin, address.path) == ("delta", None, "visits")
    assert str(address.pinned(7)) == "delta+s3://lake/visits?version=7"


@pytest.mark.parametrize(
    "uri",
    [
        # Not of this machine, and by no other scheme.
        *("file:///etc/passwd", "file://localhost/data/visits.parquet", "memory://a/b.parquet"),
        *("delta+file:///data/visits", "ftp://host/a.parquet", "visits.parquet", "data://a/b.csv"),
        "iceberg+file:///t/metadata/v1.metadata.json",
        # No user, password, port of a bucket, escape or step upwards.
        *("https://user:secret@host/a.parquet", "s3://key:secret@lake/a.parquet"),
        *("https://[::1]/a.parquet", "https://host/%2e%2e/a.parquet", "https://host/../a.parquet"),
        *("s3://lake/../other/a.parquet", "s3://lake//a.parquet", "s3://lake/./a.parquet"),
        *("s3://lake/a\\b.parquet", "s3://lake/a.parquet#x", "s3://lake/a\n.parquet"),
        *("s3:///a.parquet", "s3://lake", "s3://lake/", "s3://*/a.parquet"),
        # What cannot be read from there.
        *("s3://lake/visits.csv", "s3://lake/visits", "s3://lake/*", "s3://lake/*.json"),
        *("https://host/*.parquet", "https://host/a.parquet?X-Amz-Signature=secret"),
        *("delta+https://host/visits", "delta+s3://lake/*", "delta+s3://lake/v?snapshot=1"),
        *("delta+s3://lake/v?version=x", "iceberg+s3://lake/t", "hudi+s3://lake/t"),
        "s3://lake/visits.parquet?version=1",
        "s3://lake/" + "a" * 3000 + ".parquet",
    ],
)
def test_anything_else_is_refused_at_its_place_and_not_repeated(uri: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parsed(uri)
    assert [place for place, _ in refused.value.errors] == ["/source/uri"]
    assert uri not in refused.value.detail
    assert "secret" not in refused.value.detail
