"""Read Parquet cells that the engine refuses to read, and replace each by a missing one.

One text that is not UTF-8, one moment out of range, or one decimal that needs more bytes than its
digits, would make every query on its column fail,
and the refusal would reveal that cell.  If the engine fails, Arrow reads the columns that can hold
such cells once more, and checks each cell by itself; a bad one becomes null, like any other cell
that cannot be read as its type.  All other cells read as before, so that no row affects how another
is read.

Times of day and nested values can hold such cells as well, and no declared type reads them: columns
of these types are refused when a dataset is registered, and are read as null in datasets that were
registered before this rule.
"""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from penstock.connectors.duckdb.parquet_decimals import (
    DIGITS,
    BytesDecimal,
    with_storage,
    within_digits,
)
from penstock.connectors.duckdb.source_file import SourceFile, arrow_types, parquet_schema
from penstock.connectors.planning.refusals import pointer
from penstock.connectors.specs.models import DatasetSpec
from penstock.errors import InvalidInput

if TYPE_CHECKING:
    import duckdb

TABLE: Final = "repaired"
"""The temporary table of the columns that were read by Arrow, with each row's number."""

NUMBER: Final = "number"

_NO_TYPE: Final = (
    "The file's column is of type {}, which no declared type can be read from; leave it out, or"
    " write it as texts or numbers, one to a cell."
)
_FIRST: Final = -(2**63)
_FIRST_WHOLE_DAY: Final = -9_223_372_022_400_000_000
_INFINITY: Final = 2**63 - 1
"""Moments in microseconds: the first that there are, the first at a midnight, and infinity."""

_MICROSECONDS: Final = {"s": 1_000_000, "ms": 1_000, "us": 1}


def types(file: SourceFile) -> dict[str, Any]:
    """Return each column's type, from the file's footer; no types for a CSV file.

    They are Arrow's, and ``BytesDecimal`` for decimals that are stored as bytes.
    """
    if file.format != "parquet":
        return {}
    return with_storage(arrow_types(file), parquet_schema(file))


def check_types(dataset: DatasetSpec, file: SourceFile) -> None:
    """Raise ``InvalidInput`` for declared columns that the file's types make unreadable."""
    kinds = types(file)
    places = [
        (
            pointer("columns", name),
            _NO_TYPE.format(kinds[name]),
        )
        for name in dataset.columns
        if name in kinds and unreadable(kinds[name])
    ]
    if places:
        raise InvalidInput(f"{places[0][0]}: {places[0][1]}", errors=places)


def unreadable(kind: Any) -> bool:
    """Return True if all cells of this type are read as null."""
    import pyarrow.types as of

    if isinstance(kind, BytesDecimal):
        return not kind.readable
    if of.is_dictionary(kind):
        return unreadable(kind.value_type)
    return bool(of.is_nested(kind) or of.is_time(kind))


def text(kind: Any, cell: str) -> str:
    """Return the SQL of a cell as text, for a column of an Arrow type (``None`` if it is text).

    A decimal with more digits than its type has is none: nothing keeps it out of a file, and the
    engine fails at it, or writes what else is in its memory.
    """
    import pyarrow.types as of

    if isinstance(kind, BytesDecimal):
        kind = kind.kind
    if kind is not None and of.is_dictionary(kind):
        kind = kind.value_type
    if kind is not None and of.is_decimal(kind) and 0 <= kind.scale <= kind.precision <= DIGITS:
        most = f"{'9' * (kind.precision - kind.scale) or '0'}.{'9' * kind.scale or '0'}"
        own = f"DECIMAL({kind.precision}, {kind.scale})"
        bounds = f"CAST('-{most}' AS {own}) AND CAST('{most}' AS {own})"
        # Within the cast: of a column in a dictionary the engine casts what no row selects.
        cell = f"CASE WHEN {cell} BETWEEN {bounds} THEN {cell} END"
    return f"TRY_CAST({cell} AS VARCHAR)"


def repairable(kind: Any) -> bool:
    """Return True if a single cell of this type may make the engine fail."""
    import pyarrow.types as of

    if kind is None:
        return False
    if isinstance(kind, BytesDecimal):
        return kind.may_fail
    if of.is_dictionary(kind):
        return repairable(kind.value_type)
    if _is_json(kind):
        return True
    if of.is_timestamp(kind):
        return kind.unit in _MICROSECONDS and (kind.unit, kind.tz is None) != ("us", False)
    return bool(of.is_string(kind) or of.is_large_string(kind) or of.is_string_view(kind))


