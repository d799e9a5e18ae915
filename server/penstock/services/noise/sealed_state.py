"""Seal and open the releases of a query: what every further release is drawn from."""

from penstock.mechanisms.process import IntVector
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.services.context import Server
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.long_vectors.long_vector import Steps
from penstock.services.noise.sealing import SealedRelease, require_unfrozen


def seal_state(
    server: Server, dataset: Dataset, query: Query, rung: int, seq: int, steps: Steps
) -> bytes:
    """Encrypt a release's lattice integers for their row, in the form of the query's kind.

    Raises ``Conflict`` for a query that draws nothing more.
    """
    require_unfrozen(query)
    return kind_of(query).sealed(server, dataset, query, rung, seq, steps)


def open_state(server: Server, dataset: Dataset, query: Query, release: SealedRelease) -> IntVector:
    """Return a stored release's lattice integers, with all parts of its mechanism.

    Raises ``IntegrityViolation`` for a row that was altered, cut, copied or swapped.
    """
    return kind_of(query).opened(server, dataset, query, release)


def stored_state(server: Server, dataset: Dataset, query: Query, release: SealedRelease) -> Steps:
    """Return the same, in chunks if they are stored so: then each is read when it is needed.

    Raises as ``open_state`` does; reading a chunk raises ``IntegrityViolation`` too.
    """
    return kind_of(query).stored(server, dataset, query, release)
