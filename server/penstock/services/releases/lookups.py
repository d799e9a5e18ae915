"""Look up in one statement what may differ between two requests for a release.

That is the edition of everything else, the caller's clearance, and what the caller holds of a query
at one rung.  The statement loads columns and no entities, which takes a tenth of the time; the rows
that decide are authenticated all the same (``row_authentication``).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import ColumnElement, FromClause, RowMapping, Select, bindparam, func, select
from sqlmodel import Session

from penstock.errors import IntegrityViolation
from penstock.persistence.database import Database
from penstock.persistence.row_authentication import Informed, authentic_row, columns
from penstock.persistence.row_numbers import required
from penstock.persistence.statements.glances import PreparedSelect
from penstock.persistence.tables.columns import metadata
from penstock.services.access.presumptions import Presumed, confirmed
from penstock.services.access.principals import SIGNED_IN, Principal
from penstock.services.context import Server
from penstock.services.releases.grants import HandedRelease
from penstock.transparency_log.leaves import AppendedLeaf, receipt_of
from penstock.transparency_log.views import ReceiptView

_EDITION, _CLEARANCE, _GRANT, _RELEASE, _LEAF, _CHECKPOINT, _TOKEN, _USER = (
    metadata.tables[name]
    for name in ("edition", "clearance", "grant", "release", "leaf", "checkpoint", "token", "user")
)


Row = RowMapping | Mapping[str, Any]
"""The result of a look-up, by the names of its columns."""

Clearance = tuple[int | None, int | None]
"""The version of a user's clearance, and the key of its tier; both None without one."""


@dataclass(frozen=True)
class ReceivedRelease:
    """Hold the row of a release that the caller received, and its place in the history."""

    public_id: str
    rung: int
    seq: int
    ciphertext: bytes
    granted_at: datetime
    leaf_id: int
    index: int | None
    receipt: ReceiptView


@dataclass(frozen=True)
class Lookup:
    """Hold what one look-up found.

    ``received`` is None if the caller holds nothing at the rung that was looked up.
    """

    edition: str
    clearance: Clearance
    received: ReceivedRelease | None


def signed(table: FromClause, name: str, prefix: str) -> list[ColumnElement[Any]]:
    """Return the columns that ``authentic`` reads of a row of the table ``name``.

    ``prefix`` is that of their names in the statement's result.
    """
    return [table.c[column].label(f"{prefix}_{column}") for column in ("mac", *columns(name))]


def authentic(session: Informed, name: str, row: Row, prefix: str) -> dict[str, Any] | None:
    """Return the columns of an authenticated row of the table ``name``; None if a join found none.

    Raises ``IntegrityViolation`` for a row that was altered.
    """
    return authentic_row(session, name, _taken(name, prefix)(row))


@cache
def _taken(name: str, prefix: str) -> Callable[[Row], tuple[Any, ...]]:
    return itemgetter(*(f"{prefix}_{column}" for column in ("mac", *columns(name))))


NEWEST: Final = (
    select(func.max(_CLEARANCE.c.version))
    .where(_CLEARANCE.c.user_id == bindparam("user_id"))
    .scalar_subquery()
)
"""The newest version of a user's clearance."""

# By the key alone: how long this takes must not tell whether others were given the release, which
# is read only where the caller holds it.
AT: Final = (
    select(_RELEASE.c.id)
    .where(_RELEASE.c.query_id == bindparam("query_id"), _RELEASE.c.rung == bindparam("rung"))
    .order_by(_RELEASE.c.id)
    .limit(1)
    .scalar_subquery()
)
"""The number of the release of a query at a rung."""

LEAF_COLUMNS: Final = (
    _LEAF.c.index.label("leaf_index"),
    _LEAF.c.hash.label("leaf_hash"),
    _LEAF.c.bytes.label("leaf_bytes"),
    select(_CHECKPOINT.c.note)
    .where(_CHECKPOINT.c.size > _LEAF.c.index)
    .order_by(_CHECKPOINT.c.size)
    .limit(1)
    .scalar_subquery()
    .label("leaf_note"),
)
"""What a receipt shows of a leaf."""