def read(
    connection: "duckdb.DuckDBPyConnection", file: SourceFile, columns: Mapping[str, str]
) -> None:
    """Put columns of the file into ``TABLE``, by name and alias, with null for bad cells.

    Raises Arrow's errors for a file that cannot be read to its end.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    begun = 0
    with pq.ParquetFile(file.path) as opened:
        for batch in _batches(opened, columns):
            numbers = pa.array(range(begun, begun + len(batch)), pa.int64())
            cells = {alias: repaired(batch.column(name)) for name, alias in columns.items()}
            connection.register("batch", pa.table({NUMBER: numbers, **cells}))
            # The table's name is not from outside.
            verb = f"INSERT INTO {TABLE}" if begun else f"CREATE TEMP TABLE {TABLE} AS"
            connection.execute(f"{verb} SELECT * FROM batch")  # noqa: S608
            connection.unregister("batch")
            begun += len(batch)


def _batches(opened: Any, columns: Mapping[str, str]) -> Iterable[Any]:
    """Yield the batches of the file, or one empty batch with the columns' types."""
    import pyarrow as pa

    empty = True
    for batch in opened.iter_batches(columns=list(columns)):
        if len(batch):
            empty = False
            yield batch
    if empty:
        schema = pa.schema([opened.schema_arrow.field(name) for name in columns])
        yield pa.RecordBatch.from_pylist([], schema=schema)


def repaired(cells: Any) -> Any:
    """Return cells of a ``repairable`` type as what they are, with null for bad ones."""
    import pyarrow as pa
    import pyarrow.types as of

    if of.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if _is_json(cells.type):
        cells = cells.storage
    if of.is_decimal(cells.type):
        return within_digits(cells)
    return _moments(cells) if of.is_timestamp(cells.type) else _texts(cells, pa)


def _is_json(kind: Any) -> bool:
    """Return True for texts that the engine would check to be JSON, and fail at the first bad one.

    As other texts they are read as they are.
    """
    import pyarrow as pa

    return isinstance(kind, pa.BaseExtensionType) and kind.extension_name == "arrow.json"


def _texts(cells: Any, pa: Any) -> Any:
    try:
        cells.validate(full=True)
    except pa.ArrowInvalid:
        return pa.array(map(_text, _bytes(cells, pa)), pa.large_string())
    return cells.cast(pa.large_string())


def _bytes(cells: Any, pa: Any) -> Sequence[bytes | None]:
    """Return the cells as bytes, without decoding them."""
    contents: Sequence[bytes | None] = cells.cast(pa.large_binary()).to_pylist()
    return contents


def _text(cell: bytes | None) -> str | None:
    try:
        return None if cell is None else cell.decode()
    except UnicodeDecodeError:
        return None


@functools.cache
def _earliest() -> int:
    """Return the first moment without a zone that the engine reads, in microseconds.

    DuckDB 2.0.0 fails at the hours of the first day that are there, and 2.0.1 reads them.  A cell
    that is missing here and is read elsewhere would depend on the file's other cells.
    """
    import duckdb

    # A database of its own: the failure ends all that its database could do.
    with duckdb.connect(":memory:") as connection:
        try:
            connection.execute("SELECT CAST(make_timestamp(?) AS VARCHAR)", [_FIRST]).fetchall()
        except duckdb.Error:
            return _FIRST_WHOLE_DAY
    return _FIRST


def _moments(cells: Any) -> Any:
    """Return moments in microseconds, as the engine reads them; null if it has none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    factor = _MICROSECONDS[cells.type.unit]
    whole, nothing = cells.view(pa.int64()), pa.scalar(None, pa.int64())
    first = _earliest() if cells.type.tz is None else -_INFINITY
    fits = pc.and_(
        pc.less_equal(whole, _INFINITY // factor),
        pc.greater_equal(whole, -(-first // factor)),
    )
    finite = pc.multiply(pc.if_else(fits, whole, nothing), factor)
    endless = pc.or_(pc.equal(whole, _INFINITY), pc.equal(whole, -_INFINITY))
    return pc.if_else(endless, whole, finite).view(pa.timestamp("us", cells.type.tz))
