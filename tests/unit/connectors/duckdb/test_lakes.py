"""Rows in a bucket are answered as the same rows in a file, to the bit, and so are bad cells."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import obstore
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from pydantic import SecretStr
from tests.databases.object_store import ACCESS_KEY, SECRET_KEY, ObjectStore
from tests.support.thorough import by_count
from tests.unit.connectors.cases import KEY, SALT, VISITS, dataset_of, stated
from tests.unit.connectors.storage.answering import Request, answering
from tests.unit.connectors.storage.lakes import parquet, s3_setting

from penstock.connectors.connections import Connections
from penstock.connectors.planning.prepare import answer, check_registered, check_source, fingerprint
from penstock.connectors.sources import Sources
from penstock.connectors.specs.correlated import CorrelatedQuery
from penstock.connectors.specs.histograms import HistogramQuery
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec
from penstock.connectors.statements.decoding import decoded
from penstock.errors import InvalidInput, SourceChanged, Unavailable

SEED = 20_261_125
pytestmark = pytest.mark.slow

BOUNDED = {"max_groups": 2, "max_rows_per_group": 2}
BY_WARD = {"group_by": ["ward"], "contribution": BOUNDED}
QUERIES: list[ComputedQuery] = [
    model.model_validate({"name": "question", "dataset": "visits", **fields})
    for model, fields in (
        (ComputedQuery, {"aggregate": {"type": "count_units"}, **BY_WARD}),
        (ComputedQuery, {"aggregate": {"type": "count"}, **BY_WARD}),
        (ComputedQuery, {"aggregate": {"type": "sum", "column": "cost"}, **BY_WARD}),
        (ComputedQuery, {"aggregate": {"type": "mean", "column": "age"}, **BY_WARD}),
        (
            ComputedQuery,
            {
                "aggregate": {"type": "histogram", "column": "age", "bins": [0, 30, 60, 120]},
                "group_by": ["day"],
                "where": [{"column": "urgent", "op": "=", "value": True}],
                "contribution": BOUNDED,
            },
        ),
        (
            ComputedQuery,
            {
                "aggregate": {"type": "uncategorized", "column": "ward"},
                "contribution": {"max_rows_per_group": 2},
            },
        ),
        (
            CorrelatedQuery,
            {
                "structure": "correlated",
                "aggregate": {"type": "count_units"},
                **BY_WARD,
                "contribution": {"max_groups": 3, "max_rows_per_group": 2},
            },
        ),
        (
            HistogramQuery,
            {
                "structure": "sparse_histogram",
                "domain": {"type": "sha256_64"},
                "aggregate": {"type": "count"},
                **BY_WARD,
            },
        ),
    )
]

TEXTS = st.sampled_from([b"a", b"b", b"c", b"", b"\xff", b"so\xff\xfeuth", b"\xc3\xa9", None])
NUMBERS = st.sampled_from([0.0, -0.0, 1.26, 49.75, 1e300, float("nan"), float("inf"), None])
ROWS = st.lists(
    st.tuples(
        st.sampled_from([b"p0", b"p1", b"p2", b"\xfe", None]),
        TEXTS,
        st.sampled_from([0, 29, 30, 120, -1, 2**62, None]),
        NUMBERS,
        st.sampled_from([True, False, None]),
        st.sampled_from([0, 1, 20454, 2**31 - 1, -(2**31), None]),
    ),
    min_size=1,
    max_size=12,
)


def texts(cells: Sequence[bytes | None]) -> pa.Array:
    """Return cells that say that they are UTF-8, whether they are or not."""
    raw = pa.array(cells, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(cells), raw.buffers(), raw.null_count)


def columns_of(rows: Sequence[tuple[Any, ...]]) -> dict[str, pa.Array]:
    person, ward, age, cost, urgent, day = zip(*rows, strict=True)
    return {
        "person": texts(person),
        "ward": texts(ward),
        "age": pa.array(age, pa.int64()),
        "cost": pa.array(cost, pa.float64()),
        "urgent": pa.array(urgent, pa.bool_()),
        "day": pa.array(day, pa.int32()).view(pa.date32()),
    }


class Bucket:
    """Represent a bucket, the datasets in it, and the answers that they give."""

    def __init__(self, server: ObjectStore) -> None:
        self.name = server.bucket()
        self.inside = server.opened(self.name)
        self.sources = sources(server.url)
        self.numbers = itertools.count()

    def put(self, name: str, content: bytes) -> None:
        obstore.put(self.inside, name, content)

    def dataset(self, path: str, **more: Any) -> DatasetSpec:
        uri = f"s3://{self.name}/{path}"
        source = {"engine": "duckdb", "connection": "lake", "uri": uri}
        return dataset_of(source=source, **more)

    def ask(self, dataset: DatasetSpec, query: ComputedQuery, threads: int = 1) -> list[int]:
        using = Sources(threads=threads, connections=self.sources.connections)
        return answered(dataset, query, fingerprint(dataset, KEY, using), using)


def sources(endpoint: str, **more: object) -> Sources:
    setting = SecretStr(s3_setting(endpoint, **more))
    return Sources(connections=Connections({"lake": setting}))


def answered(dataset: DatasetSpec, query: ComputedQuery, known: bytes, using: Sources) -> list[int]:
    numbers: list[int] = answer(
        dataset,
        stated(dataset, query),
        salt=SALT,
        fingerprint_key=KEY,
        fingerprint=known,
        sources=using,
    ).steps.tolist()
    return numbers


@pytest.fixture
def bucket(object_store: ObjectStore) -> Bucket:
    return Bucket(object_store)


@seed(SEED)
@settings(max_examples=by_count(3, 60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, cut=st.integers(0, 12), threads=st.sampled_from([1, 3]))
def test_a_file_and_the_same_rows_in_several_objects_give_the_same_vectors(
    bucket: Bucket, tmp_path: Path, rows: list[tuple[Any, ...]], cut: int, threads: int
) -> None:
    pq.write_table(pa.table(columns_of(rows)), tmp_path / "visits.parquet")
    parts = [part for part in (rows[:cut], rows[cut:]) if part]
    folder = f"run-{next(bucket.numbers)}"
    for place, part in enumerate(parts):
        bucket.put(f"{folder}/{place}.parquet", parquet(columns_of(part), row_group_size=2))
    here, there = dataset_of("visits.parquet"), bucket.dataset(f"{folder}/*.parquet")
    using = Sources(tmp_path, threads=1)
    known = fingerprint(here, KEY, using)
    for query in QUERIES:
        expected = answered(here, query, known, using)
        assert bucket.ask(there, query, threads) == expected, query.aggregate


def test_a_dataset_is_checked_by_its_footers_and_an_engine_that_is_asked(bucket: Bucket) -> None:
    rows = [(b"p0", b"a", 1, 1.0, True, 0)]
    bucket.put("visits.parquet", parquet(columns_of(rows)))
    check_source(bucket.dataset("visits.parquet"), bucket.sources)
    bucket.put("other.parquet", parquet({"person": ["p0"]}))
    with pytest.raises(InvalidInput) as refused:
        check_source(bucket.dataset("*.parquet"), bucket.sources)
    assert [place for place, _ in refused.value.errors] == [
        f"/columns/{name}" for name in VISITS if name != "person"
    ]


def test_an_object_that_is_replaced_while_it_is_read_releases_nothing(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    from penstock.connectors.storage.lake import Lake

    rows = [(b"p0", b"a", 1, 1.0, True, 0)]
    bucket.put("visits.parquet", parquet(columns_of(rows)))
    dataset = bucket.dataset("visits.parquet")
    known = fingerprint(dataset, KEY, bucket.sources)
    usual = Lake.relation

    def replacing(lake: Lake, *arguments: Any) -> Any:
        relation = usual(lake, *arguments)
        bucket.put("visits.parquet", parquet(columns_of(rows * 2)))
        return relation

    monkeypatch.setattr(Lake, "relation", replacing)
    with pytest.raises(SourceChanged, match="Nothing was released"):
        answered(dataset, QUERIES[0], known, bucket.sources)


def test_an_object_that_is_added_while_others_are_read_releases_nothing(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read is right; but who registered the pattern is told that it is another set now."""
    from penstock.connectors.duckdb import streamed

    rows = [(b"p0", b"a", 1, 1.0, True, 0)]
    bucket.put("1.parquet", parquet(columns_of(rows)))
    dataset = bucket.dataset("*.parquet")
    known = fingerprint(dataset, KEY, bucket.sources)
    usual = decoded

    def adding(*arguments: Any) -> Any:
        bucket.put("2.parquet", parquet(columns_of(rows)))
        return usual(*arguments)

    monkeypatch.setattr(streamed, "decoded", adding)
    with pytest.raises(SourceChanged):
        answered(dataset, QUERIES[0], known, bucket.sources)


