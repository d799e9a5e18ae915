"""Feed a stream with exact answers of a query on versions of its dataset, each version once.

Nothing but the stream is charged, and that when it was opened.  So what it was charged for must
cover each element: the query's derived sensitivity is at most the one that was stated, and whoever
may be in the version is counted together with the stream, whose charges are in another version's
accounts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
from sqlmodel import Session, col, select

from penstock.connectors.connector import ExactAnswer
from penstock.connectors.planning import prepare
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.connectors.progress import Progress
from penstock.connectors.specs.models import ComputedQuery, Mean, Uncategorized
from penstock.connectors.specs.moments import MarginalTables, Workload
from penstock.connectors.vector import asserted
from penstock.errors import Conflict, DatabaseUnavailable, InvalidInput
from penstock.mechanisms.process import IntVector
from penstock.persistence.locks import lock_dataset
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.persistence.tables.streams import FedElement
from penstock.services.access.principals import Principal, require_still
from penstock.services.context import Server
from penstock.services.datasets.declarations import require_as_declared
from penstock.services.datasets.fingerprints import fingerprint_of, salt_of
from penstock.services.datasets.population import spec_of
from penstock.services.ledger.version_chains import chains, of_same_people
from penstock.services.noise.kinds.choice import stream_kind_of
from penstock.services.noise.kinds.stream import state_row
from penstock.services.noise.kinds.stream_shape import Shape
from penstock.services.noise.sealing import require_unfrozen
from penstock.services.queries.mismatches import require_in_range_before
from penstock.services.repository.queries import stream_by_name
from penstock.services.schemas.streams import StreamRequest
from penstock.services.streams.stream_elements import drawn_from, store
from penstock.spec_fields import folded

Fed = Callable[[Session, Query, int, str | None], None]
"""Called with a stream, the number of its new element, and the state that its answer was read from.

