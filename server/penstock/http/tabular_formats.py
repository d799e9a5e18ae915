"""Write a release's values as a table: CSV, Arrow and Parquet beside JSON.

There is one row per key: the key's parts, the value, and the ends of its interval; for means also
the sum and the count that each was read from; last the labels of keys, where these are requested.
Fields that do not fit a table (level, guarantee, receipt ...) are metadata of the schema, as JSON
under ``penstock``; CSV has the table alone.

Numbers are the same to the bit in every form: JSON and CSV write the shortest decimal fraction that
reads back as the same float.  In CSV a text key that a spreadsheet would run as a formula gets an
apostrophe before it, and so does one that begins with an apostrophe: removing one leading
apostrophe from every text key restores the keys.

A long table is written while it is sent, ``PART`` rows at a time: each is a batch of Arrow and a
row group of Parquet.  CSV has the same bytes as if it were written at once.
"""

import io
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from flask import Response
from werkzeug.datastructures import MIMEAccept
from werkzeug.exceptions import NotAcceptable

from penstock.connectors.planning.domain import Domain
from penstock.errors import InvalidInput
from penstock.http.answers import MEDIA_TYPE, json_answer, rendered, sent
from penstock.services.noise.intervals import ends
from penstock.services.noise.long_vectors.lazy_values import Stretch
from penstock.services.noise.long_vectors.sizes import MOST_AT_ONCE
from penstock.services.schemas.views import ReleaseView
from penstock.services.synthetic_rows.rows import SyntheticRowsView
from penstock.transparency_log.views import CheckpointView

if TYPE_CHECKING:
    import pyarrow

FORMS: Mapping[str, str] = {
    "json": MEDIA_TYPE,
    "csv": "text/csv",
    "arrow": "application/vnd.apache.arrow.stream",
    "parquet": "application/vnd.apache.parquet",
}
"""The media type of each format, the preferred one first."""

NOTES: Mapping[str, str] = {"json": MEDIA_TYPE, "note": "text/plain"}
"""The media types of a checkpoint, which is signed as a note."""

PART = 1 << 16
"""The number of rows that are written at once."""

_NOT_IN_METADATA = {"keys", "values", "mean", "errors", "marginals"}
# A spreadsheet runs a cell that begins so as a formula, in Japan also with wide characters.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_MARK = "'"


def chosen(form: str | None, accept: MIMEAccept, forms: Mapping[str, str] = FORMS) -> str:
    """Return the format that ``?format=`` names, or else the one that ``Accept`` prefers.

    Raises ``NotAcceptable`` if no format that is served here is accepted.
    """
    if form is not None:
        return form
    if not accept:
        return "json"
    preferences = {name: _preference(accept, media_type) for name, media_type in forms.items()}
    best = max(preferences, key=lambda name: preferences[name])
    if not preferences[best][0]:
        *most, last = forms.values()
        raise NotAcceptable(
            f"This is served as {', '.join(most)} and {last}; name one in Accept or by ?format=."
        )
    return best


def _preference(accept: MIMEAccept, media_type: str) -> tuple[float, int]:
    """Return the preference for a media type, and how specific it is.

    The most specific range that matches decides (RFC 9110, section 12.5.1), so that ``*/*`` does
    not allow again what ``q=0`` refuses by name.  Parameters of a range are ignored.
    """
    ranges = ("*/*", media_type.partition("/")[0] + "/*", media_type)
    preferences = [
        (ranges.index(name), quality)
        for accepted, quality in accept
        if (name := accepted.partition(";")[0].strip().lower()) in ranges
    ]
    specificity, quality = max(preferences, default=(0, 0.0))
    return quality, specificity


def note_answer(checkpoint: CheckpointView, form: str) -> Response:
    """Return a checkpoint in one of ``NOTES``."""
    if form == "json":
        response = json_answer(checkpoint, 200)
    else:
        response = Response(checkpoint.cosigned_note, 200, mimetype=NOTES[form])
    response.headers["Vary"] = "Accept"
    return response


