"""Read the list of a Delta table's files at one version, by deltalake.

The version is fixed when the dataset is registered, and read again ever after: later versions of
the table change nothing.  The files themselves are read as any objects are.  A table whose rows are
more or other than those of its files (deletion vectors, mapped columns) is refused.
"""

import datetime
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from penstock.connectors.storage.access import Access, texts
from penstock.connectors.storage.address import Address
from penstock.connectors.storage.failures import Missing, failure, missing
from penstock.connectors.storage.selection import MOST_OBJECTS
from penstock.connectors.storage.stores.objects import Part, Store, looked_up
from penstock.errors import PenstockError

HARMLESS: Final = frozenset({"timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"})
"""Features of tables that do not change what rows a file stands for."""

_CHECKED: Final = frozenset({"deletionVectors", "columnMapping"})
"""Features that are refused only where they are made use of."""

_LIMITS: Final = {
    "connect_timeout": "10s",
    "timeout": "600s",
    "max_retries": "3",
    "retry_timeout": "120s",
}


def table_files(
    access: Access, store: Store, address: Address
) -> tuple[Address, list[str | int], list[Part]]:
    """Return the address with its version, the table's identity, and its files.

    Raises ``InvalidInput`` for a table or a version that is not there, or cannot be read here.
    """
    table = _opened(access, address)
    _require_plain(table)
    partitions = table.metadata().partition_columns
    parts = _parts(store, address, table, partitions)
    version = table.version()
    identity = ["delta", address.root + address.path, str(table.metadata().id), version]
    return address.pinned(version), identity, parts


def _opened(access: Access, address: Address) -> Any:
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    options = {**_LIMITS, **texts(access.options())}
    if access.allow_http:
        options["allow_http"] = "true"
    if getattr(access, "anonymous", False):
        options["skip_signature"] = "true"
    try:
        return DeltaTable(address.root + address.path, version=address.pin, storage_options=options)
    except DeltaError:
        raise _lost(address) from None
    except (OSError, ValueError) as problem:
        error = failure(problem, f"The store of {address.root}")
        raise (_lost(address) if isinstance(error, Missing) else error) from None


def _lost(address: Address) -> PenstockError:
    if address.pin is None:
        return missing("There is no Delta table here that the connection may read.")
    return missing(
        f"Version {address.pin} of the Delta table is not there any more, or never was: its log or"
        " its files were removed (vacuum)."
    )


def _require_plain(table: Any) -> None:
    protocol, configuration = table.protocol(), table.metadata().configuration
    features = set(protocol.reader_features or ())
    more = sorted(features - HARMLESS - _CHECKED)
    if protocol.min_reader_version > 3 or more:
        raise missing(
            f"The Delta table needs a reader of features that this server does not read"
            f" ({', '.join(more) or protocol.min_reader_version})."
        )
    if configuration.get("delta.columnMapping.mode", "none") != "none":
        raise missing("The Delta table maps its columns' names; write it without column mapping.")
    if "deletionVectors" in features and next(iter(table.deletion_vectors()), None) is not None:
        raise missing(
            "The Delta table has deletion vectors, so its files hold rows that were deleted; purge"
            " them first (REORG TABLE ... APPLY (PURGE))."
        )


def _parts(store: Store, address: Address, table: Any, partitions: list[str]) -> list[Part]:
    import pyarrow as pa

    actions = pa.table(table.get_add_actions(flatten=False)).to_pylist()
    if not 0 < len(actions) <= MOST_OBJECTS:
        raise missing(
            f"The Delta table has {len(actions)} files; it must have 1 to {MOST_OBJECTS}. Compact"
            " it (OPTIMIZE)."
        )
    names = [_name(address, action["path"]) for action in actions]
    parts = []
    for action, item in zip(actions, looked_up(store, names), strict=True):
        if item is None or item.size != action["size_bytes"]:
            raise missing(
                f"A file of version {table.version()} of the Delta table is gone, or another"
                " one: it was removed by a vacuum."
            )
        values: Mapping[str, object] = action.get("partition") or {}
        cells = {column: _text(values.get(column)) for column in partitions}
        parts.append(Part(item, cells))
    return sorted(parts, key=lambda part: part.item.name.encode())


def _name(address: Address, path: str) -> str:
    name = unquote(path)
    if "://" in name or name.startswith("/") or ".." in name.split("/"):
        raise missing("The Delta table has files outside of its folder (a clone); copy it whole.")
    return f"{address.path}/{name}"


def _text(cell: object) -> str | None:
    """Return a partition's value as the engine writes a cell of its type."""
    match cell:
        case None:
            return None
        case bool():
            return "true" if cell else "false"
        case datetime.datetime():
            return _moment(cell)
        case bytes():
            raise missing("The Delta table is partitioned by bytes, which cannot be read here.")
    return str(cell)


def _moment(cell: datetime.datetime) -> str:
    text = cell.replace(tzinfo=None).isoformat(" ")
    text = text.rstrip("0") if cell.microsecond else text
    return text if cell.tzinfo is None else f"{text}+00"
