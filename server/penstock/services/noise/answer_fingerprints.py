"""Recognize an exact answer without storing it.

It stores an HMAC under the fingerprint key, which is not in the database, sealed with the query's
key; never in specs, hashes or the log.
"""

import hashlib
import hmac

import numpy as np

from penstock.encryption.envelope import RowIdentity, open_envelope, seal
from penstock.encryption.secrets import FINGERPRINT
from penstock.errors import Conflict
from penstock.mechanisms.process import IntVector
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.services.context import Server
from penstock.services.noise.keys import query_key
from penstock.services.noise.sealing import place_of


def fingerprint(server: Server, query: Query, exact: IntVector) -> bytes:
    """Return an HMAC-SHA256 of an exact answer in lattice steps, for this query alone."""
    return _fingerprint(server.secrets.fingerprint, query, exact)


def seal_fingerprint(server: Server, dataset: Dataset, query: Query, digest: bytes) -> bytes:
    """Encrypt the keyed fingerprint of a query's exact answer for its row."""
    return seal(query_key(server, dataset, query), digest, _place(dataset, query))


def open_fingerprint(server: Server, dataset: Dataset, query: Query, sealed: bytes) -> bytes:
    """Decrypt the stored fingerprint.  Raises ``IntegrityViolation``."""
    return open_envelope(query_key(server, dataset, query), sealed, _place(dataset, query))


def require_fingerprint(query: Query) -> bytes:
    """Return the sealed fingerprint.  Raises ``Conflict`` if there is none."""
    if query.sealed_fingerprint is None:
        raise Conflict(
            f"Query {query.readable!r} was registered before fingerprints of answers were kept, so"
            " its ceiling cannot be raised; register the statistic again."
        )
    return query.sealed_fingerprint


def is_same(server: Server, dataset: Dataset, query: Query, exact: IntVector) -> bool:
    """Return True if ``exact`` is the answer that the query's anchor was drawn from."""
    known = open_fingerprint(server, dataset, query, require_fingerprint(query))
    # It is under the key of the time when the anchor was drawn.
    keys = server.secrets.every(FINGERPRINT)
    return any(hmac.compare_digest(known, _fingerprint(key, query, exact)) for key in keys)


def _fingerprint(key: bytes, query: Query, exact: IntVector) -> bytes:
    mac = hmac.new(key, digestmod=hashlib.sha256)
    mac.update(f"answer\x00{query.folded}\x00{len(exact)}\x00".encode())
    mac.update(np.ascontiguousarray(exact, dtype="<i8").data)
    return mac.digest()


def _place(dataset: Dataset, query: Query) -> RowIdentity:
    return place_of(dataset, query, "query", "fingerprint", length=32)
