"""The encrypted state of a query's noise process: what every release is drawn from.

The identity of a row (dataset and version, query, rung, seq, length) is authenticated
with it, so that a swapped, copied or replayed row does not open.
"""

import numpy as np

from penstock.encryption import RowIdentity, open_envelope, seal
from penstock.encryption.vectors import open_vector, seal_vector
from penstock.errors import Conflict, IntegrityViolation
from penstock.mechanisms import IntVector
from penstock.persistence.tables import Dataset, Query, Release
from penstock.services.context import Server
from penstock.services.noise.keys import identity, query_key
from penstock.services.noise.process import family


def seal_state(
    server: Server, dataset: Dataset, query: Query, rung: int, seq: int, steps: IntVector
) -> bytes:
    """A release's lattice integers, encrypted for their row.

    How many a sparse histogram has is hidden up to a factor of two.  Raises ``Conflict`` for
    a query that draws nothing more.
    """
    require_unfrozen(query)
    if query.histogram is not None:
        place = _report(dataset, query, rung, seq)
        return seal(query_key(server, dataset, query), _padded(steps), place)
    return seal_vector(query_key(server, dataset, query), steps, _row(dataset, query, rung, seq))


def require_unfrozen(query: Query) -> None:
    """Raise ``Conflict`` where draws of a query may have been lost: others would add to them."""
    if query.frozen is not None:
        raise Conflict(
            f"The database was put back to an older state on {query.frozen}, and what"
            f" {query.name!r} had drawn since is lost; drawn again it would tell more than was"
            " paid for. What is stored is still handed out; for anything else register"
            " a new query."
        )


def open_state(server: Server, dataset: Dataset, query: Query, release: Release) -> IntVector:
    """A stored release's lattice integers, read-only, with all parts of its mechanism.

    Raises ``IntegrityViolation`` for a row that was altered, cut, copied or swapped.
    """
    if query.histogram is not None:
        place = _report(dataset, query, release.rung, release.seq)
        return _unpadded(
            open_envelope(query_key(server, dataset, query), release.ciphertext, place)
        )
    row = _row(dataset, query, release.rung, release.seq)
    return open_vector(query_key(server, dataset, query), release.ciphertext, row)


def seal_fingerprint(server: Server, dataset: Dataset, query: Query, digest: bytes) -> bytes:
    """The keyed fingerprint of a query's exact answer, encrypted for its row."""
    return seal(query_key(server, dataset, query), digest, _fingerprint(dataset, query))


def open_fingerprint(server: Server, dataset: Dataset, query: Query, sealed: bytes) -> bytes:
    """The fingerprint again.  Raises ``IntegrityViolation``."""
    return open_envelope(query_key(server, dataset, query), sealed, _fingerprint(dataset, query))


def place_of(
    dataset: Dataset,
    query: Query,
    table: str,
    kind: str,
    *,
    length: int = 1,
    rung: int | None = None,
    seq: int | None = None,
) -> RowIdentity:
    """Where what is sealed under the key of ``query`` belongs; ``kind`` is what it holds."""
    return RowIdentity(
        table=table,
        dataset=identity(dataset),
        query=query.folded,
        level=rung,
        seq=seq,
        length=length,
        type=kind,
    )


def misfit(query: Query, what: str) -> IntegrityViolation:
    """The refusal to draw from rows that do not fit each other."""
    kind = "Query" if query.structure is None else "Stream"
    return IntegrityViolation(
        f"{kind} {query.name!r} {what}: its rows do not fit each other. Nothing was drawn;"
        " restore the database from a backup."
    )


def _row(dataset: Dataset, query: Query, rung: int, seq: int) -> RowIdentity:
    length = query.dimension * family(query).parts
    return place_of(dataset, query, "release", "int64", length=length, rung=rung, seq=seq)


def _report(dataset: Dataset, query: Query, rung: int, seq: int) -> RowIdentity:
    return place_of(dataset, query, "release", "report", rung=rung, seq=seq)


def _padded(steps: IntVector) -> bytes:
    """How many there are, they themselves, and zeros up to the next power of two."""
    content = len(steps).to_bytes(8, "little") + steps.astype("<i8").tobytes()
    return content.ljust(1 << (len(content) - 1).bit_length(), b"\0")


def _unpadded(content: bytes) -> IntVector:
    count = int.from_bytes(content[:8], "little")
    return np.frombuffer(content, dtype="<i8", count=count, offset=8).astype(np.int64)


def _fingerprint(dataset: Dataset, query: Query) -> RowIdentity:
    return place_of(dataset, query, "query", "fingerprint", length=32)
