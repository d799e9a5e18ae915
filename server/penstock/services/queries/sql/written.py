"""Show a query's spec in SQL, as its dataset was declared when it was registered."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Final

from sqlmodel import Session

from penstock.connectors.sql.writing.statement import written
from penstock.errors import IntegrityViolation
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.services.datasets.declarations import as_declared
from penstock.services.datasets.population import spec_of
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.queries.exact_answers import Plannable
from penstock.services.schemas.queries import ComputedQueryRequest

MOST: Final = 512
"""How many statements are kept: to write one, the dataset's declaration is read first."""


def sql_of(session: Session, dataset: Dataset, query: Query) -> str | None:
    """Return a query in SQL; None of one that SQL cannot say, or whose declaration is lost."""
    if query.sql is None:
        return None
    try:
        return sql_of_stored(as_declared(session, dataset, query), query)
    except IntegrityViolation:
        # What reads data with a declaration refuses, and so does the verification.
        return None


def sql_of_stored(dataset: Dataset, query: Query) -> str | None:
    """Return a query in SQL as ``sql_of`` does, with the declaration that it was registered by."""
    if query.sql is None:
        return None

    def write() -> str | None:
        request = kind_of(query).request_of(json.loads(query.spec))
        return written(request, spec_of(dataset))

    return _LATEST.of(_digest(query.spec, dataset.spec), write)


def sql_of_request(dataset: Dataset, request: Plannable) -> str | None:
    """Return a requested query in SQL; None of one that SQL cannot say."""
    if not isinstance(request, ComputedQueryRequest):
        return None
    return written(request, spec_of(dataset))


def _digest(*texts: str) -> bytes:
    return hashlib.sha256(b"".join(hashlib.sha256(t.encode()).digest() for t in texts)).digest()


class _Latest:
    """Keep the latest statements by the texts that they are made of.  Threads may share it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, str | None] = OrderedDict()
        self._lock = Lock()

    def of(self, digest: bytes, write: Callable[[], str | None]) -> str | None:
        """Return what was written of the texts, or write it now."""
        with self._lock:
            if digest in self._kept:
                self._kept.move_to_end(digest)
                return self._kept[digest]
        text = write()
        with self._lock:
            self._kept[digest] = text
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)
        return text


_LATEST = _Latest()
