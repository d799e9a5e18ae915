"""Read an object as Arrow reads files: at any position, by ranges, and never as a whole."""

import io
from typing import Final

from penstock.connectors.storage.stores.objects import Store, StoredObject

TAIL: Final = 1 << 16
"""How many bytes of an object's end are read at once: most footers fit."""


class ObjectFile(io.RawIOBase):
    """Represent one version of an object as a file that can be read and not written.

    Its last bytes are kept, which hold a Parquet file's footer.
    """

    def __init__(self, store: Store, item: StoredObject) -> None:
        super().__init__()
        self._store, self._item = store, item
        self._position = 0
        self._tail: bytes | None = None

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position of the next byte that is read."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position; return it."""
        bases = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._item.size}
        self._position = max(0, bases[whence] + offset)
        return self._position

    def size(self) -> int:
        """Return the number of bytes."""
        return self._item.size

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes, at most ``size``, by one request at most."""
        begin = min(self._position, self._item.size)
        end = self._item.size if size is None or size < 0 else min(begin + size, self._item.size)
        content = self._between(begin, end)
        self._position = end
        return content

    def _between(self, begin: int, end: int) -> bytes:
        if begin >= end:
            return b""
        first = max(0, self._item.size - TAIL)
        if begin < first:
            return self._store.read(self._item, begin, end)
        if self._tail is None:
            self._tail = self._store.read(self._item, first, self._item.size)
        return self._tail[begin - first : end - first]
