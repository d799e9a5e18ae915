"""Remove chunks that no release names, and those of a dataset that was shredded.

Chunks are removed only if nobody writes them, no row names them, and they were never marked as
named by one: a database that was put back to an older state loses none.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from sqlmodel import Session, col, func, select

from penstock.errors import IntegrityViolation, Unavailable
from penstock.persistence.tables.queries import Query, Release
from penstock.services.context import Server
from penstock.services.noise.long_vectors import manifest as manifests
from penstock.services.noise.long_vectors import sizes


def sweep(server: Server) -> int:
    """Remove what interrupted attempts left; return how many attempts that were.

    An attempt that a row names is marked instead: a crash kept its writer from that.
    """
    removed = 0
    for attempt in list(server.chunks.abandoned()):
        with server.chunks.claimed(attempt) as mine:
            if not mine:
                continue
            # Read while it is claimed: its writer commits the row before it lets go.
            with server.database.read() as session:
                is_named = attempt in set(named(session))
            if is_named:
                server.chunks.mark(attempt)
                continue
            # What a worker elsewhere still writes into is removed the next time.
            with suppress(Unavailable):
                server.chunks.remove(attempt)
                removed += 1
    return removed


def named(session: Session, dataset_id: int | None = None) -> Iterator[str]:
    """Yield the attempts that releases name: of one version of a dataset, or of all."""
    statement = (
        select(Release.ciphertext)
        .join(Query, col(Release.query_id) == col(Query.id))
        # Long vectors of earlier versions are in their rows, and far longer than a manifest.
        .where(
            col(Query.dimension) > sizes.longest_row(),
            func.length(Release.ciphertext) <= manifests.LARGEST,
        )
    )
    if dataset_id is not None:
        statement = statement.where(col(Query.dataset_id) == dataset_id)
    for stored in session.exec(statement).all():
        if manifests.is_manifest(stored):
            try:
                yield manifests.public_part(stored).attempt
            except IntegrityViolation:
                continue  # whoever reads the release is told so


def remove_all(server: Server, attempts: Iterable[str]) -> None:
    """Remove the chunks of attempts, whose keys were destroyed."""
    for attempt in attempts:
        server.chunks.remove(attempt)
