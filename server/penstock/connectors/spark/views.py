"""Look up a view's columns and their types, and what the view is recognized by.

Nothing here reads a row.
"""

import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from penstock.connectors.planning.refusals import pointer
from penstock.connectors.spark.session import Session
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.specs.typed_columns import Readable, require_readable
from penstock.errors import InvalidInput, SourceChanged

DECIMAL: Final = "decimal"
_WHOLE: Final = frozenset({"tinyint", "smallint", "int", "bigint"})
READABLE: Final[Readable] = {
    "string": frozenset({"string"}),
    "integer": _WHOLE,
    "number": frozenset({"double", DECIMAL}) | _WHOLE,
    "boolean": frozenset({"boolean"}),
    "date": frozenset({"date"}),
}
"""The types of columns that are read as each declared type, as Spark names them."""

_AT: Final = pointer("source", "table")


@dataclass(frozen=True)
class View:
    """Hold what is known of a view: the cluster, the view's name, and types by column."""

    cluster: str
    name: str
    types: Mapping[str, str]

    @property
    def quoted(self) -> str:
        """Return the name as it stands in a statement."""
        return ".".join(f"`{part}`" for part in self.name.split("."))

    def fingerprint(self, key: bytes) -> bytes:
        """Return the HMAC of the names and types: rows may change, which it does not show."""
        identity = [self.cluster, self.name, list(self.types.items())]
        return hmac.digest(key, json.dumps(identity).encode(), "sha256")


def view_of(session: Session, dataset: DatasetSpec, address: str) -> View:
    """Return the dataset's view; raise ``InvalidInput`` if there is none."""
    name = dataset.source.table or ""
    view = View(cluster_of(address), name, {})
    types = session.types(view.quoted)
    if types is None:
        raise InvalidInput(
            "There is no such view in the catalogs of the connection's Spark; name it as"
            " schema.view or catalog.schema.view.",
            pointer=_AT,
        )
    return View(view.cluster, name, types)


def cluster_of(address: str) -> str:
    """Return what an address says of the cluster, without parameters, which may be secret."""
    if address.startswith("local"):
        return "local"
    return re.split("/[;?]|[;?]", address, maxsplit=1)[0].rstrip("/").lower()


def kind_of(type_: str) -> str:
    """Return a column's type without its digits."""
    return type_.partition("(")[0]


def check_columns(dataset: DatasetSpec, view: View) -> None:
    """Raise ``InvalidInput`` for declared columns that are missing or of another type."""
    require_readable(dataset, view.types, READABLE, short="float", kind_of=kind_of)


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
        "The dataset's view is not the one that was registered: the cluster's address, a column's"
        " name or a column's type is another. Nothing was released. Restore the view, or register"
        " the new one as a new version of the dataset."
    )
