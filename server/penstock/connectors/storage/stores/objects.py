"""Say what is read of a store, and what a dataset's objects are."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, Protocol

from penstock.connectors.storage.failures import Missing

AT_ONCE: Final = 8
"""How many requests are under way at a time for what is asked of each object."""


@dataclass(frozen=True, order=True)
class StoredObject:
    """Hold an object's name in its store, its size in bytes, and its entity tag."""

    name: str
    size: int
    tag: str


@dataclass(frozen=True)
class Part:
    """Hold an object of a dataset, and what a table says of its columns.

    ``constants`` are the cells of columns that the object does not have, as texts, by name.  With
    ``ids`` a column is found by its number in the table's schema and not by its name.
    """

    item: StoredObject
    constants: Mapping[str, str | None] = field(default_factory=dict)
    ids: Mapping[str, int] | None = None


class Store(Protocol):
    """Represent a bucket, a container or a host: what is read of it."""

    root: str

    def under(self, folder: str) -> Iterator[StoredObject]:
        """Yield the objects below a folder, in any order."""
        ...

    def head(self, name: str) -> StoredObject:
        """Return the object of this name.  Raises ``Missing``."""
        ...

    def read(self, item: StoredObject, begin: int, end: int) -> bytes:
        """Return bytes of this version of the object.  Raises ``Missing``, ``Replaced``."""
        ...


def looked_up(store: Store, names: Sequence[str]) -> list[StoredObject | None]:
    """Return the objects of these names, None for one that is not there."""

    def head(name: str) -> StoredObject | None:
        try:
            return store.head(name)
        except Missing:
            return None

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(head, names))
