"""Derive a key for every query under a key for every dataset, under the provider's keys.

Every dataset's key is wrapped by a separate key at the provider.  Destroying that key makes
everything that the dataset's queries stored unreadable, in backups of the database too.  Rotating
the provider's keys rewraps one key for each dataset.
"""

from penstock.encryption.envelope import RowIdentity, key_id, open_key, seal_key
from penstock.encryption.key import Key
from penstock.encryption.providers import KeyProvider


def dataset_context(dataset: str) -> bytes:
    """Return the context that binds a wrapped key to its dataset, as ``rewrap`` needs it."""
    return RowIdentity(table="dataset", dataset=dataset, length=1, type="kek").encode()


def new_dataset_kek(provider: KeyProvider, dataset: str) -> bytes:
    """Return a new key for a dataset, wrapped.  ``dataset`` is its unchanging name and version."""
    return provider.wrap(Key.fresh(), dataset_context(dataset))


def unwrap_dataset_kek(provider: KeyProvider, wrapped_kek: bytes, dataset: str) -> Key:
    """Return the dataset's key.  Raises ``KeysUnavailable`` or ``IntegrityViolation``."""
    return provider.unwrap(wrapped_kek, dataset_context(dataset))


def wrapping_key(wrapped: bytes) -> str:
    """Return the public name of the provider's key that a wrapped key claims to be under."""
    return key_id(wrapped).hex()


def new_query_dek(kek: Key, dataset: str, query: str) -> bytes:
    """Return a new key for a query, wrapped under its dataset's key."""
    return seal_key(kek, Key.fresh(), _query_identity(dataset, query))


def unwrap_query_dek(kek: Key, wrapped_dek: bytes, dataset: str, query: str) -> Key:
    """Return the query's key.  Raises ``IntegrityViolation`` if it belongs to another query."""
    return open_key(kek, wrapped_dek, _query_identity(dataset, query))


def _query_identity(dataset: str, query: str) -> RowIdentity:
    return RowIdentity(table="query", dataset=dataset, query=query, length=1, type="dek")
