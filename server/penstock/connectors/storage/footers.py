"""Read the footers of a dataset's Parquet objects: names and types of columns, and no cell.

All objects must have the declared columns, each of one type.  Types are compared as the engine
reads them, so that dictionaries and the widths of texts make no difference.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from penstock.connectors.duckdb.parquet_cells import unreadable
from penstock.connectors.duckdb.parquet_decimals import with_storage
from penstock.connectors.planning.refusals import pointer
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.storage.arrow_cells import engine_type, is_exact
from penstock.connectors.storage.failures import Missing, Replaced, changed, missing
from penstock.connectors.storage.stores.object_file import ObjectFile
from penstock.connectors.storage.stores.objects import AT_ONCE, Part, Store, StoredObject
from penstock.errors import InvalidInput, PenstockError

MOST_PLACES: Final = 20
"""The most places that are named in one refusal."""

_ID: Final = b"PARQUET:field_id"

Schema = Mapping[str, Any]
"""The Arrow field of each column, by its declared name; ``None`` for a name that is there twice.

A decimal at whose cells Arrow may fail is a ``StoredField`` instead.
"""


@dataclass(frozen=True)
class StoredField:
    """Represent a column whose ``type`` says how the file stores it, which Arrow's does not."""

    type: Any


def schemas(store: Store, parts: Sequence[Part]) -> list[Schema]:
    """Return the columns of each part.  Raises ``InvalidInput`` for one that is no Parquet file."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda part: _schema(store, part), parts))


def _schema(store: Store, part: Part) -> Schema:
    try:
        with opened(store, part.item) as parquet:
            named = fields(parquet.schema_arrow, part)
            kinds = {field.name: field.type for field in named.values() if field is not None}
            stored = with_storage(kinds, parquet.schema)
    except InvalidInput:
        raise damaged(_label(part)) from None
    return {
        name: StoredField(stored[field.name])
        if field is not None and unreadable(stored[field.name])
        else field
        for name, field in named.items()
    }


def _label(part: Part) -> str:
    """Return an object's name, for who registers it; those of a table's files hold cells."""
    return "a file of the table" if part.constants or part.ids else f"the object {part.item.name!r}"


def fields(schema: Any, part: Part) -> dict[str, Any]:
    """Return the fields of an object's schema by their names in the dataset, and its constants."""
    import pyarrow as pa

    kinds = {
        name: pa.null() if cell is None else pa.large_string()
        for name, cell in part.constants.items()
    }
    return {
        **_own(schema, part),
        **{name: pa.field(name, kinds[name]) for name in made(schema, part)},
    }


def made(schema: Any, part: Part) -> set[str]:
    """Return the columns whose cells are a constant of the part and not in the object."""
    own = _own(schema, part)
    return {name for name, cell in part.constants.items() if cell is not None or name not in own}


def _own(schema: Any, part: Part) -> dict[str, Any]:
    numbers = {(field.metadata or {}).get(_ID): field for field in schema}
    if part.ids is not None and set(numbers) != {None}:
        numbered = {name: numbers.get(str(number).encode()) for name, number in part.ids.items()}
        return {name: field for name, field in numbered.items() if field is not None}
    named: dict[str, Any] = {}
    for field in schema:
        named[field.name] = None if field.name in named else field
    return named


@contextmanager
def opened(
    store: Store, item: StoredObject, metadata: Any = None, buffer: int = 0
) -> Iterator[Any]:
    """Yield an object as Arrow's ``ParquetFile``, which reads pieces of ``buffer`` bytes if given.

    Raises ``SourceChanged`` for an object that is replaced or gone by now, and ``InvalidInput``
    for one that is not, or not to its end, Parquet.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(
            pa.PythonFile(ObjectFile(store, item), mode="r"),
            metadata=metadata,
            buffer_size=buffer,
            pre_buffer=not buffer,
        ) as parquet:
            yield parquet
    except (Missing, Replaced):
        raise changed("An object was replaced or removed while it was read.") from None
    except PenstockError:
        raise
    except (pa.ArrowException, OSError, ValueError):
        raise damaged("an object") from None


def damaged(label: str) -> InvalidInput:
    """Return the error for an object that is no Parquet file, or not to its end."""
    return missing(
        f"Of the dataset, {label} cannot be read to its end as Parquet: it is damaged, or"
        " something else. Nothing was released. Write it again."
    )


def check_columns(dataset: DatasetSpec, parts: Sequence[Part], columns: Sequence[Schema]) -> None:
    """Raise ``InvalidInput`` unless each object has all declared columns, of the same types."""
    places = []
    for name in dataset.columns:
        sentence = _column(name, [_label(part) for part in parts], columns)
        if sentence is not None:
            places.append((pointer("columns", name), sentence))
    if places:
        raise InvalidInput(f"{places[0][0]}: {places[0][1]}", errors=places[:MOST_PLACES])


def _column(name: str, labels: Sequence[str], columns: Sequence[Schema]) -> str | None:
    lacking = [label for label, each in zip(labels, columns, strict=True) if name not in each]
    if lacking:
        return (
            f"{len(lacking)} of {len(labels)} objects have no such column, the first being"
            f" {lacking[0]}."
        )
    first = None
    for label, each in zip(labels, columns, strict=True):
        if each[name] is None:
            return f"Several columns have this name in {label}."
        kind = each[name].type
        if unreadable(kind) or not is_exact(kind):
            return (
                f"The column is of type {kind} in {label}, which no declared type can be"
                " read from; leave it out, or write it as texts or numbers, one to a cell."
            )
        if is_empty(kind):
            continue
        if first is not None and engine_type(kind) != engine_type(first[1]):
            return (
                f"The column is of type {kind} in {label} and {first[1]} in {first[0]};"
                " write all objects with one type."
            )
        first = first or (label, kind)
    return None


def is_empty(kind: Any) -> bool:
    """Return True for the type of a column without any cell, which goes with every type."""
    import pyarrow.types as of

    return bool(of.is_null(kind))
