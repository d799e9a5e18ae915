"""Read the list of an Iceberg table's files at one snapshot, by pyiceberg.

The table is named by its metadata file; no catalog is asked.  The snapshot is fixed when the
dataset is registered.  Everything is read through the store that the connection opens: tables whose
metadata name files elsewhere are refused, as are those with deletes that their files do not show.
"""

from typing import TYPE_CHECKING, Any

from penstock.connectors.storage.address import Address
from penstock.connectors.storage.failures import Missing, Replaced, changed, missing
from penstock.connectors.storage.selection import MOST_OBJECTS
from penstock.connectors.storage.stores.objects import Part, Store, StoredObject, looked_up

if TYPE_CHECKING:
    from pyiceberg.table import StaticTable

_UNREADABLE = (
    ArithmeticError,
    AssertionError,
    EOFError,
    LookupError,
    OSError,
    TypeError,
    ValueError,
)
"""What the library raises for a file that is something else, or damaged."""


def snapshot_files(
    store: Store, address: Address
) -> tuple[Address, list[str | int], list[Part], StoredObject]:
    """Return the address with its snapshot, the table's identity, its files, its metadata file.

    Raises ``InvalidInput`` for a table or a snapshot that is not there, or cannot be read here.
    """
    from pyiceberg.exceptions import ValidationError

    try:
        metadata = store.head(address.path)
        table = _table(store, address)
        return _files(store, address, table, metadata)
    except Missing:
        raise missing(
            "The Iceberg table's metadata file is not there, or one that it names: check the"
            " address; a catalog shows it as the table's metadata location."
        ) from None
    except Replaced:
        raise changed("A metadata file was replaced while it was read.") from None
    except (ValidationError, *_UNREADABLE):
        raise missing("The file is no metadata of an Iceberg table, or it is damaged.") from None


def _table(store: Store, address: Address) -> "StaticTable":
    from pyiceberg.catalog.noop import NoopCatalog
    from pyiceberg.serializers import FromInputFile
    from pyiceberg.table import StaticTable

    from penstock.connectors.storage.tables.iceberg_files import StoreFiles

    location = address.root + address.path
    files = StoreFiles(store)
    return StaticTable(
        identifier=("static", location),
        metadata=FromInputFile.table_metadata(files.new_input(location)),
        metadata_location=location,
        io=files,
        catalog=NoopCatalog("static"),
    )


def _files(
    store: Store, address: Address, table: "StaticTable", metadata: StoredObject
) -> tuple[Address, list[str | int], list[Part], StoredObject]:
    snapshot = (
        table.current_snapshot() if address.pin is None else table.snapshot_by_id(address.pin)
    )
    if snapshot is None:
        raise missing(
            "The Iceberg table has no snapshot yet."
            if address.pin is None
            else f"Snapshot {address.pin} is not in the Iceberg table's metadata; it has expired,"
            " or the metadata are of another table."
        )
    scan = table.scan(snapshot_id=snapshot.snapshot_id)
    schema, tasks = scan.projection(), list(scan.plan_files())
    if not 0 < len(tasks) <= MOST_OBJECTS:
        raise missing(
            f"The Iceberg table has {len(tasks)} files; it must have 1 to {MOST_OBJECTS}. Compact"
            " it (rewrite_data_files)."
        )
    ids = {field.name: field.field_id for field in schema.fields}
    parts = _parts(store, tasks, ids)
    identity: list[str | int] = ["iceberg", str(table.metadata.table_uuid), snapshot.snapshot_id]
    return address.pinned(snapshot.snapshot_id), identity, parts, metadata


def _parts(store: Store, tasks: list[Any], ids: dict[str, int]) -> list[Part]:
    for task in tasks:
        if task.delete_files:
            raise missing(
                "The Iceberg table has delete files, so its data files hold rows that were deleted;"
                " rewrite it first (rewrite_data_files)."
            )
        if task.file.file_format.value != "PARQUET":
            raise missing("The Iceberg table has files that are not Parquet.")
    from penstock.connectors.storage.tables.iceberg_files import named

    names = [named(store, task.file.file_path) for task in tasks]
    parts = []
    for task, item in zip(tasks, looked_up(store, names), strict=True):
        if item is None or item.size != task.file.file_size_in_bytes:
            raise missing(
                "A file of the Iceberg table's snapshot is gone, or another one: it was removed"
                " when the snapshot expired."
            )
        # A column that was added later is empty in older files.
        parts.append(Part(item, dict.fromkeys(ids), ids))
    return sorted(parts, key=lambda part: part.item.name.encode())
