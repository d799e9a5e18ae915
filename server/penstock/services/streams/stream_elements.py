"""Add the elements of a stream to its running total, in order and each once.

The noise is drawn before the lock is taken, since a large batch takes long, and is used only if the
state is then still the one that it was drawn from.  State and outputs are stored in one
transaction: wherever the server stops, a step is stored with its outputs or not at all, and is
never drawn twice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from sqlmodel import Session

from penstock.connectors.vector import vector_steps
from penstock.errors import Conflict, InvalidInput
from penstock.mechanisms.lattice import LARGEST_STEPS
from penstock.mechanisms.process import IntVector
from penstock.persistence.locks import lock_query
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.noise.kinds.choice import stream_kind_of
from penstock.services.noise.kinds.stream import state_row
from penstock.services.noise.kinds.stream_shape import Shape
from penstock.services.queries.mismatches import out_of_range, require_in_range_before
from penstock.services.repository.queries import stream_by_name
from penstock.services.schemas.streams import ElementsRequest, PushedView
from penstock.services.streams.sealed_stream import (
    Running,
    add_outputs,
    load,
    rungs_of,
    save,
)


@dataclass(frozen=True)
class Drawn:
    """Hold elements that were added to a stream's state in memory, with their outputs by rung."""

    query: Query
    dataset: Dataset
    running: Running
    outputs: list[tuple[int, IntVector]]
    first: int
    last: int


def push(server: Server, principal: Principal, name: str, sent: ElementsRequest) -> PushedView:
    """Add the next elements to a stream.

    Raises ``NotFound``; ``Conflict`` if ``from`` is not the next number, or if another caller
    pushed or changed levels in the meantime; ``InvalidInput`` for values that do not fit their
    declaration, for more elements than the stream has steps, and for those that leave its range,
    which are counted.  Any other error changes nothing.
    """
    principal.require("admin")
    drawn = drawn_from(
        server, principal, name, lambda shape: _elements(shape, sent.values), sent.first
    )
    with server.database.write_beside() as session:
        query = store(session, server, drawn)
    following = stream_kind_of(query).shape.following(drawn.last)
    return PushedView(query.name, drawn.first, drawn.last, following, query.asserted_by)


def drawn_from(
    server: Server,
    principal: Principal,
    name: str,
    elements_of: Callable[[Shape], IntVector],
    first: int | None = None,
) -> Drawn:
    """Add elements to a stream's state in memory, and draw their outputs.

    ``elements_of`` returns them in the steps that the stream's shape declares, shape (elements,
    dimension); ``first`` is the number of the first, the next one if it is None.  Raises as
    ``push`` does.
    """
    with server.database.read() as session:
        query = stream_by_name(session, name)
        dataset = session.get_one(Dataset, query.dataset_id)
        kind = stream_kind_of(query)
        shape = kind.shape
        running = load(session, server, dataset, query)
        first = running.step + 1 if first is None else first
        _require_next(query, shape, running.step, first)
    elements = elements_of(shape) * np.int64(shape.scale(kind))
    last = first + len(elements) - 1
    if shape.length is not None and last > shape.length:
        raise InvalidInput(
            f"Stream {query.name!r} has {shape.length} steps; from {first} on"
            f" {shape.length - first + 1} are left, and {len(elements)} were sent.",
            pointer="/values",
        )
    if _leaves_range(running, elements):
        raise _refused(server, principal, query, shape, first)
    outputs = advanced(running, elements, server)
    return Drawn(query, dataset, running, outputs, first, last)


def store(session: Session, server: Server, drawn: Drawn) -> Query:
    """Store elements with their outputs, if the stream is still as they were drawn from.

    Return the stream's row, locked.  Raises ``Conflict`` if it is not.
    """
    current = lock_query(session, required(drawn.query.id))
    if current is None:
        raise RuntimeError("a query is never deleted")
    shape = stream_kind_of(current).shape
    _require_next(current, shape, state_row(session, current).step, drawn.first)
    if sorted(rungs_of(session, current)) != drawn.running.rungs:
        raise Conflict(
            f"Levels of {current.name!r} changed in the meantime; send the elements again."
        )
    save(session, server, drawn.dataset, current, drawn.running)
    add_outputs(session, server, drawn.dataset, current, drawn.first, drawn.outputs, server.clock())
    return current


def _refused(
    server: Server, principal: Principal, query: Query, shape: Shape, first: int
) -> InvalidInput:
    with server.database.write_beside() as session:
        current = lock_query(session, required(query.id))
        if current is None:
            raise RuntimeError("a query is never deleted")
        _require_next(current, shape, state_row(session, current).step, first)
        dataset = session.get_one(Dataset, current.dataset_id)
        return out_of_range(session, principal, dataset, current, server.clock())


def _require_next(query: Query, shape: Shape, step: int, first: int) -> None:
    if query.status != "active":
        raise Conflict(f"Stream {query.name!r} is {query.status} and takes no elements.")
    require_in_range_before(query)
    following = shape.following(step)
    if following is None:
        raise Conflict(f"Stream {query.name!r} has all of its {shape.length} elements.", next=None)
    if first != following:
        raise Conflict(
            f"The next element of {query.name!r} is number {following}, not {first}; nothing was"
            f" stored. Send the elements from {following} on.",
            next=following,
        )


def _elements(shape: Shape, values: list[object]) -> IntVector:
    """Return the elements in the steps that the stream declares: shape (steps, dimension)."""
    flat = values if shape.dimension == 1 else _flat(values, shape.dimension)
    numbers = [value if isinstance(value, int | float) else None for value in flat]
    try:
        counted = vector_steps(
            numbers,  # type: ignore[arg-type]  # anything that is not a number is detected there
            Fraction(shape.step),
            Fraction(shape.bound),
        )
    except InvalidInput as problem:
        raise _placed(problem, shape.dimension) from None
    return counted.reshape(-1, shape.dimension)


def _flat(rows: list[object], dimension: int) -> list[object]:
    numbers: list[object] = []
    for number, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != dimension:
            raise InvalidInput(
                f"The element at place {number} is not a list of {dimension} numbers.",
                pointer=f"/values/{number}",
            )
        numbers += row
    return numbers


def _placed(problem: InvalidInput, dimension: int) -> InvalidInput:
    """Return the error for a number, with the place of its element."""
    pointer, detail = problem.errors[0]
    place = pointer.rpartition("/")[2]
    if dimension == 1 or not place.isdigit():
        return problem
    row, column = divmod(int(place), dimension)
    detail = detail.replace(f"place {place}", f"place {column} of element {row}")
    return InvalidInput(detail, pointer=f"/values/{row}/{column}")


def _leaves_range(running: Running, elements: IntVector) -> bool:
    # Checked with floats first: a sum of many numbers may exceed 64 bits.
    reach = np.abs(elements.astype(np.float64)).sum(axis=0) + np.abs(running.total)
    if reach.max() <= LARGEST_STEPS:
        return False
    totals = np.cumsum(elements, axis=0) + running.total
    return bool(reach.max() >= 2.0**62 or np.abs(totals).max() > LARGEST_STEPS)


def advanced(running: Running, elements: IntVector, server: Server) -> list[tuple[int, IntVector]]:
    """Add ``elements``, which stay in the range, to the state; return the outputs by rung."""
    totals = np.cumsum(elements, axis=0) + running.total
    with server.drawing():
        noise = running.noise.advance(len(elements), server.randomness)
    running.total = totals[-1].copy()
    return [(rung, totals + each) for rung, each in zip(running.rungs, noise, strict=True)]
