"""Explain PostgreSQL's errors to an operator, and tell which of them a retry may solve.

Errors are distinguished by SQLSTATE (PostgreSQL's manual, appendix A); the server's messages are
never repeated.  A failed connection has no SQLSTATE on the client's side.
"""

import psycopg
from sqlalchemy.exc import DBAPIError

from penstock.errors import DatabaseUnavailable, Interrupted, SchemaUnknown, Unavailable

SERIALIZATION_FAILURE, DEADLOCK = "40001", "40P01"
_OVERTAKEN = (SERIALIZATION_FAILURE, DEADLOCK)
_ENDED = ("08", "57P")
"""Prefixes of the SQLSTATE of an ended session; the pool sees it only on connections in use."""
_NO_TABLE, _NO_COLUMN = "42P01", "42703"


NO_STANDBY = "22012"
"""The SQLSTATE of a division by zero, which only ``durability.CONFIRMED`` can cause."""
_WARNING, _SHUTDOWN = "01000", "57P01"


class Silent(psycopg.OperationalError):
    """Report that the server sent nothing at all."""


class Unconfirmed(psycopg.OperationalError):
    """Report a commit that the primary has, and that no standby has confirmed."""


def ends_a_wait(notice: psycopg.errors.Diagnostic) -> bool:
    """Return True if a notice may say that a commit stopped waiting for a standby.

    Its words are in the server's language, and its SQLSTATE is that of any warning.
    """
    is_warning = notice.severity_nonlocalized == "WARNING"
    return is_warning and notice.sqlstate in (_WARNING, _SHUTDOWN)


_SENTENCES = {
    "55P03": (
        "The database is locked: other transactions have held a lock that this one needs for"
        " more than"
        " {timeout:g} s. Try again; if it lasts, look in pg_stat_activity for a session that hangs."
    ),
    "57014": (
        "PostgreSQL took too long for a statement, which was stopped; nothing was changed. Try"
        " again when it has less load."
    ),
    "53100": (
        "The disk of the database is full; nothing was changed. Free some space and try again."
    ),
    "53200": (
        "PostgreSQL has no memory left; nothing was changed. Try again when it has less load."
    ),
    "25006": (
        "The database is read-only, as a standby is; nothing was changed."
        " Name the primary in PENSTOCK_DATABASE_URL."
    ),
    NO_STANDBY: (
        "No commit waits for a standby any more: PostgreSQL's synchronous_standby_names was"
        " emptied, and PENSTOCK_REPLICAS is required. Nothing was changed. Name the standbys"
        " again, or set PENSTOCK_REPLICAS=none and start again."
    ),
    "42501": (
        "The role of PENSTOCK_DATABASE_URL may not do this in the database; nothing was changed."
        " Run `penstock db upgrade` with its owner in PENSTOCK_MIGRATION_DATABASE_URL."
    ),
    "58030": (
        "The disk of the database reports an input/output error; nothing was changed."
        " Check the disk, then try again."
    ),
    "XX001": "The database is damaged. Stop the server and restore a backup.",
    "XX002": "An index of the database is damaged. Stop the server and run REINDEX.",
}

_REFUSED = (
    "PostgreSQL cannot be reached, or refuses to let the server in. Check that it runs, that it"
    " has the database, the role and room for more connections (max_connections), and that"
    " PENSTOCK_DATABASE_URL is right."
)
_LOST = (
    "The connection to PostgreSQL was lost; nothing was changed. Try again; if it lasts, check"
    " that it runs."
)
_OVERTAKEN_BY_OTHERS = (
    "PostgreSQL stopped this because another transaction changed the same rows at the same time;"
    " nothing was changed. Try again."
)
_SILENT = (
    "PostgreSQL did not answer in time; nothing was changed."
    " Check that it runs and can be reached, then try again."
)
_UNCERTAIN = (
    "The connection to PostgreSQL was lost before it confirmed that this is stored; it may or"
    " may not be. Try again: if it is stored, it is found and not done twice."
)


_UNCONFIRMED = (
    "PostgreSQL stored this without a standby's confirmation: the wait for one was canceled. It is"
    " not answered before a standby has it. Check the standbys, then try again: what is stored is"
    " found and not done twice."
)


def of(
    error: DBAPIError, place: str, lock_seconds: float, *, at_commit: bool
) -> Unavailable | None:
    """Return the failure behind ``error``; None for a bug or a constraint."""
    original = error.orig
    if not isinstance(original, psycopg.Error):
        return None
    if isinstance(original, Silent | psycopg.errors.ConnectionTimeout):
        return DatabaseUnavailable(_UNCERTAIN if at_commit else _SILENT, server=place)
    if isinstance(original, Unconfirmed):
        return DatabaseUnavailable(_UNCONFIRMED, server=place)
    state = original.sqlstate or ""
    if state in _OVERTAKEN:
        return Interrupted(_OVERTAKEN_BY_OTHERS, server=place)
    if error.connection_invalidated or state.startswith(_ENDED):
        return Interrupted(_UNCERTAIN if at_commit else _LOST, uncertain=at_commit, server=place)
    if state in (_NO_TABLE, _NO_COLUMN):
        return SchemaUnknown(
            "The database lacks a table or a column that this version of Penstock needs."
            " Run `penstock db upgrade`."
        )
    if state in _SENTENCES:
        sentence = _SENTENCES[state].format(timeout=lock_seconds)
        return DatabaseUnavailable(sentence, server=place)
    if not state and isinstance(original, psycopg.OperationalError):
        return DatabaseUnavailable(_REFUSED, server=place)
    return None
