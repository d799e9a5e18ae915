"""Seal and open what a stream stores: its state, its outputs, and where each rung begins.

The identity of each row, with its step, is authenticated.  Outputs are history and the state is
not: a state that is older than the outputs is detected, and nothing is drawn from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlmodel import Session, col, func, select

from penstock.encryption.envelope import RowIdentity, open_envelope, seal
from penstock.encryption.vectors import open_vector, seal_vector
from penstock.errors import InvalidInput
from penstock.mechanisms.process import IntVector
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query, Release
from penstock.persistence.tables.streams import StreamOutput, StreamState
from penstock.services.context import Server
from penstock.services.noise.keys import query_key
from penstock.services.noise.kinds.choice import stream_kind_of
from penstock.services.noise.kinds.stream import state_row
from penstock.services.noise.kinds.stream_shape import Noise
from penstock.services.noise.sealing import (
    misfit,
    place_of,
    require_unfrozen,
)


@dataclass
class Running:
    """Hold a stream's exact running total, in lattice steps, and its noise at every rung.

    ``rungs`` rise, as ``noise.levels`` do.
    """

    total: IntVector
    noise: Noise
    rungs: list[int]

    @property
    def step(self) -> int:
        """Return the number of elements so far."""
        return self.noise.step


def first_state(query: Query, rungs: Sequence[int]) -> Running:
    """Return the state before the first element."""
    kind = stream_kind_of(query)
    ordered = sorted(set(rungs))
    levels = [kind.ladder.value(rung) for rung in ordered]
    shape = kind.shape
    total = np.zeros(shape.dimension, dtype=np.int64)
    return Running(total, shape.begin(kind, levels), ordered)


def load(session: Session, server: Server, dataset: Dataset, query: Query) -> Running:
    """Return the newest state.  Raises ``IntegrityViolation`` if it does not fit the outputs."""
    row = state_row(session, query)
    given = session.exec(
        select(func.max(col(StreamOutput.last))).where(col(StreamOutput.query_id) == query.id)
    ).one()
    if (given or 0) != row.step:
        raise misfit(
            query, f"is at step {row.step}, and gave totals up to {given or 0}", noun="Stream"
        )
    kind = stream_kind_of(query)
    shape = kind.shape
    plain = open_envelope(
        query_key(server, dataset, query), row.ciphertext, _state(dataset, query, row.step)
    )
    total = np.frombuffer(plain[: 8 * shape.dimension], dtype="<i8").astype(np.int64)
    try:
        noise = shape.restored(plain[8 * shape.dimension :], kind)
    except InvalidInput as problem:
        raise misfit(query, "has a state in another format", noun="Stream") from problem
    rungs = sorted(rungs_of(session, query))
    if noise.step != row.step or noise.levels != [kind.ladder.value(rung) for rung in rungs]:
        raise misfit(query, "has a state with other levels than those drawn", noun="Stream")
    return Running(total, noise, rungs)


def save(
    session: Session, server: Server, dataset: Dataset, query: Query, running: Running
) -> None:
    """Replace the stored state.  Raises ``Conflict`` for a stream that draws nothing more."""
    require_unfrozen(query)
    row = session.exec(select(StreamState).where(col(StreamState.query_id) == query.id)).first()
    noise = stream_kind_of(query).shape.stored(running.noise)
    plain = running.total.astype("<i8").tobytes() + noise
    place = _state(dataset, query, running.step)
    sealed = seal(query_key(server, dataset, query), plain, place)
    if row is None:
        row = StreamState(query_id=required(query.id), step=running.step, ciphertext=sealed)
    row.step, row.ciphertext = running.step, sealed
    session.add(row)


def add_outputs(
    session: Session,
    server: Server,
    dataset: Dataset,
    query: Query,
    first: int,
    outputs: Sequence[tuple[int, IntVector]],
    at: datetime,
) -> None:
    """Append the totals of the steps from ``first`` on: by rung, shape (steps, dimension)."""
    key = query_key(server, dataset, query)
    for rung, totals in outputs:
        place = _output(dataset, query, rung, first, totals.size)
        session.add(
            StreamOutput(
                query_id=required(query.id),
                rung=rung,
                first=first,
                last=first + len(totals) - 1,
                ciphertext=seal_vector(key, totals.reshape(-1), place),
                created_at=at,
            )
        )


def outputs_of(
    session: Session, server: Server, dataset: Dataset, query: Query, rung: int, span: range
) -> IntVector:
    """Return the totals at ``rung`` of the steps in ``span``: shape (steps, dimension).

    Raises ``IntegrityViolation`` if one of them is missing.
    """
    rows = session.exec(
        select(StreamOutput)
        .where(
            col(StreamOutput.query_id) == query.id,
            col(StreamOutput.rung) == rung,
            col(StreamOutput.last) >= span.start,
            col(StreamOutput.first) < span.stop,
        )
        .order_by(col(StreamOutput.first))
    ).all()
    shape, key = stream_kind_of(query).shape, query_key(server, dataset, query)
    outputs = np.empty((len(span), shape.dimension), dtype=np.int64)
    following = span.start
    for row in rows:
        if row.first > following:
            break
        place = _output(
            dataset, query, rung, row.first, (row.last - row.first + 1) * outputs.shape[1]
        )
        totals = open_vector(key, row.ciphertext, place).reshape(-1, shape.dimension)
        stop = min(row.last + 1, span.stop)
        part = totals[following - row.first : stop - row.first]
        outputs[following - span.start : stop - span.start] = part
        following = stop
    if following != span.stop:
        raise misfit(query, f"has no total of step {following}", noun="Stream")
    return outputs


def rungs_of(session: Session, query: Query) -> Sequence[int]:
    """Return the rungs that have outputs or will have them."""
    return session.exec(select(Release.rung).where(col(Release.query_id) == query.id)).all()


def seal_first(
    server: Server, dataset: Dataset, query: Query, rung: int, seq: int, first: int
) -> bytes:
    """Encrypt the first step with outputs at a rung, for its row of ``release``."""
    place = _beginning(dataset, query, rung, seq)
    return seal(query_key(server, dataset, query), first.to_bytes(8, "little"), place)


def first_of(server: Server, dataset: Dataset, query: Query, release: Release) -> int:
    """Return the first step with outputs at the rung of ``release``."""
    place = _beginning(dataset, query, release.rung, release.seq)
    plain = open_envelope(query_key(server, dataset, query), release.ciphertext, place)
    return int.from_bytes(plain, "little")


def _state(dataset: Dataset, query: Query, step: int) -> RowIdentity:
    return place_of(dataset, query, "stream_state", "state", seq=step)


def _output(dataset: Dataset, query: Query, rung: int, first: int, length: int) -> RowIdentity:
    place = "stream_output", "int64"
    return place_of(dataset, query, *place, length=length, rung=rung, seq=first)


def _beginning(dataset: Dataset, query: Query, rung: int, seq: int) -> RowIdentity:
    return place_of(dataset, query, "release", "first step", rung=rung, seq=seq)
