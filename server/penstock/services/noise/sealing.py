"""Seal what is stored of a query's noise under the query's key, for one row each.

The identity of a row (dataset and version, query, rung, seq, length) is authenticated with
it, so that a swapped, copied or replayed row does not open.
"""

from dataclasses import dataclass
from typing import Protocol

from penstock.encryption.envelope import RowIdentity
from penstock.encryption.vectors import open_vector, open_vector_in_pieces, seal_vector
from penstock.errors import Conflict, IntegrityViolation
from penstock.mechanisms.process import IntVector
from penstock.persistence.protocol import LongContent
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.services.context import Server
from penstock.services.noise.keys import identity, query_key


class SealedRelease(Protocol):
    """Hold what opening a stored release needs: an entity of its row, or some of its columns."""

    @property
    def public_id(self) -> str:
        """Return its name."""
        ...

    @property
    def rung(self) -> int:
        """Return the rung of its level."""
        ...

    @property
    def seq(self) -> int:
        """Return its number among the releases of its query."""
        ...

    @property
    def ciphertext(self) -> bytes:
        """Return the sealed vector."""
        ...


@dataclass
class StoredRelease:
    """Hold the authenticated row of a release, without what only its history needs.

    Its sealed vector may be one that is read in pieces while the transaction lasts.
    """

    id: int
    public_id: str
    rung: int
    seq: int
    sealed: bytes | LongContent

    @property
    def ciphertext(self) -> bytes:
        """Return the sealed vector as a whole."""
        if isinstance(self.sealed, bytes):
            return self.sealed
        with self.sealed.opened() as (_, pieces):
            return b"".join(pieces)

    def let_go(self) -> None:
        """Drop the ciphertext once it is opened: it takes as much memory as the vector."""
        self.sealed = b""


def seal_steps(
    server: Server,
    dataset: Dataset,
    query: Query,
    rung: int,
    seq: int,
    steps: IntVector,
    parts: int,
) -> bytes:
    """Encrypt a release's lattice integers, ``parts`` for each value, for their row."""
    place = _release(dataset, query, rung, seq, parts)
    return seal_vector(query_key(server, dataset, query), steps, place)


def open_steps(
    server: Server, dataset: Dataset, query: Query, release: SealedRelease, parts: int
) -> IntVector:
    """Return a stored release's lattice integers.  Raises ``IntegrityViolation``."""
    place = _release(dataset, query, release.rung, release.seq, parts)
    key = query_key(server, dataset, query)
    sealed = release.sealed if isinstance(release, StoredRelease) else release.ciphertext
    if isinstance(sealed, bytes):
        return open_vector(key, sealed, place)
    with sealed.opened() as (size, pieces):
        return open_vector_in_pieces(key, size, pieces, place)


def require_unfrozen(query: Query) -> None:
    """Raise ``Conflict`` if draws of a query may have been lost: others would add to them."""
    if query.frozen is not None:
        raise Conflict(
            f"The database was restored to an older state on {query.frozen}, and what"
            f" {query.readable!r} had drawn since then is lost; new draws would reveal more than"
            " was charged for. Stored releases are still handed out; for anything else register"
            " a new query."
        )


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
    """Return the identity of a row sealed under the key of ``query``; ``kind`` is its content."""
    return RowIdentity(
        table=table,
        dataset=identity(dataset),
        query=query.folded,
        level=rung,
        seq=seq,
        length=length,
        type=kind,
    )


def misfit(query: Query, what: str, *, noun: str = "Query") -> IntegrityViolation:
    """Return the refusal to draw from rows that do not fit each other."""
    return IntegrityViolation(
        f"{noun} {query.readable!r} {what}: its rows do not fit each other. Nothing was drawn;"
        " restore the database from a backup."
    )


def _release(dataset: Dataset, query: Query, rung: int, seq: int, parts: int) -> RowIdentity:
    length = query.dimension * parts
    return place_of(dataset, query, "release", "int64", length=length, rung=rung, seq=seq)
