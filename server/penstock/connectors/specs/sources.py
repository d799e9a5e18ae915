"""State which fields a source has under each engine, and what has to be installed for it.

* **files** (``duckdb``): a path below the folder of data; or an address in a bucket, and then the
  connection under which the server reads it.
* **warehouses**: a connection, and a view by its name there.
* **vectors**: neither, since values are pushed.
"""

import importlib.util
import re
from collections.abc import Iterator
from typing import Final

from penstock.connectors.planning.refusals import pointer, refusal
from penstock.connectors.specs.models import DatasetSpec, Engine, SourceSpec

VECTORS: Final[Engine] = "vector"
FILES: Final[Engine] = "duckdb"

BUCKETS = ("s3://", "gs://", "az://", "https://")
"""How an address in a bucket begins."""

EXTRAS: Final[dict[Engine, tuple[str, tuple[str, ...]]]] = {
    "postgresql": ("postgresql-data", ("adbc_driver_postgresql", "psycopg")),
    "spark": ("spark", ("pyspark",)),
    "clickhouse": ("clickhouse", ("chdb",)),
    "trino": ("trino", ("trino",)),
    "bigquery": ("bigquery", ("google.cloud.bigquery",)),
    "snowflake": ("snowflake", ("snowflake.connector",)),
}
"""By the name of each warehouse's engine, its extra and the modules that it needs."""

STORAGE: Final = ("storage", ("obstore",))
"""The same for files in buckets."""

CONNECTED: Final[frozenset[Engine]] = frozenset(
    {FILES, VECTORS, "postgresql", "spark", "clickhouse", "trino", "bigquery", "snowflake"}
)
"""The engines that this version has a connector for."""

_AT: Final = pointer("source", "engine")
_CONNECTION = re.compile("[A-Za-z0-9][A-Za-z0-9_-]*")
_VIEW = re.compile(r"[^\W\d][\w$-]*(\.[^\W\d][\w$-]*){1,2}")


TABLES = ("delta+", "iceberg+")
"""What stands in front of the address of a table in a bucket."""


def in_bucket(source: SourceSpec) -> bool:
    """Return True if the source is in a bucket, or at another address that begins like one."""
    uri = (source.uri or "").lower()
    address = next((uri.removeprefix(each) for each in TABLES if uri.startswith(each)), uri)
    return address.startswith((*BUCKETS, "http://"))


def is_table(source: SourceSpec) -> bool:
    """Return True if the source is a table in a bucket, which has versions."""
    return in_bucket(source) and (source.uri or "").lower().startswith(TABLES)


def check_fields(source: SourceSpec) -> Iterator[tuple[str, str]]:
    """Yield the places of a source that do not agree with its engine, each with a sentence."""
    if source.engine == VECTORS:
        yield from _only(source, (), "Vectors are pushed, so there is no {field}; leave this out.")
    elif source.engine == FILES:
        yield from _of_files(source)
    else:
        yield from _of_a_view(source)
    if source.connection is not None and not _CONNECTION.fullmatch(source.connection):
        yield (
            pointer("source", "connection"),
            (
                "A connection's name has ASCII letters, digits, _ and - only, since it is part of a"
                " variable's name."
            ),
        )


def require_engine(dataset: DatasetSpec) -> None:
    """Raise ``InvalidInput`` for an engine that is not installed, or that has no connector yet."""
    engine = dataset.source.engine
    require_installed(engine, stores=in_bucket(dataset.source))
    if engine not in CONNECTED:
        raise refusal([(_AT, f"This version of Penstock has no connector for {engine} yet.")])


def require_installed(engine: Engine, *, stores: bool) -> None:
    """Raise ``InvalidInput``, with what to install, if an engine's extra is missing.

    ``stores`` means files in buckets.
    """
    extra = STORAGE if stores else EXTRAS.get(engine)
    if extra is not None and not all(map(_is_installed, extra[1])):
        sentence = (
            f"The server cannot read from {'buckets' if stores else engine} yet: install what it"
            f" needs with `pip install 'penstock[{extra[0]}]'` and start it again."
        )
        raise refusal([(_AT, sentence)])


def _of_files(source: SourceSpec) -> Iterator[tuple[str, str]]:
    yield from _only(source, ("uri", "connection"), "Files have no {field}; leave this out.")
    if source.uri is None:
        yield pointer("source", "uri"), "Name the CSV or Parquet file."
    elif in_bucket(source) and source.connection is None:
        yield (
            pointer("source", "uri"),
            (
                "This is an address in a bucket: name the connection under which the server reads"
                " it, which the operator sets, or a file on the server's machine."
            ),
        )
    elif not in_bucket(source) and source.connection is not None:
        yield (
            pointer("source", "connection"),
            (
                "A file on the server's machine needs no connection; leave this out, or name an"
                f" address that begins with {', '.join(BUCKETS[:-1])} or {BUCKETS[-1]}."
            ),
        )


def _of_a_view(source: SourceSpec) -> Iterator[tuple[str, str]]:
    yield from _only(
        source,
        ("connection", "table"),
        f"Data on {source.engine} are in a table or view, so there is no {{field}}; leave this"
        " out.",
    )
    if source.connection is None:
        yield (
            pointer("source", "connection"),
            (
                "Name the connection under which the server reads it, which the operator sets, for"
                ' example "warehouse".'
            ),
        )
    if source.table is None or not _VIEW.fullmatch(source.table):
        yield (
            pointer("source", "table"),
            (
                "Name the view as schema.view or catalog.schema.view, for example"
                ' "public.visits"; each part is letters, digits, _, - and $.'
            ),
        )


def _only(source: SourceSpec, fields: tuple[str, ...], sentence: str) -> Iterator[tuple[str, str]]:
    words = {"uri": "file", "connection": "connection", "table": "table"}
    for field, word in words.items():
        if field not in fields and getattr(source, field) is not None:
            yield pointer("source", field), sentence.format(field=word)


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # a package around it is missing
        return False