def answer(
    release: ReleaseView, form: str, labels: Mapping[str, str] = MappingProxyType({})
) -> Response:
    """Return the release in one of ``FORMS``, a table with columns of ``labels`` if there are any.

    These come last, so that all other columns have the places that they have without.
    """
    if form == "json":
        if len(release.values) > MOST_AT_ONCE:
            raise InvalidInput(
                f"The release has {len(release.values):,} values; one answer in JSON has"
                f" {MOST_AT_ONCE:,} at most. Request a range of positions by from and to, or CSV,"
                " Arrow or Parquet, which may have all.",
                pointer="/to",
            )
        response = json_answer(release, 200)
        response.headers["Vary"] = "Accept"
        return response
    response = sent(_written(release, form, labels), 200, FORMS[form])
    response.headers["Vary"] = "Accept"
    response.headers["Content-Disposition"] = f'attachment; filename="{release.id}.{form}"'
    return response


def rows_answer(rows: SyntheticRowsView, form: str) -> Response:
    """Return synthetic rows in one of ``FORMS``: a table has how well they fit as metadata."""
    if form == "json":
        response = json_answer(rows, 200)
    else:
        response = sent(_rows_written(rows, form), 200, FORMS[form])
        name = f"{rows.release}-synthetic.{form}"
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Vary"] = "Accept"
    return response


def _rows_written(rows: SyntheticRowsView, form: str) -> Iterator[bytes]:
    import pyarrow as pa

    table = pa.table({name: pa.array(cells, pa.string()) for name, cells in rows.columns.items()})
    rest = {field.name: getattr(rows, field.name) for field in fields(rows)}
    del rest["columns"]
    table = table.replace_schema_metadata({"penstock": rendered(rest)})
    output = _Written()
    with _writer(form, output, table.schema) as writer:
        writer.write_table(_harmless(table) if form == "csv" else table)
    yield output.taken()


class _Written(io.RawIOBase):
    """Hold what was written since it was last taken."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._place = 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return how much was ever written."""
        return self._place

    def write(self, block: Any) -> int:
        """Keep a copy of ``block``: its owner writes the next one to the same place."""
        self._blocks.append(bytes(block))
        self._place += len(self._blocks[-1])
        return len(self._blocks[-1])

    def taken(self) -> bytes:
        """Return what was written, and keep it no longer."""
        blocks, self._blocks = self._blocks, []
        return b"".join(blocks)


def _written(release: ReleaseView, form: str, labels: Mapping[str, str]) -> Iterator[bytes]:
    """Yield a release as a table of a form, in blocks of ``PART`` rows each."""
    tables = (_labeled(table_of(part), labels) for part in _parts(release))
    if form == "csv":
        tables = (_harmless(table) for table in tables)
    output = _Written()
    first = next(tables)
    with _writer(form, output, first.schema) as writer:
        writer.write_table(first)
        del first
        yield output.taken()
        for table in tables:
            writer.write_table(table)
            yield output.taken()
    yield output.taken()


def _writer(form: str, output: io.RawIOBase, schema: "pyarrow.Schema") -> Any:
    """Return a writer of tables of a form, and of one schema."""
    # Imported late: a hundred milliseconds and 60 MB.
    if form == "csv":
        from pyarrow import csv

        return csv.CSVWriter(output, schema)
    if form == "arrow":
        from pyarrow import ipc

        return ipc.new_stream(output, schema)
    from pyarrow import parquet

    return parquet.ParquetWriter(output, schema, compression="zstd")


def _parts(release: ReleaseView) -> Iterator[ReleaseView]:
    """Yield a release in parts of ``PART`` rows; at least one, though it be empty."""
    for start in range(0, max(1, len(release.values)), PART):
        rows = slice(start, start + PART)
        mean, errors = release.mean, release.errors
        yield replace(
            release,
            keys=_keys(release.keys, rows),
            values=np.asarray(release.values[rows]),
            mean=mean and _cut(mean, rows, "lower", "upper", "centered_sums", "counts"),
            errors=errors and _cut(errors, rows, "standard_deviations", "half_widths"),
        )