def test_the_engine_is_locked_and_never_has_the_credentials(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    from penstock.connectors.duckdb import source

    bucket.put("visits.parquet", parquet(columns_of([(b"p0", b"a", 1, 1.0, True, 0)])))
    seen: list[str] = []
    usual = source.lock

    def locking(connection: Any, file: Any) -> None:
        usual(connection, file)
        assert file is None
        settings = dict(connection.execute("SELECT name, value FROM duckdb_settings()").fetchall())
        assert settings["enable_external_access"] == "false"
        assert settings["allowed_paths"] == "[]"
        seen.extend(map(str, connection.execute("FROM duckdb_views()").fetchall()))
        seen.extend(map(str, settings.values()))

    monkeypatch.setattr(source, "lock", locking)
    assert bucket.ask(bucket.dataset("visits.parquet"), QUERIES[0]) == [1, 0, 0]
    for hidden in (SECRET_KEY, ACCESS_KEY, bucket.name):
        assert not any(hidden in text and "lake" in text for text in seen)


@pytest.mark.parametrize("status", [403, 500])
def test_a_bucket_that_refuses_changes_nothing_and_is_asked_again(
    object_store: ObjectStore, bucket: Bucket, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from penstock.connectors.storage.stores import bucket as module

    monkeypatch.setattr(module, "_RETRIES", 0)
    bucket.put("visits.parquet", parquet(columns_of([(b"p0", b"a", 1, 1.0, True, 0)])))
    dataset = bucket.dataset("visits.parquet")
    known = fingerprint(dataset, KEY, bucket.sources)

    def refusing(request: Request) -> None:
        request.reply(status, b"<Error><Message>p0</Message></Error>")

    with answering(refusing) as host:
        refused = sources(f"http://{host}")
        for attempt in (
            lambda: check_source(dataset, refused),
            lambda: fingerprint(dataset, KEY, refused),
            lambda: check_registered(
                dataset, fingerprint_key=KEY, fingerprint=known, sources=refused
            ),
            lambda: answered(dataset, QUERIES[0], known, refused),
        ):
            with pytest.raises(Unavailable, match=str(status)) as raised:
                attempt()
            assert SECRET_KEY not in raised.value.detail
            assert "p0" not in raised.value.detail
    assert answered(dataset, QUERIES[0], known, bucket.sources) == [1, 0, 0]


def test_a_connection_that_is_missing_or_for_something_else_is_named(bucket: Bucket) -> None:
    dataset = bucket.dataset("visits.parquet")
    with pytest.raises(InvalidInput) as refused:
        check_source(dataset, Sources())
    assert refused.value.errors[0][0] == "/source/connection"
    web = SecretStr(json.dumps({"store": "http", "hosts": ["example.org"]}))
    with pytest.raises(InvalidInput) as refused:
        check_source(dataset, Sources(connections=Connections({"lake": web})))
    assert refused.value.errors[0][0] == "/source/uri"
