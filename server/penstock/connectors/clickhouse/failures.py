"""Say in our own words why ClickHouse failed; what it says itself may quote a cell or a password.

Failures are told apart by ClickHouse's own numbers alone.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from penstock.errors import PenstockError, SourceChanged, Unavailable

_CODE: Final = re.compile(r"Code: (\d+)")

_GONE: Final = frozenset({16, 36, 47, 53, 60, 81})
"""No such column, identifier, table, database; a type that an expression cannot have."""
_SHORT: Final = frozenset({158, 159, 160, 173, 191, 202, 241, 243, 307, 394, 396})
"""A limit of memory, time, rows, bytes, space or statements at a time; cancelled."""
_REFUSED: Final = frozenset({192, 193, 194, 195, 497, 516})
_SETTINGS: Final = frozenset({115, 164, 452})

UNREACHABLE: Final = (
    "ClickHouse cannot be reached: check the connection with penstock connection check, and that"
    " the server runs and lets this machine in. Nothing was released."
)
_SHORT_OF: Final = (
    "ClickHouse stopped the statement, which reached a limit of memory, rows or time"
    " (PENSTOCK_STATEMENT_TIMEOUT), or was cancelled. Nothing was released. Give the connection's"
    " user, or this server, more of it."
)
_FAILED: Final = (
    "ClickHouse cannot read the view to its end: its own expressions must not fail for any row."
    " Nothing was released."
)
REFUSES: Final = (
    "ClickHouse was reached and refuses the connection: check its user, password and database, and"
    " that the user may SELECT from the view. Nothing was released."
)
_UNSET: Final = (
    "ClickHouse does not let this connection's user choose what statements mean: its profile needs"
    " readonly = 2 (not 1) without constraints, and the server version 25.8 or later. Nothing was"
    " released."
)
CHANGED: Final = (
    "The dataset's view, or a column of it, is no longer there as it was registered. Nothing was"
    " released. Restore the view, or register the new one as a new version."
)


def code_of(message: str) -> int | None:
    """Return the number that ClickHouse gives to what it said; None if it did not say it."""
    numbered = _CODE.search(message)
    return None if numbered is None else int(numbered[1])


def is_gone(code: int | None) -> bool:
    """Return True if a number means that a view, or a column of it, is not there."""
    return code in _GONE


def refusal(code: int | None, *, running: bool) -> PenstockError:
    """Return the error of ours for a number; ``running`` means that rows are read."""
    if code in _SHORT:
        return Unavailable(_SHORT_OF)
    if code in _REFUSED:
        return Unavailable(REFUSES)
    if code in _SETTINGS:
        return Unavailable(_UNSET)
    if code is None:
        return Unavailable(UNREACHABLE)
    if is_gone(code) and not running:
        return SourceChanged(CHANGED)
    return Unavailable(_FAILED)


def refused_at_start(code: int | None) -> PenstockError:
    """Return the error of ours for a number with which a connection is refused.

    What is not there yet is the connection's database: no view was named.
    """
    return Unavailable(REFUSES) if is_gone(code) else refusal(code, running=False)


@contextmanager
def own_words(errors: tuple[type[Exception], ...], *, running: bool) -> Iterator[None]:
    """Replace what a driver raises by an error of ours."""
    try:
        yield
    except errors as error:
        raise refusal(code_of(str(error)), running=running) from None
