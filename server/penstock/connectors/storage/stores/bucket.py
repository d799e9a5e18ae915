"""Read buckets of S3, Google Cloud Storage and Azure, by obstore.

Every read names the entity tag of the object that was listed (``If-Match``), and the tag and the
size in the answer are compared as well, for stores that ignore the condition: bytes of two versions
of an object never meet in one answer.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

from penstock.connectors.storage.access import (
    Access,
    AzureAccess,
    GcsAccess,
    HttpAccess,
    S3Access,
    require_allowed,
)
from penstock.connectors.storage.address import Address
from penstock.connectors.storage.failures import Replaced, translated
from penstock.connectors.storage.stores.objects import Store, StoredObject
from penstock.errors import Unavailable

_CONNECT: Final = timedelta(seconds=10)
_SILENCE: Final = timedelta(seconds=60)
_WHOLE: Final = timedelta(minutes=10)
_RETRIES: Final = 3
_PATIENCE: Final = timedelta(minutes=2)


class Bucket:
    """Read a bucket of S3, Google Cloud Storage or Azure, or one in memory, by obstore."""

    def __init__(self, store: Any, root: str) -> None:
        self._store = store
        self.root = root
        self._where = f"The store of {root}"

    def under(self, folder: str) -> Iterator[StoredObject]:
        """Yield the objects below a folder, in any order."""
        import obstore

        with translated(self._where):
            for page in obstore.list(self._store, prefix=folder or None):
                yield from (self._item(meta) for meta in page)

    def head(self, name: str) -> StoredObject:
        """Return the object of this name.  Raises ``Missing``."""
        import obstore

        with translated(self._where):
            return self._item(obstore.head(self._store, name))

    def read(self, item: StoredObject, begin: int, end: int) -> bytes:
        """Return bytes of this version of the object.  Raises ``Missing``, ``Replaced``."""
        import obstore

        with translated(self._where):
            result = obstore.get(
                self._store, item.name, options={"range": (begin, end), "if_match": item.tag}
            )
            if self._item(result.meta) != item:
                raise Replaced("It was replaced.")
            content = bytes(result.bytes())
        if len(content) != end - begin:
            raise Unavailable(f"{self._where} answers with fewer bytes than it has. Ask again.")
        return content

    def _item(self, meta: Any) -> StoredObject:
        tag = meta["e_tag"]
        if not tag or tag.startswith("W/"):
            raise Unavailable(
                f"{self._where} gives its objects no strong entity tag (ETag), by which a version"
                " of an object is recognized. Use a store that does, or a file on the server's"
                " machine."
            )
        return StoredObject(meta["path"], meta["size"], tag)


def opened(access: Access, address: Address) -> Store:
    """Return the store that an address is in.  Raises ``InvalidInput`` if it is not allowed."""
    require_allowed(access, address)
    if isinstance(access, HttpAccess):
        from penstock.connectors.storage.stores.web import Host

        return Host(address, access)
    with translated(f"The store of {address.root}"):
        return Bucket(_store(access, address.bucket), address.root)


def _store(access: S3Access | GcsAccess | AzureAccess, bucket: str) -> Any:
    from obstore.store import AzureStore, GCSStore, S3Store

    more: dict[str, Any] = {
        **access.options(),
        "client_options": {
            "allow_http": access.allow_http,
            "connect_timeout": _CONNECT,
            "read_timeout": _SILENCE,
            "timeout": _WHOLE,
        },
        "retry_config": {"max_retries": _RETRIES, "retry_timeout": _PATIENCE},
    }
    if access.anonymous:
        more["skip_signature"] = True
    match access:
        case S3Access():
            return S3Store(bucket, **more)
        case GcsAccess():
            return GCSStore(bucket, **more)
        case AzureAccess():
            return AzureStore(bucket, **more)
