"""Make and unwrap the keys of datasets and queries, under which their noise state is sealed.

A query's key is wrapped by its dataset's, and that by the provider's (``encryption.hierarchy``).
Both are kept for a few seconds (``services.kept_keys``).
"""

from contextlib import suppress
from typing import TYPE_CHECKING

from sqlmodel import select

from penstock.encryption.hierarchy import (
    new_dataset_kek,
    new_query_dek,
    unwrap_dataset_kek,
    unwrap_query_dek,
)
from penstock.encryption.key import Key
from penstock.errors import Conflict, IntegrityViolation
from penstock.persistence.tables.datasets import Dataset
from penstock.services.context import Server
from penstock.services.kept_keys import Shelf

if TYPE_CHECKING:
    from penstock.persistence.tables.queries import Query


def identity(dataset: Dataset) -> str:
    """Return the permanent name of a version of a dataset, ``folded@version``."""
    return f"{dataset.folded}@{dataset.version}"


def dataset_key(server: Server, dataset: Dataset) -> Key:
    """Return the key of a dataset.

    Raises ``KeysUnavailable``, ``IntegrityViolation``, and ``Conflict`` if it was shredded.
    """
    require_not_shredded(dataset)
    return _dataset_key(server, server.keys.shelf(server.provider.version()), dataset)


def _dataset_key(server: Server, shelf: Shelf, dataset: Dataset) -> Key:
    name = identity(dataset)
    return shelf.key(
        (dataset.wrapped_kek, name),
        lambda: unwrap_dataset_kek(server.provider, dataset.wrapped_kek, name),
    )


def require_keys(server: Server) -> None:
    """Raise ``KeysUnavailable`` unless the provider has the keys of the datasets.

    Data stored under the ring of another database would be lost with that ring.
    """
    with server.database.read() as session:
        rows = session.exec(
            select(Dataset.folded, Dataset.version, Dataset.wrapped_kek).where(
                Dataset.wrapped_kek != b""
            )
        ).all()
    for folded, version, wrapped in rows:
        # An altered row is refused when it is read; it says nothing about the ring.
        with suppress(IntegrityViolation):
            unwrap_dataset_kek(server.provider, wrapped, f"{folded}@{version}")


def fresh_dataset_key(server: Server, folded: str, version: int) -> bytes:
    """Return a new key for a dataset that is about to be stored, wrapped."""
    return new_dataset_kek(server.provider, f"{folded}@{version}")


def fresh_query_key(server: Server, dataset: Dataset, folded: str) -> bytes:
    """Return a new key for a query that is about to be stored, wrapped by its dataset's."""
    return new_query_dek(dataset_key(server, dataset), identity(dataset), folded)


def query_key(server: Server, dataset: Dataset, query: "Query") -> Key:
    """Return the key of a query.  Raises as ``dataset_key`` does."""
    require_not_shredded(dataset)
    # One shelf for both: the key is kept no longer than that of its dataset.
    shelf = server.keys.shelf(server.provider.version())
    name = identity(dataset)
    return shelf.key(
        (dataset.wrapped_kek, name, query.wrapped_dek, query.folded),
        lambda: unwrap_query_dek(
            _dataset_key(server, shelf, dataset), query.wrapped_dek, name, query.folded
        ),
    )


def require_not_shredded(dataset: Dataset) -> None:
    """Raise ``Conflict`` if a dataset was shredded."""
    if not dataset.wrapped_kek:
        raise Conflict(
            f"Dataset {dataset.name!r}, version {dataset.version}, was shredded: its stored data"
            f" can never be read again."
        )
