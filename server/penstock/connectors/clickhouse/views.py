"""Look up a view's columns and their types, and what the view is recognized by.

Nothing here reads a row.
"""

import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from penstock.connectors.clickhouse.session import Session
from penstock.connectors.planning.refusals import pointer
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.specs.typed_columns import Readable, require_readable
from penstock.errors import InvalidInput, SourceChanged

DECIMAL: Final = "Decimal"
_WHOLE: Final = frozenset({"Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32"})
READABLE: Final[Readable] = {
    "string": frozenset({"String"}),
    "integer": _WHOLE,
    "number": frozenset({"Float64", DECIMAL}) | _WHOLE,
    "boolean": frozenset({"Bool"}),
    "date": frozenset({"Date", "Date32"}),
}
"""The types of columns that are read as each declared type, as ClickHouse names them."""

_AT: Final = pointer("source", "table")
_AROUND: Final = re.compile(r"(?:Nullable|LowCardinality)\((.*)\)")


@dataclass(frozen=True)
class View:
    """Hold what is known of a view: the server, the view's name, and types by column."""

    server: str
    name: str
    types: Mapping[str, str]

    @property
    def quoted(self) -> str:
        """Return the name as it stands in a statement."""
        return ".".join(f"`{part}`" for part in self.name.split("."))

    def fingerprint(self, key: bytes) -> bytes:
        """Return the HMAC of the names and types: rows may change, which it does not show."""
        identity = [self.server, self.name, list(self.types.items())]
        return hmac.digest(key, json.dumps(identity).encode(), "sha256")


def view_of(session: Session, dataset: DatasetSpec, address: str) -> View:
    """Return the dataset's view; raise ``InvalidInput`` if there is none."""
    name = dataset.source.table or ""
    view = View(server_of(address), name, {})
    types = session.types(view.quoted) if name.count(".") == 1 else None
    if types is None:
        raise InvalidInput(
            "There is no such view in the connection's ClickHouse that its user can see; name it"
            " as database.view, as it is written there, upper and lower case too.",
            pointer=_AT,
        )
    return View(view.server, name, types)


def server_of(address: str) -> str:
    """Return what an address says of the server: its host and port, or the folder."""
    if address.startswith("chdb://"):
        from penstock.connectors.clickhouse.embedded import folder_of

        return f"chdb:{folder_of(address)}"
    from penstock.connectors.clickhouse.server import parts_of

    parts = parts_of(address)
    return f"{parts.host.lower()}:{parts.port or 8443}"


def kind_of(type_: str) -> str:
    """Return a column's type without what is around it: ``Nullable``, ``LowCardinality``."""
    while inner := _AROUND.fullmatch(type_):
        type_ = inner[1]
    return DECIMAL if type_.startswith(f"{DECIMAL}(") else type_


def check_columns(dataset: DatasetSpec, view: View) -> None:
    """Raise ``InvalidInput`` for declared columns that are missing or of another type."""
    require_readable(dataset, view.types, READABLE, short="Float32", kind_of=kind_of)


def declared_view(session: Session, dataset: DatasetSpec, address: str) -> View:
    """Return the dataset's view; raise ``SourceChanged`` if it lacks the declared columns."""
    try:
        view = view_of(session, dataset, address)
        check_columns(dataset, view)
    except InvalidInput:
        raise _changed() from None
    return view


def registered_view(
    session: Session, dataset: DatasetSpec, address: str, key: bytes, fingerprint: bytes
) -> View:
    """Return the dataset's view; raise ``SourceChanged`` if it is not the registered one."""
    view = declared_view(session, dataset, address)
    if not hmac.compare_digest(view.fingerprint(key), fingerprint):
        raise _changed()
    return view


def _changed() -> SourceChanged:
    return SourceChanged(
        "The dataset's view is not the one that was registered: the server's address, a column's"
        " name or a column's type is another. Nothing was released. Restore the view, or register"
        " the new one as a new version of the dataset."
    )
