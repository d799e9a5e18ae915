"""Look up a view's columns and their types, and what the view is recognized by.

Nothing here reads a row.
"""

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from penstock.connectors.planning.refusals import pointer
from penstock.connectors.postgresql.session import Session
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.specs.typed_columns import Readable, require_readable
from penstock.errors import InvalidInput, SourceChanged

_WHOLE: Final = frozenset({"smallint", "integer", "bigint"})
READABLE: Final[Readable] = {
    "string": frozenset({"text", "character varying"}),
    "integer": _WHOLE,
    "number": frozenset({"double precision", "numeric"}) | _WHOLE,
    "boolean": frozenset({"boolean"}),
    "date": frozenset({"date"}),
}
"""The types of columns that are read as each declared type, as PostgreSQL names them."""

_AT: Final = pointer("source", "table")

_COLUMNS: Final = """\
SELECT a.attname::text AS name,
  format_type(CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END, NULL) AS type
FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_type t ON t.oid = a.atttypid
WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""
_DATABASE: Final = """\
SELECT current_database()::text AS name, current_setting('server_encoding') AS encoding,
  current_setting('server_version_num') AS version,
  has_function_privilege('pg_control_system()', 'EXECUTE')::text AS named
"""
_SYSTEM: Final = "SELECT system_identifier::text AS number FROM pg_control_system()"


@dataclass(frozen=True)
class Place:
    """Hold the name of a view: its schema and its own."""

    schema: str
    view: str


@dataclass(frozen=True)
class View:
    """Hold what is known of a view: the server, the database, its name, and types by column."""

    system: str | None
    database: str
    version: str
    place: Place
    types: Mapping[str, str]

    def fingerprint(self, key: bytes) -> bytes:
        """Return the HMAC of the names and types: rows may change, which it does not show."""
        identity = [
            self.system,
            self.database,
            self.place.schema,
            self.place.view,
            list(self.types.items()),
        ]
        return hmac.digest(key, json.dumps(identity).encode(), "sha256")


def view_of(session: Session, dataset: DatasetSpec) -> View:
    """Return the dataset's view, locked until the session ends, without reading a row.

    Raises ``InvalidInput`` if there is none that this connection may see.
    """
    (database,) = session.table(_DATABASE).to_pylist()
    if database["encoding"] != "UTF8":
        raise InvalidInput(
            f"The database's encoding is {database['encoding']}; only texts in UTF8 are compared"
            " byte for byte as on other engines.",
            pointer=pointer("source", "connection"),
        )
    *catalog, schema, view = (dataset.source.table or "").split(".")
    # Locked before its columns are looked up, so that they are those which a statement reads.
    is_there = session.lock(schema, view)
    columns = session.table(_COLUMNS, (schema, view)).to_pylist() if is_there else []
    if not columns or catalog not in ([], [database["name"]]):
        raise InvalidInput(
            "There is no such view in the connection's database that its user can see; names are"
            " taken as they are written, upper and lower case too.",
            pointer=_AT,
        )
    named = database["named"] == "true"
    system = session.table(_SYSTEM).to_pylist()[0]["number"] if named else None
    types = {column["name"]: column["type"] for column in columns}
    return View(system, database["name"], database["version"], Place(schema, view), types)


def check_columns(dataset: DatasetSpec, view: View) -> None:
    """Raise ``InvalidInput`` for declared columns that are missing or of another type."""
    require_readable(dataset, view.types, READABLE, short="real")


def registered_view(session: Session, dataset: DatasetSpec, key: bytes, fingerprint: bytes) -> View:
    """Return the dataset's view; raise ``SourceChanged`` if it is not the registered one."""
    try:
        view = view_of(session, dataset)
        check_columns(dataset, view)
    except InvalidInput:
        raise _changed() from None
    if not hmac.compare_digest(view.fingerprint(key), fingerprint):
        raise _changed()
    return view


def _changed() -> SourceChanged:
    return SourceChanged(
        "The dataset's view is not the one that was registered: its name, a column's name or a"
        " column's type is another. Nothing was released. Restore the view, or register the new one"
        " as a new version of the dataset."
    )
