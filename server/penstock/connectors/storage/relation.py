"""Give the engine the rows of a dataset's objects as a stream of Arrow batches.

The engine stays locked down: it opens no object, and knows neither addresses nor credentials.  A
stream holds the columns that a plan uses.  It reads one object after another, and in each one row
group after another, so that memory is bounded by the largest row group's columns, or by buffers for
row groups above ``LARGE``.  Each scan gets a stream of its own: a statement may read its source
twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from penstock.connectors.progress import Progress, silent
from penstock.connectors.storage.arrow_cells import cells, engine_type
from penstock.connectors.storage.failures import changed
from penstock.connectors.storage.footers import fields, made, opened
from penstock.connectors.storage.stores.objects import Part, Store, StoredObject
from penstock.errors import PenstockError

ROWS: Final = 1 << 16
"""The rows of a batch."""

LARGE: Final = 256 << 20
"""Row groups whose columns have more bytes than this are read page by page."""

_BUFFER: Final = 4 << 20

PRESENT: Final = "present"
"""The only column of a relation whose rows alone count."""


class Relation:
    """Represent the rows of objects, under aliases, as the engine scans them.

    ``aliases`` are by name of the columns that are read.  A scan that fails keeps its error in
    ``failure``, since the engine passes only texts on.
    """

    def __init__(
        self,
        store: Store,
        parts: Sequence[Part],
        types: Mapping[str, Any],
        aliases: Mapping[str, str],
        progress: Progress = silent,
    ) -> None:
        import pyarrow as pa

        self.failure: PenstockError | None = None
        self._store, self._parts, self._aliases = store, parts, dict(aliases)
        self._progress = progress
        self._schema = pa.schema(
            [(alias, engine_type(types[name])) for name, alias in aliases.items()]
            or [(PRESENT, pa.int8())]
        )

    @property
    def types(self) -> Mapping[str, Any]:
        """Return the Arrow types in which the engine is given the columns, by alias."""
        return {field.name: field.type for field in self._schema}

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a stream over all rows, by Arrow's protocol of streams."""
        import pyarrow as pa

        reader = pa.RecordBatchReader.from_batches(self._schema, self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    def _batches(self) -> Iterator[Any]:
        try:
            for place, part in enumerate(self._parts):
                self._progress("counting", 100 * place // len(self._parts))
                yield from self._rows(part)
        except PenstockError as problem:
            self.failure = problem
            raise

    def _rows(self, part: Part) -> Iterator[Any]:
        with opened(self._store, part.item) as parquet:
            named = fields(parquet.schema_arrow, part)
            if any(named.get(name) is None for name in self._aliases):
                raise changed("An object has other columns than before.")
            constant = made(parquet.schema_arrow, part)
            used = {name: named[name].name for name in self._aliases if name not in constant}
            for group in range(parquet.num_row_groups):
                if used:
                    with _suited(self._store, part.item, parquet, group, used) as reader:
                        yield from self._group(reader, group, part, used)
                else:
                    yield from self._without_cells(parquet.metadata.row_group(group).num_rows, part)

    def _group(self, reader: Any, group: int, part: Part, used: Mapping[str, str]) -> Iterator[Any]:
        names = list(used.values())
        for batch in reader.iter_batches(ROWS, row_groups=[group], columns=names):
            yield self._batch(
                {name: cells(batch.column(place)) for name, place in used.items()}, len(batch), part
            )

    def _without_cells(self, rows: int, part: Part) -> Iterator[Any]:
        """Yield as many rows, for a plan that uses none of the object's own columns."""
        for begun in range(0, rows, ROWS):
            yield self._batch({}, min(ROWS, rows - begun), part)

    def _batch(self, read: Mapping[str, Any], rows: int, part: Part) -> Any:
        import pyarrow as pa

        columns = [
            read[name] if name in read else pa.repeat(_scalar(part.constants.get(name), kind), rows)
            for name, kind in zip(self._aliases, self._schema.types, strict=False)
        ] or [pa.repeat(pa.scalar(1, pa.int8()), rows)]
        if [column.type for column in columns] != self._schema.types:
            raise changed("An object has columns of other types than before.")
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


def _scalar(cell: str | None, kind: Any) -> Any:
    import pyarrow as pa

    return pa.scalar(cell, pa.large_string() if cell is not None else kind)


@contextmanager
def _suited(
    store: Store, item: StoredObject, parquet: Any, group: int, used: Mapping[str, str]
) -> Iterator[Any]:
    """Yield what reads one row group: ``parquet`` itself, or page by page if it is large."""
    metadata = parquet.metadata.row_group(group)
    chunks = [metadata.column(place) for place in range(metadata.num_columns)]
    names = set(used.values())
    size = sum(chunk.total_compressed_size for chunk in chunks if chunk.path_in_schema in names)
    if size <= LARGE:
        yield parquet
        return
    with opened(store, item, metadata=parquet.metadata, buffer=_BUFFER) as reader:
        yield reader
