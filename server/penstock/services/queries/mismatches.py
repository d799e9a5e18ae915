"""Compare exact values that are sent again, rarely, and record every mismatch.

Whether values are those of a query's anchor is an answer about the data that is not charged: a
count could be found by trying numbers.  So values are compared only if a level is drawn from them,
after all other checks, under the lock of the query's row.  Each mismatch is a leaf of the log and
is counted in the row; after ``MOST`` of them nothing is compared with that query any more, in any
process and for any caller.  The same holds for values that are read again where rows may have
changed since: whether they are the same says whether they changed.

The same holds for elements that would take a stream's running total out of its range: refusing them
reveals how far the exact total is from the end of that range.
"""

from datetime import datetime
from typing import Final

from sqlmodel import Session

from penstock.errors import Conflict, InvalidInput
from penstock.mechanisms.process import IntVector
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.noise.answer_fingerprints import is_same
from penstock.services.releases.logged_queries import record_mismatches

MOST: Final = 3
"""How many times wrong exact values are compared with a query's."""


def require_drawn_from(query: Query, reads: bool) -> None:
    """Raise ``InvalidInput`` for values if no level would be drawn from them."""
    if not reads:
        raise InvalidInput(
            f"None of the requested levels of {query.name!r} is drawn from its exact values:"
            f" each exists already, or is drawn from existing releases. The values are not"
            f" compared; leave values out.",
            pointer="/values",
        )


def compared(
    session: Session,
    server: Server,
    principal: Principal,
    dataset: Dataset,
    query: Query,
    exact: IntVector,
    at: datetime,
) -> Conflict | None:
    """Return the error to raise once the mismatch is committed; ``None`` if values are the same.

    ``query`` is locked and active, and everything else about the change is allowed.  Raises
    ``Conflict`` if there were ``MOST`` mismatches before: then nothing is compared.
    """
    require_comparable(query)
    if is_same(server, dataset, query, exact):
        return None
    seen = query.mismatches or 0
    query.mismatches = seen + 1
    session.add(query)
    record_mismatches(session, principal, dataset, query, at)
    left = MOST - seen - 1
    return Conflict(
        f"The exact values are not those that {query.name!r} was registered with; noise around"
        f" other values would reveal more than the levels allow. This is in the log: mismatch"
        f" {seen + 1} of {MOST}. "
        + (
            ("Send the same values" if query.sql is None else "Its rows changed: restore them")
            + ", or register another query."
            if left
            else "No values are compared with this query any more; register another one."
        )
    )


def require_comparable(query: Query) -> None:
    """Raise ``Conflict`` if other exact values than the query's were compared ``MOST`` times."""
    seen = query.mismatches or 0
    if seen >= MOST:
        raise Conflict(
            f"Wrong exact values of {query.name!r} were {'sent' if query.sql is None else 'read'}"
            f" {seen} times, which is the limit; no more values are compared, so its ceiling"
            " cannot change. Register another query."
        )


def require_in_range_before(query: Query) -> None:
    """Raise ``Conflict`` for a stream that was sent too large elements ``MOST`` times before."""
    if (query.mismatches or 0) >= MOST:
        raise Conflict(
            f"Elements that would leave the range of {query.name!r} were sent {query.mismatches}"
            " times, which is the limit; it takes no more elements."
            " Open another stream."
        )


def out_of_range(
    session: Session,
    principal: Principal,
    dataset: Dataset,
    query: Query,
    at: datetime,
) -> InvalidInput:
    """Return the error for elements that leave a stream's range, to be raised after the commit.

    ``query`` is locked and active.  Raises ``Conflict`` as ``require_in_range_before`` does.
    """
    require_in_range_before(query)
    query.mismatches = (query.mismatches or 0) + 1
    session.add(query)
    record_mismatches(session, principal, dataset, query, at)
    return InvalidInput(
        "A running total would leave the range that the stream was opened for, which it shows as"
        f" largest_total. This is in the log: {query.mismatches} of {MOST}, after which the stream"
        " takes no more elements. Send fewer or smaller ones, or open another stream.",
        pointer="/values",
    )
