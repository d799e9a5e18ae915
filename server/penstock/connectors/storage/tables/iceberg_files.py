"""Open files for pyiceberg through a store, and none elsewhere."""

from typing import Any, Final

from pyiceberg.io import FileIO, InputFile, OutputFile

from penstock.connectors.storage.failures import Missing, missing
from penstock.connectors.storage.stores.object_file import ObjectFile
from penstock.connectors.storage.stores.objects import Store

_ALIASES: Final = {"s3a://": "s3://", "s3n://": "s3://"}
"""Spellings of a scheme in metadata that name the same store."""


class _StoredInput(InputFile):
    def __init__(self, location: str, store: Store) -> None:
        super().__init__(location)
        self._store, self._name = store, named(store, location)

    def __len__(self) -> int:
        return self._store.head(self._name).size

    def exists(self) -> bool:
        """Return True if it is there."""
        try:
            self._store.head(self._name)
        except Missing:
            return False
        return True

    def open(self, seekable: bool = True) -> Any:  # noqa: ARG002  the library's signature
        """Return it as a file, of the version that is there now."""
        return ObjectFile(self._store, self._store.head(self._name))


class StoreFiles(FileIO):
    """Read what is in one store; write and remove nothing."""

    def __init__(self, store: Store) -> None:
        super().__init__({})
        self._store = store

    def new_input(self, location: str) -> InputFile:
        """Return the file of a location.  Raises ``InvalidInput`` for one in another store."""
        return _StoredInput(location, self._store)

    def new_output(self, location: str) -> OutputFile:
        """Refuse."""
        raise NotImplementedError("tables are only read")

    def delete(self, location: "str | InputFile | OutputFile") -> None:
        """Refuse."""
        raise NotImplementedError("tables are only read")


def named(store: Store, location: str) -> str:
    """Return the name in the store of a location in metadata.  Raises ``InvalidInput``."""
    for spelled, scheme in _ALIASES.items():
        if location.startswith(spelled):
            location = scheme + location.removeprefix(spelled)
    name = location.removeprefix(store.root)
    if not location.startswith(store.root) or ".." in name.split("/"):
        raise missing("The Iceberg table names files outside of its bucket, which are not read.")
    return name
