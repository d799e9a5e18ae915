"""What a stream has in the database, sealed: its state, its outputs, where each rung begins.

The identity of each row, with its step, is authenticated.  Outputs are history and the
state is not: a state that is older than the outputs is found out, and nothing is drawn
from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlmodel import Session, col, func, select

from penstock.encryption import (
    RowIdentity,
    open_envelope,
    seal,
)
from penstock.encryption.vectors import open_vector, seal_vector
from penstock.errors import InvalidInput
from penstock.mechanisms import IntVector
from penstock.persistence.row_numbers import required
from penstock.persistence.tables import Dataset, Query, Release, StreamOutput, StreamState
from penstock.services.computations.stream_structure import Shape
from penstock.services.context import Server
from penstock.services.noise.keys import query_key
from penstock.services.noise.process import Process
from penstock.services.noise.sealed_state import (
    misfit,
    place_of,
    require_unfrozen,
)
from penstock.structures import NodeNoise
from penstock.structures.streams import node_state, root_state
from penstock.structures.streams.root_noise import RootNoise


@dataclass
class Running:
    """A stream's exact running total, in lattice steps, and its noise at every rung.

    ``rungs`` rise, as ``noise.levels`` do.
    """

    total: IntVector
    noise: NodeNoise | RootNoise
    rungs: list[int]

    @property
    def step(self) -> int:
        """How many elements there were."""
        return self.noise.step


def begin(query: Query, rungs: Sequence[int]) -> Running:
    """The state before the first element."""
    process, shape = Process.of(query), Shape.of(query)
    ordered = sorted(set(rungs))
    levels = [process.ladder.value(rung) for rung in ordered]
    noise: NodeNoise | RootNoise
    if shape.is_root:
        noise = RootNoise.begin(
            process.mechanism,
            shape.length or 0,
            shape.coarse(process),
            shape.dimension,
            levels,
        )
    else:
        noise = NodeNoise.begin(process.mechanism, shape.forest, shape.dimension, levels)
    return Running(np.zeros(shape.dimension, dtype=np.int64), noise, ordered)


def _restored(plain: bytes, process: Process, shape: Shape) -> NodeNoise | RootNoise:
    """Raises ``InvalidInput`` for what is no state of this shape."""
    if shape.is_root:
        return root_state.from_bytes(
            plain, process.mechanism, shape.length or 0, shape.coarse(process)
        )
    return node_state.from_bytes(plain, process.mechanism, shape.forest)


def _plain(noise: NodeNoise | RootNoise) -> bytes:
    if isinstance(noise, RootNoise):
        return root_state.to_bytes(noise)
    return node_state.to_bytes(noise)


def state_row(session: Session, query: Query) -> StreamState:
    """The row of a stream's state.  Raises ``IntegrityViolation`` without one."""
    row = session.exec(select(StreamState).where(col(StreamState.query_id) == query.id)).first()
    if row is None:
        raise misfit(query, "has no state")
    return row


def load(session: Session, server: Server, dataset: Dataset, query: Query) -> Running:
    """The newest state.  Raises ``IntegrityViolation`` where it does not fit the outputs."""
    row = state_row(session, query)
    given = session.exec(
        select(func.max(col(StreamOutput.last))).where(col(StreamOutput.query_id) == query.id)
    ).one()
    if (given or 0) != row.step:
        raise misfit(query, f"is at step {row.step}, and gave totals up to {given or 0}")
    process, shape = Process.of(query), Shape.of(query)
    plain = open_envelope(
        query_key(server, dataset, query), row.ciphertext, _state(dataset, query, row.step)
    )
    total = np.frombuffer(plain[: 8 * shape.dimension], dtype="<i8").astype(np.int64)
    try:
        noise = _restored(plain[8 * shape.dimension :], process, shape)
    except InvalidInput as problem:
        raise misfit(query, "has a state of another form") from problem
    rungs = sorted(rungs_of(session, query))
    if noise.step != row.step or noise.levels != [process.ladder.value(rung) for rung in rungs]:
        raise misfit(query, "has a state of other levels than were drawn")
    return Running(total, noise, rungs)


def save(
    session: Session, server: Server, dataset: Dataset, query: Query, running: Running
) -> None:
    """Put the state in the place of the one before.

    Raises ``Conflict`` for a stream that draws nothing more.
    """
    require_unfrozen(query)
    row = session.exec(select(StreamState).where(col(StreamState.query_id) == query.id)).first()
    plain = running.total.astype("<i8").tobytes() + _plain(running.noise)
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
    """The totals at ``rung`` of the steps in ``span``: shape (steps, dimension).

    Raises ``IntegrityViolation`` where one of them is missing.
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
    shape, key = Shape.of(query), query_key(server, dataset, query)
    found = np.empty((len(span), shape.dimension), dtype=np.int64)
    following = span.start
    for row in rows:
        if row.first > following:
            break
        place = _output(
            dataset, query, rung, row.first, (row.last - row.first + 1) * found.shape[1]
        )
        totals = open_vector(key, row.ciphertext, place).reshape(-1, shape.dimension)
        stop = min(row.last + 1, span.stop)
        part = totals[following - row.first : stop - row.first]
        found[following - span.start : stop - span.start] = part
        following = stop
    if following != span.stop:
        raise misfit(query, f"has no total of step {following}")
    return found


def rungs_of(session: Session, query: Query) -> Sequence[int]:
    """The rungs that have outputs or will have them."""
    return session.exec(select(Release.rung).where(col(Release.query_id) == query.id)).all()


def seal_first(
    server: Server, dataset: Dataset, query: Query, rung: int, seq: int, first: int
) -> bytes:
    """The first step with outputs at a rung, for its row of ``release``."""
    place = _beginning(dataset, query, rung, seq)
    return seal(query_key(server, dataset, query), first.to_bytes(8, "little"), place)


def first_of(server: Server, dataset: Dataset, query: Query, release: Release) -> int:
    """The first step with outputs at the rung of ``release``."""
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