That state is the engine's name (``ExactAnswer.state``).  It is called in the transaction that
stores the element.
"""


@dataclass(frozen=True)
class Feed:
    """Hold a stream, and the query whose answer is its next element."""

    stream: str
    query: ComputedQuery


def left(session: Session, name: str) -> tuple[int, int | None, int]:
    """Return a stream's number of elements, how many more it takes, and how many a unit may be in.

    The second is None without an end.  Raises ``NotFound``, and ``Conflict`` for a stream that
    takes none.
    """
    query = stream_by_name(session, name)
    if query.status != "active":
        raise Conflict(f"Stream {query.name!r} is {query.status} and takes no elements.")
    require_in_range_before(query)
    require_unfrozen(query)
    step, shape = state_row(session, query).step, stream_kind_of(query).shape
    length = shape.length
    if length is not None and step >= length:
        raise Conflict(f"Stream {query.name!r} has all of its {length} elements.")
    return step, None if length is None else length - step, shape.max_steps_per_unit


def checked(session: Session, version: Dataset, feed: Feed) -> PreparedQuery:
    """Return the query of a feed, prepared for a version that is or will be the newest.

    Raises ``NotFound``; ``Conflict`` for a stream that takes no element, or of other people than
    the version's; and ``InvalidInput`` for a query whose answer is no element of the stream.
    """
    left(session, feed.stream)
    stream = stream_by_name(session, feed.stream)
    _require_counted_together(session, version, stream)
    if isinstance(feed.query.aggregate, Mean | Uncategorized):
        raise InvalidInput(
            f"The answer of {feed.query.aggregate.type!r} is a quotient, which does not add up."
            " Feed a stream with count, count_units, sum or histogram.",
            pointer="/aggregate",
        )
    if isinstance(feed.query.aggregate, MarginalTables | Workload):
        raise InvalidInput(
            f"A {feed.query.aggregate.type} query is computed from other sums, which are no"
            " elements. Feed a stream with a histogram.",
            pointer="/aggregate",
        )
    prepared = prepare.prepare(
        spec_of(version),
        feed.query,
        version=version.version,
        mechanism=stream.mechanism,
        declaration=version.declaration,
    )
    _require_fitting(stream, prepared)
    return prepared


def feed(
    server: Server,
    principal: Principal,
    version: Dataset,
    feed: Feed,
    progress: Progress,
    also: Fed,
) -> None:
    """Add a query's exact answer on a version to a stream, as its next element.

    Nothing is done if the version has fed it before.  Raises as ``checked`` does;
    ``SourceChanged``; ``InvalidInput`` for a total that leaves the stream's range, which is
    counted; and ``DatabaseUnavailable`` if somebody else added elements meanwhile, so that this is
    to be tried again.
    """
    with server.database.read() as session:
        if fed(session, stream_by_name(session, feed.stream), version) is not None:
            return
        prepared = checked(session, version, feed)
    answer = _answered(server, version, prepared, progress)
    element, state = partial(_element, prepared, answer.steps), answer.state
    del answer
    drawn = drawn_from(server, principal, feed.stream, element)
    del element
    with server.database.write_beside() as session:
        require_as_declared(lock_dataset(session, required(version.id)), version)
        require_still(session, principal, "admin")
        _require_counted_together(session, version, drawn.query)
        if fed(session, drawn.query, version) is not None:
            raise _meanwhile(drawn.query)
        try:
            stream = store(session, server, drawn)
        except Conflict as moved:
            left(session, feed.stream)
            raise _meanwhile(drawn.query) from moved
        row = FedElement(
            query_id=required(stream.id),
            dataset_id=required(version.id),
            step=drawn.first,
            created_at=server.clock(),
        )
        session.add(row)
        session.flush()
        also(session, stream, drawn.first, state)


def fed(session: Session, stream: Query, version: Dataset) -> int | None:
    """Return the number of the element that a version gave to a stream, or None."""
    row = session.exec(  # a row and not a column: rows are authenticated
        select(FedElement).where(
            col(FedElement.query_id) == stream.id, col(FedElement.dataset_id) == version.id
        )
    ).one_or_none()
    return None if row is None else row.step


def days_of(session: Session, stream: Query, steps: range) -> list[date] | None:
    """Return the days (UTC) on which versions gave a stream its elements, one for each step.

    None if others were pushed, or if two elements have one day, which then would not tell them
    apart.  No time of day is told: it would show how long an exact answer took.
    """
    rows = session.exec(  # rows and not columns: rows are authenticated
        select(FedElement)
        .where(
            col(FedElement.query_id) == stream.id,
            col(FedElement.step).between(steps[0], steps[-1]),
        )
        .order_by(col(FedElement.step))
    ).all()
    days = [row.created_at.astimezone(UTC).date() for row in rows]
    if len(rows) < len(steps) or any(after <= before for before, after in pairwise(days)):
        return None
    return days


def fed_by(session: Session, dataset: str, version: int) -> dict[str, int]:
    """Return the numbers of the elements that a version of a dataset gave, by stream."""
    rows = session.exec(  # rows and not columns: rows are authenticated
        select(Query, FedElement)
        .join(FedElement, col(FedElement.query_id) == col(Query.id))
        .join(Dataset, col(FedElement.dataset_id) == col(Dataset.id))
        .where(col(Dataset.folded) == folded(dataset), col(Dataset.version) == version)
        .order_by(col(Query.id))
    ).all()
    return {stream.name: element.step for stream, element in rows}


def _meanwhile(stream: Query) -> DatabaseUnavailable:
    return DatabaseUnavailable(
        f"Stream {stream.name!r} changed while its next element was computed; it is gone on with"
        " later."
    )


def _require_counted_together(session: Session, version: Dataset, stream: Query) -> None:
    """Raise ``Conflict`` unless the stream's charges count for everybody in a version.

    ``version`` is stored, or will be the newest one of its dataset.
    """
    opened = session.get_one(Dataset, stream.dataset_id)
    if opened.folded != version.folded:
        raise Conflict(
            f"Stream {stream.name!r} is of dataset {opened.name!r}, and would be fed with people of"
            f" {version.name!r}, whom it is not charged for. Open a stream of {version.name!r}."
        )
    known = of_same_people(session, opened)
    versions = [*known, *([version] if version.id is None else [])]
    mine = [
        chain
        for chain in chains(versions)
        if any(each.folded == version.folded and each.version == version.version for each in chain)
    ]
    if not mine or not all(any(each.id == opened.id for each in chain) for chain in mine):
        raise Conflict(
            f"Stream {stream.name!r} is charged to version {opened.version} of {opened.name!r},"
            f" and version {version.version} may hold people whose losses are not added to that"
            " one's (disjoint_units), so that it would not count for them. Open a stream of the"
            " newest version, and leave disjoint_units out of later ones."
        )


def _require_fitting(stream: Query, prepared: PreparedQuery) -> None:
    """Raise ``InvalidInput`` unless a query's answer is an element as the stream was opened for."""
    shape = stream_kind_of(stream).shape
    if prepared.dimension != shape.dimension:
        raise InvalidInput(
            f"The query has {prepared.dimension} values, and an element of {stream.name!r} has"
            f" {shape.dimension}. Group it so that they agree.",
            pointer="/group_by",
        )
    step = Fraction(shape.step)
    if (prepared.step / step).denominator != 1:
        raise InvalidInput(
            f"The query's values are multiples of {float(prepared.step):g}, and those of"
            f" {stream.name!r} of {float(step):g}: choose a step that is a multiple of it.",
            pointer="/aggregate",
        )
    if prepared.step > Fraction(shape.bound):
        raise InvalidInput(
            f"The query's values are multiples of {float(prepared.step):g}, above the bound of"
            f" {stream.name!r}, {float(Fraction(shape.bound)):g}: each would become 0.",
            pointer="/aggregate",
        )
    stated = asserted(StreamRequest.model_validate_json(stream.spec).sensitivity, step)
    moved = prepared.sensitivity
    if moved.l1 > stated.l1 or moved.l2_squared > stated.l2_squared or moved.linf > stated.linf:
        raise InvalidInput(
            f"One privacy unit moves the query's answer by up to {float(moved.l1):g} (l1),"
            f" {moved.l2:g} (l2) and {float(moved.linf):g} (linf), and {stream.name!r} was opened"
            f" for {float(stated.l1):g}, {stated.l2:g} and {float(stated.linf):g}. Bound the"
            " contributions more, or open a stream with this sensitivity.",
            pointer="/contribution",
        )


def _answered(
    server: Server, version: Dataset, prepared: PreparedQuery, progress: Progress
) -> ExactAnswer:
    if prepared.statement is None:
        raise RuntimeError("a query that the server computes has a statement")
    known = fingerprint_of(server, version)
    return prepare.answer(
        spec_of(version),
        prepared.statement,
        salt=salt_of(server, version),
        fingerprint_key=known.key,
        fingerprint=known.digest,
        sources=server.sources,
        progress=progress,
    )


def _element(prepared: PreparedQuery, answer: IntVector, shape: Shape) -> IntVector:
    """Return an answer in the stream's steps, as one element that saturates at its bound.

    Saturating moves no two answers apart, so that the sensitivity stays; a refusal would tell how
    large the answer is.
    """
    largest = int(Fraction(shape.bound) / prepared.step)
    ratio = int(prepared.step / Fraction(shape.step))
    return (np.clip(answer, -largest, largest) * np.int64(ratio)).reshape(1, shape.dimension)
