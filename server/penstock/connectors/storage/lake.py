"""Find a dataset in a store, fingerprint it, and give its rows to the engine.

The fingerprint is an HMAC over the sorted names, sizes and entity tags of the objects, and not over
their bytes, which would have to be fetched three times for each answer.  A store changes an
object's tag whenever its bytes change; every read asks for the tag that was listed, so that the
bytes that are read are those that the fingerprint covers.  Version numbers are not part of it,
since listings do not have them, and neither is the connection's name: two connections to one bucket
read one dataset.  Copies of an object under another name are another dataset, unlike copies of a
file.
"""

import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.connectors.duckdb.parquet_cells import unreadable
from penstock.connectors.progress import Progress, silent
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.storage import footers
from penstock.connectors.storage.access import Access
from penstock.connectors.storage.address import Address, parsed
from penstock.connectors.storage.failures import changed
from penstock.connectors.storage.relation import Relation
from penstock.connectors.storage.selection import selected
from penstock.connectors.storage.stores.bucket import opened
from penstock.connectors.storage.stores.objects import Part, Store, StoredObject
from penstock.errors import InvalidInput


@dataclass(frozen=True)
class Lake:
    """Represent the objects that a dataset consists of, as they were listed.

    ``identity`` says which version of which table they are, if they are one.
    """

    store: Store
    address: Address
    parts: Sequence[Part]
    manifest: StoredObject | None = None
    identity: Sequence[str | int] = ()

    def fingerprint(self, key: bytes) -> bytes:
        """Return the HMAC-SHA256 of the objects' identities under ``key``, 32 bytes."""
        root = self.store.root
        content = [[root + part.item.name, part.item.size, part.item.tag] for part in self.parts]
        if self.manifest is not None:
            content.append([root + self.manifest.name, self.manifest.size, self.manifest.tag])
        text = json.dumps(["objects", *self.identity, content], separators=(",", ":"))
        return hmac.digest(key, text.encode(), "sha256")

    def check(self, dataset: DatasetSpec) -> None:
        """Raise ``InvalidInput`` unless all objects have the declared columns."""
        footers.check_columns(dataset, self.parts, footers.schemas(self.store, self.parts))

    def types(self, names: Iterable[str] | None = None) -> dict[str, Any]:
        """Return the Arrow types of columns, from as many footers as it takes."""
        types: dict[str, Any] = {}
        for part in self.parts:
            (schema,) = footers.schemas(self.store, [part])
            for name, field in schema.items():
                if field is not None and (name not in types or footers.is_empty(types[name])):
                    types[name] = field.type
            if all(name in types and not footers.is_empty(types[name]) for name in names or ()):
                break
        return types

    def relation(self, aliases: Mapping[str, str], progress: Progress = silent) -> Relation:
        """Return the rows, with the columns in ``aliases`` by name, for one statement."""
        types = self.types(aliases) if aliases else {}
        if any(name not in types or unreadable(types[name]) for name in aliases):
            raise changed("An object has other columns than before, or some that cannot be read.")
        return Relation(self.store, self.parts, types, aliases, progress)


def located(access: Access, uri: str) -> Lake:
    """List the objects of an address.  Raises ``InvalidInput`` and ``Unavailable``.

    A table without a version in its address is read at its newest one, which is in the address of
    the lake that is returned.
    """
    address = parsed(uri)
    store = opened(access, address)
    if address.table == "delta":
        from penstock.connectors.storage.tables.delta import table_files

        address, identity, parts = table_files(access, store, address)
        return Lake(store, address, parts, None, identity)
    if address.table == "iceberg":
        from penstock.connectors.storage.tables.iceberg import snapshot_files

        address, identity, parts, metadata = snapshot_files(store, address)
        return Lake(store, address, parts, metadata, identity)
    items, manifest = selected(store, address)
    return Lake(store, address, [Part(item) for item in items], manifest)


def registered(access: Access, uri: str, key: bytes, fingerprint: bytes) -> Lake:
    """List the objects of a registered dataset again.

    Raises ``SourceChanged`` unless they are those whose ``fingerprint`` was registered.
    """
    try:
        lake = located(access, uri)
    except InvalidInput as problem:
        raise changed(f"The dataset's objects cannot be found. {problem.detail}") from None
    if not hmac.compare_digest(lake.fingerprint(key), fingerprint):
        raise changed("The dataset's objects are not those that were registered.")
    return lake