def _lookup_of(start: FromClause, *others: ColumnElement[Any]) -> Select[Any]:
    """Return the look-up with ``others`` as its first columns; ``start`` has the edition."""
    return (
        select(
            *others,
            _EDITION.c.value.label("edition"),
            *signed(_CLEARANCE, "clearance", "clearance"),
            *signed(_GRANT, "grant", "grant"),
            *signed(_RELEASE, "release", "at"),
            _RELEASE.c.ciphertext.label("at_ciphertext"),
            *LEAF_COLUMNS,
        )
        .select_from(start)
        .outerjoin(
            _CLEARANCE,
            (_CLEARANCE.c.user_id == bindparam("user_id")) & (_CLEARANCE.c.version == NEWEST),
        )
        .outerjoin(_GRANT, (_GRANT.c.user_id == bindparam("user_id")) & (_GRANT.c.release_id == AT))
        .outerjoin(_RELEASE, _RELEASE.c.id == _GRANT.c.release_id)
        .outerjoin(_LEAF, _LEAF.c.id == _GRANT.c.leaf_id)
    )


_LOOKUP = _lookup_of(_EDITION)
_ALONE = PreparedSelect(_LOOKUP)
_WITH_CALLER = PreparedSelect(
    _lookup_of(
        _EDITION.join(_TOKEN, _TOKEN.c.prefix == bindparam("prefix")).join(
            _USER, _USER.c.id == _TOKEN.c.user_id
        ),
        *SIGNED_IN,
    )
)


def look_up(
    session: Session, user_id: int, query_id: int | None = None, rung: int | None = None
) -> Lookup:
    """Look up a user's clearance, and what they hold of a query at a rung.

    Raises ``IntegrityViolation`` for rows that were altered.
    """
    place = {"user_id": user_id, "query_id": query_id, "rung": rung}
    row = session.connection().execute(_LOOKUP, place).mappings().one()
    return _lookup(session, row)


def look_up_alone(database: Database, user_id: int, query_id: int, rung: int) -> Lookup:
    """Look up the same without a session."""
    glance = database.glance(_ALONE, user_id=user_id, query_id=query_id, rung=rung)
    if glance.row is None:
        raise edition_missing()
    return _lookup(glance, glance.row)


def look_up_with_caller(
    server: Server, caller: Presumed, query_id: int, rung: int
) -> tuple[Principal, Lookup] | None:
    """Confirm a caller who was presumed, and look up the same, by one statement.

    None if the caller is not confirmed by it.
    """
    glance = server.database.glance(
        _WITH_CALLER,
        prefix=caller.prefix,
        user_id=caller.user.id,
        query_id=query_id,
        rung=rung,
    )
    principal = None if glance.row is None else confirmed(server, glance, caller)
    if glance.row is None or principal is None:
        return None
    return principal, _lookup(glance, glance.row)


def edition_missing() -> IntegrityViolation:
    """Return what is raised where a look-up finds no row at all."""
    return IntegrityViolation(
        "The database has no edition of what releases rest on. Restore it from a backup."
    )


def _lookup(session: Informed, row: Row) -> Lookup:
    return Lookup(row["edition"], clearance_in(session, row), received_in(session, row))


def clearance_in(session: Informed, row: Row) -> Clearance:
    """Return the clearance in the result of a look-up."""
    clearance = authentic(session, "clearance", row, "clearance")
    return (clearance["version"], clearance["tier_id"]) if clearance else (None, None)


def received_in(session: Informed, row: Row) -> ReceivedRelease | None:
    """Return the release in the result of a look-up, if the caller holds it."""
    granted = authentic(session, "grant", row, "grant")
    release = authentic(session, "release", row, "at")
    digest = row["leaf_hash"]
    if granted is None or release is None or digest is None:
        return None
    # If the bytes were altered, the reader finds that they have another hash.
    content = row["leaf_bytes"]
    text = content.decode(errors="replace") if isinstance(content, bytes) else str(content)
    return ReceivedRelease(
        public_id=release["public_id"],
        rung=release["rung"],
        seq=release["seq"],
        ciphertext=row["at_ciphertext"],
        granted_at=granted["at"],
        leaf_id=granted["leaf_id"],
        index=row["leaf_index"],
        receipt=ReceiptView(row["leaf_index"], digest.hex(), text, row["leaf_note"]),
    )


def received_as(release: HandedRelease, leaf: AppendedLeaf) -> ReceivedRelease:
    """Return a release that was just handed out with ``leaf``, as ``look_up`` finds it.

    It has no ciphertext: its vector is at hand.
    """
    return ReceivedRelease(
        public_id=release.public_id,
        rung=release.rung,
        seq=release.seq,
        ciphertext=b"",
        granted_at=leaf.at,
        leaf_id=required(leaf.id),
        index=leaf.index,
        receipt=receipt_of(leaf),
    )
