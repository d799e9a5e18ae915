"""Sign rows of which one column alone changes.

A release changes one column of its query's row, and the row's HMAC covers forty.  What comes before
the column that changes is taken in once for each key, and neither read nor hashed again.
"""

import hmac
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from penstock.persistence.row_authentication import columns, keyed, parts_of, writers

_MOST_KEYS = 2
"""A rotation has two keys in use for a while."""


class FixedRow:
    """Hold the values of a row's columns, all of them but one final."""

    def __init__(self, table: str, row: Mapping[str, Any], changing: str) -> None:
        names = columns(table)
        self._table, self._place = table, names.index(changing)
        self._values: tuple[Any, ...] = itemgetter(*names)(row)
        self._start, self._write = writers(table)[self._place]
        self._begun: dict[bytes, tuple[hmac.HMAC, bytes]] = {}

    def at(self, value: Any) -> Callable[[bytes], bytes]:
        """Return what computes the HMAC under a key of the row with ``value``, which is not null.

        It raises as ``row_authentication.mac`` does.
        """
        return lambda key: self.mac(key, value)

    def mac(self, key: bytes, value: Any) -> bytes:
        """Return what ``row_authentication.mac`` does for the row with ``value``."""
        begun, after = self._begun.get(key) or self._begin(key)
        digest, part = begun.copy(), self._write(value)
        digest.update(b"%b%d\x00%b%b" % (self._start, len(part), part, after))
        return digest.digest()

    def _begin(self, key: bytes) -> tuple[hmac.HMAC, bytes]:
        """Return an HMAC that has taken in what is before the column, and what is after it."""
        parts, place = parts_of(self._table, self._values), self._place + 1
        digest = keyed(key).copy()
        digest.update(b"".join(parts[:place]))
        begun = digest, b"".join(parts[place + 1 :])
        # A new dictionary, since threads share the row.
        self._begun = dict([*self._begun.items(), (key, begun)][-_MOST_KEYS:])
        return begun
