"""Seal and open a sparse histogram in the database: the state that levels are drawn from.

The state contains one exact thing: which keys have a count that is not 0. Only encryption protects
it.  It is as old as the newest release, or nothing is drawn from it.
"""

from typing import NamedTuple

import numpy as np
from sqlmodel import Session, col, select

from penstock.encryption.envelope import RowIdentity, open_envelope, seal
from penstock.mechanisms.laplace.process import Laplace
from penstock.mechanisms.process import IntVector
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import HistogramState, Query, Release
from penstock.services.context import Server
from penstock.services.noise.keys import query_key
from penstock.services.noise.sealing import SealedRelease, misfit, place_of
from penstock.structures.sparse_histogram.contents import KeyNoise, joined, parted
from penstock.structures.sparse_histogram.domain import Domain
from penstock.structures.sparse_histogram.histogram import SparseHistogram, next_crossing
from penstock.structures.sparse_histogram.state import from_bytes, to_bytes
from penstock.structures.sparse_histogram.threshold import Thresholds


class Settings(NamedTuple):
    """Hold what is public of a sparse histogram: its noise, thresholds and domain of keys."""

    noise: KeyNoise
    thresholds: Thresholds
    domain: Domain


def begin(server: Server, query: Query, settings: Settings, exact: IntVector) -> SparseHistogram:
    """Draw the support's noise at the ceiling; from then on the counts are not needed.

    ``exact`` has the ranks of the keys, and then their counts.
    """
    ranks, counts = parted(exact)
    return SparseHistogram(*settings, ranks, counts, query.ceiling, streams=server.randomness)


def prepare_draw(session: Session, query: Query, settings: Settings, rung: int) -> None:
    """Compute what a draw at ``rung`` will need, before anybody waits for it.

    It depends only on public numbers: thresholds, and which rungs were released.  Laplace noise
    needs nothing.
    """
    if isinstance(settings.noise, Laplace):
        return
    rungs = session.exec(select(Release.rung).where(col(Release.query_id) == query.id)).all()
    if rung not in rungs:
        next_crossing(settings.thresholds, rungs, rung)


def drawn(histogram: SparseHistogram, rung: int) -> IntVector:
    """Return the report at ``rung`` as one vector; a rung that is new is drawn."""
    report = histogram.at(rung)
    return joined(report.ranks, report.steps)


def load(
    session: Session, server: Server, dataset: Dataset, query: Query, settings: Settings
) -> SparseHistogram:
    """Return the newest state.  Raises ``IntegrityViolation`` if the releases do not fit it."""
    row = _row(session, query)
    if row is None:
        raise misfit(query, "has no state")
    if row.seq != query.seq:
        raise misfit(query, f"has the state of release {row.seq}, and released {query.seq}")
    key = query_key(server, dataset, query)
    plain = open_envelope(key, row.ciphertext, _place(dataset, query, row.seq))
    histogram = from_bytes(plain, *settings, streams=server.randomness)
    rungs = session.exec(select(Release.rung).where(col(Release.query_id) == query.id)).all()
    if set(histogram.limits) != set(rungs):
        raise misfit(query, "has a state of other levels than were released")
    return histogram


def save(
    session: Session, server: Server, dataset: Dataset, query: Query, histogram: SparseHistogram
) -> None:
    """Replace the stored state by the one after the newest release."""
    place = _place(dataset, query, query.seq)
    sealed = seal(query_key(server, dataset, query), to_bytes(histogram), place)
    row = _row(session, query)
    if row is None:
        row = HistogramState(query_id=required(query.id), seq=query.seq, ciphertext=sealed)
    row.seq, row.ciphertext = query.seq, sealed
    session.add(row)


def seal_report(
    server: Server, dataset: Dataset, query: Query, rung: int, seq: int, steps: IntVector
) -> bytes:
    """Encrypt a report for its row; how many keys it has is hidden up to a factor of two."""
    place = _report(dataset, query, rung, seq)
    return seal(query_key(server, dataset, query), _padded(steps), place)


def open_report(
    server: Server, dataset: Dataset, query: Query, release: SealedRelease
) -> IntVector:
    """Return a stored report.  Raises ``IntegrityViolation``."""
    place = _report(dataset, query, release.rung, release.seq)
    return _unpadded(open_envelope(query_key(server, dataset, query), release.ciphertext, place))


def _row(session: Session, query: Query) -> HistogramState | None:
    return session.exec(
        select(HistogramState).where(col(HistogramState.query_id) == query.id)
    ).first()


def _place(dataset: Dataset, query: Query, seq: int) -> RowIdentity:
    return place_of(dataset, query, "histogram_state", "state", seq=seq)


def _report(dataset: Dataset, query: Query, rung: int, seq: int) -> RowIdentity:
    return place_of(dataset, query, "release", "report", rung=rung, seq=seq)


def _padded(steps: IntVector) -> bytes:
    """Return the number of ``steps``, the steps, and zeros up to the next power of two."""
    content = len(steps).to_bytes(8, "little") + steps.astype("<i8").tobytes()
    return content.ljust(1 << (len(content) - 1).bit_length(), b"\0")


def _unpadded(content: bytes) -> IntVector:
    count = int.from_bytes(content[:8], "little")
    return np.frombuffer(content, dtype="<i8", count=count, offset=8).astype(np.int64)
