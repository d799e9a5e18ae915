"""Add the elements of a stream to its running total, in order and each once.

The noise is drawn before the lock is taken, since a large batch takes long, and is used only if the
state is then still the one that it was drawn from.  State and outputs are stored in one
transaction: wherever the server stops, a step is stored with its outputs or not at all, and is
never drawn twice.
"""

from fractions import Fraction

import numpy as np

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
from penstock.services.noise.process import Process
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


def push(server: Server, principal: Principal, name: str, sent: ElementsRequest) -> PushedView:
    """Add the next elements to a stream.

    Raises ``NotFound``; ``Conflict`` if ``from`` is not the next number, or if another caller
    pushed or changed levels in the meantime; ``InvalidInput`` for values that do not fit their
    declaration, for more elements than the stream has steps, and for those that leave its range,
    which are counted.  Any other error changes nothing.
    """
    principal.require("admin")
    with server.database.read() as session:
        query = stream_by_name(session, name)
        dataset = session.get_one(Dataset, query.dataset_id)
        kind = stream_kind_of(query)
        shape = kind.shape
        running = load(session, server, dataset, query)
        _require_next(query, shape, running.step, sent.first)
    elements = _elements(shape, kind, sent.values)
    last = sent.first + len(elements) - 1
    if shape.length is not None and last > shape.length:
        raise InvalidInput(
            f"Stream {query.name!r} has {shape.length} steps; from {sent.first} on"
            f" {shape.length - sent.first + 1} are left, and {len(elements)} were sent.",
            pointer="/values",
        )
    if _leaves_range(running, elements):
        raise _refused(server, principal, query, shape, sent.first)
    outputs = advanced(running, elements, server)
    with server.database.write_beside() as session:
        current = lock_query(session, required(query.id))
        if current is None:
            raise RuntimeError("a query is never deleted")
        _require_next(current, shape, state_row(session, current).step, sent.first)
        if sorted(rungs_of(session, current)) != running.rungs:
            raise Conflict(
                f"Levels of {query.name!r} changed in the meantime; send the elements again."
            )
        save(session, server, dataset, current, running)
        add_outputs(session, server, dataset, current, sent.first, outputs, server.clock())
    return PushedView(query.name, sent.first, last, shape.following(last), query.asserted_by)


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


def _elements(shape: Shape, process: Process, values: list[object]) -> IntVector:
    """Return the elements in lattice steps: shape (steps, dimension)."""
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
    return (counted * np.int64(shape.scale(process))).reshape(-1, shape.dimension)


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
    noise = running.noise.advance(len(elements), server.randomness)
    running.total = totals[-1].copy()
    return [(rung, totals + each) for rung, each in zip(running.rungs, noise, strict=True)]
