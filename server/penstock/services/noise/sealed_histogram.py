"""A sparse histogram in the database, sealed: the state that levels are drawn from.

The state is exact in one thing, which keys have a count that is not 0; encryption alone
protects that.  It is as old as the newest release, or nothing is drawn from it.
"""

from sqlmodel import Session, col, select

from penstock.encryption import RowIdentity, open_envelope, seal
from penstock.mechanisms import IntVector
from penstock.persistence.row_numbers import required
from penstock.persistence.tables import Dataset, HistogramState, Query, Release
from penstock.services.context import Server
from penstock.services.noise.histogram_settings import joined, parted
from penstock.services.noise.keys import query_key
from penstock.services.noise.process import Process
from penstock.services.noise.sealed_state import (
    misfit,
    place_of,
)
from penstock.structures.sparse_histogram import (
    Domain,
    HistogramNoise,
    SparseHistogram,
    Thresholds,
    foreseen,
    from_bytes,
    to_bytes,
)


def begin(server: Server, query: Query, exact: IntVector) -> SparseHistogram:
    """Draw the support's noise at the ceiling; from then on the counts are not needed.

    ``exact`` has the ranks of the keys, and then their counts.
    """
    ranks, counts = parted(exact)
    return SparseHistogram(
        *_planned(query),
        ranks,
        counts,
        query.ceiling,
        streams=server.randomness,
    )


def anticipate(session: Session, query: Query, rung: int) -> None:
    """Work out what a draw at ``rung`` will need, before anybody waits for it.

    It hangs on public numbers alone: thresholds, and which rungs were released.
    """
    rungs = session.exec(select(Release.rung).where(col(Release.query_id) == query.id)).all()
    if rung not in rungs:
        _, thresholds, _ = _planned(query)
        foreseen(thresholds, rungs, rung)


def drawn(histogram: SparseHistogram, rung: int) -> IntVector:
    """The report at ``rung`` as one vector; a rung that is new is drawn."""
    report = histogram.at(rung)
    return joined(report.ranks, report.steps)


def load(session: Session, server: Server, dataset: Dataset, query: Query) -> SparseHistogram:
    """The newest state.  Raises ``IntegrityViolation`` where it does not fit the releases."""
    row = _row(session, query)
    if row is None:
        raise misfit(query, "has no state")
    if row.seq != query.seq:
        raise misfit(query, f"has the state of release {row.seq}, and released {query.seq}")
    key = query_key(server, dataset, query)
    plain = open_envelope(key, row.ciphertext, _place(dataset, query, row.seq))
    histogram = from_bytes(plain, *_planned(query), streams=server.randomness)
    rungs = session.exec(select(Release.rung).where(col(Release.query_id) == query.id)).all()
    if set(histogram.limits) != set(rungs):
        raise misfit(query, "has a state of other levels than were released")
    return histogram


def save(
    session: Session, server: Server, dataset: Dataset, query: Query, histogram: SparseHistogram
) -> None:
    """Put the state after the newest release in the place of the one before."""
    place = _place(dataset, query, query.seq)
    sealed = seal(query_key(server, dataset, query), to_bytes(histogram), place)
    row = _row(session, query)
    if row is None:
        row = HistogramState(query_id=required(query.id), seq=query.seq, ciphertext=sealed)
    row.seq, row.ciphertext = query.seq, sealed
    session.add(row)


def _planned(query: Query) -> tuple[HistogramNoise, Thresholds, Domain]:
    process = Process.of(query)
    noise, shape = process.mechanism, process.histogram
    if not isinstance(noise, HistogramNoise) or shape is None:
        raise TypeError("a query of another kind was taken for a sparse histogram")
    return noise, process.thresholds(shape), shape.domain


def _row(session: Session, query: Query) -> HistogramState | None:
    return session.exec(
        select(HistogramState).where(col(HistogramState.query_id) == query.id)
    ).first()


def _place(dataset: Dataset, query: Query, seq: int) -> RowIdentity:
    return place_of(dataset, query, "histogram_state", "state", seq=seq)