def _keys(keys: Any, rows: slice) -> Any:
    """Return the keys of rows; those of a domain are not made, which takes longer than the rest."""
    if isinstance(keys, Domain):
        keys = Stretch(keys, 0, len(keys))
    if isinstance(keys, Stretch):
        places = keys.places[rows]
        return Stretch(keys.whole, places.start, places.stop)
    return keys[rows]


def _cut(view: Any, rows: slice, *names: str) -> Any:
    return replace(view, **{name: np.asarray(getattr(view, name))[rows] for name in names})


def table_of(release: ReleaseView) -> "pyarrow.Table":
    """Return the release as an Arrow table, with its other fields as metadata."""
    import pyarrow as pa

    values = np.asarray(release.values)
    columns: dict[str, object] = {**_key_columns(release), "value": values}
    rest = {
        field.name: getattr(release, field.name)
        for field in fields(release)
        if field.name not in _NOT_IN_METADATA
    }
    columns["lower"], columns["upper"] = ends(release)
    if release.mean is not None:
        columns |= {"centered_sum": release.mean.centered_sums, "count": release.mean.counts}
        rest["mean"] = {
            name: getattr(release.mean, name) for name in ("middle", "sum_error", "count_error")
        }
    table = pa.table({name: pa.array(column) for name, column in columns.items()})
    return table.replace_schema_metadata({"penstock": rendered(rest)})


def _labeled(table: "pyarrow.Table", labels: Mapping[str, str]) -> "pyarrow.Table":
    """Return a table with ``label`` for ``key``, or ``label_1, label_2 ...``, after its columns.

    A key without a label has its code there.
    """
    import pyarrow as pa

    for name in table.column_names if labels else ():
        if name.partition("_")[0] == "key":
            cells = [labels.get(code, code) for code in table.column(name).to_pylist()]
            table = table.append_column(f"label{name[3:]}", pa.array(cells, pa.string()))
    return table


def _key_columns(release: ReleaseView) -> dict[str, object]:
    """Return ``key``, or ``key_1, key_2 ...`` if keys have several parts."""
    keys: Any = release.keys
    if isinstance(keys, Domain):
        keys = Stretch(keys, 0, len(keys))
    if isinstance(keys, Stretch) and isinstance(keys.whole, Domain) and keys.whole.labels:
        return _labels(keys.whole, keys.places)
    if len(keys) and isinstance(keys[0], list):
        parts = list(zip(*keys, strict=True))
        return {f"key_{place}": list(part) for place, part in enumerate(parts, 1)}
    return {"key": keys}


def _labels(domain: Domain, positions: range) -> dict[str, object]:
    """Return the labels of keys, by column, without making a key."""
    import pyarrow as pa

    columns: list[object] = [
        pa.array(labels).take(pa.array(places))
        for labels, places in zip(domain.labels, domain.places(positions), strict=True)
    ]
    if len(columns) == 1:
        return {"key": columns[0]}
    return {f"key_{place}": column for place, column in enumerate(columns, 1)}


def harmless(cell: str) -> str:
    """Return a cell's text as no formula: with an apostrophe before what may be one."""
    return _MARK + cell if cell.startswith((*_FORMULA, _MARK)) else cell


def _harmless(table: "pyarrow.Table") -> "pyarrow.Table":
    """Put an apostrophe before keys that a spreadsheet would run as formulas.

    Keys that begin with an apostrophe get one too, so that no two keys become the same.
    """
    import pyarrow as pa

    for place, name in enumerate(table.column_names):
        if pa.types.is_string(table.schema.field(name).type):
            cells = list(map(harmless, table.column(name).to_pylist()))
            table = table.set_column(place, name, pa.array(cells))
    return table
