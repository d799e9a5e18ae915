"""Read under a query's lock, in one statement, what a release of the query depends on.

That is what ``lookups`` reads before the lock, the query's ``seq``, the vector at the rung if it is
stored, and otherwise its nearest stored neighbors.  Of the query's row only the columns that
change with releases are read: the others are those of the same edition.  The row's HMAC covers
both.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple, Protocol

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
    Integer,
    Select,
    and_,
    bindparam,
    case,
    func,
    or_,
    select,
    true,
)
from sqlmodel import Session

from penstock.errors import NotFound
from penstock.persistence.database import Database
from penstock.persistence.dialects import long_content
from penstock.persistence.locks import hold_query
from penstock.persistence.protocol import LongContent
from penstock.persistence.row_authentication import Informed, require_authentic
from penstock.persistence.row_numbers import next_number, required
from penstock.persistence.statements.glances import PreparedSelect
from penstock.persistence.statements.prepared import Prepared, Row
from penstock.persistence.tables.columns import metadata
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.noise.long_vectors.manifest import LARGEST
from penstock.services.noise.sealing import StoredRelease
from penstock.services.releases import quota
from penstock.services.releases.allowed import AllowedRequest, allowed_now
from penstock.services.releases.lookups import (
    AT,
    LEAF_COLUMNS,
    NEWEST,
    Clearance,
    ReceivedRelease,
    authentic,
    clearance_in,
    edition_missing,
    received_in,
    signed,
)
from penstock.services.schemas.queries import ReleaseRequest

_EDITION, _CLEARANCE, _GRANT, _LEAF, _QUERY, _RELEASE = (
    metadata.tables[name] for name in ("edition", "clearance", "grant", "leaf", "query", "release")
)
_AT, _ACCURATE, _NOISY = (_RELEASE.alias(name) for name in ("at_rung", "accurate", "noisy"))
_RUNG = _RELEASE.c.rung

LONG = 1 << 20
"""The size in bytes from which vectors are read one by one."""


@dataclass(frozen=True)
class Room:
    """Hold what one user was handed of levels that no tier has, and the query's number of them.

    ``levels``, ``size`` (bytes) and ``first`` are those of ``quota``: exact if they are the most of
    a day, and otherwise at least what was handed.
    """

    levels: int
    size: int
    first: datetime | None
    others: int


@dataclass(frozen=True)
class LockedState:
    """Hold what one look under the lock found.

    ``received`` is the release if the caller holds it, and ``stored`` if somebody does;
    ``accurate`` and ``noisy`` are its neighbors if nobody does.  ``count`` is the number of the
    query's releases.  ``room`` is None for the level of a tier.  ``release_id`` and ``leaf_id`` are
    free numbers, of which ``read_ahead`` has none; the leaf's is None where the database gives it.
    """

    edition: str
    clearance: Clearance
    seq: int
    query_mac: bytes | None
    received: ReceivedRelease | None
    stored: StoredRelease | None
    accurate: StoredRelease | None
    noisy: StoredRelease | None
    count: int
    room: Room | None
    release_id: int | None
    leaf_id: int | None


def read_under_lock(
    session: Session,
    server: Server,
    principal: Principal,
    name: str,
    request: ReleaseRequest,
    allowed: AllowedRequest,
) -> tuple[AllowedRequest, LockedState]:
    """Lock the query of a request, and return what is allowed under the lock and what is stored.

    ``allowed`` is what it was before the lock; it is worked out anew if the edition or the caller's
    clearance has changed since.  Raises as ``releases.request`` does.
    """
    user = required(principal.user_id)
    state = _locked(session, server, user, allowed)
    if (state.edition, state.clearance) != (allowed.edition, allowed.clearance):
        allowed = allowed_now(session, server, name, request, state.edition, state.clearance)
        state = _locked(session, server, user, allowed)
    # Its columns are those that were read under its edition, but for ``seq``.
    row, query = allowed.known.signed.at(state.seq), allowed.query.name
    require_authentic(session, "query", state.query_mac, row, query)
    return allowed, state


def read_ahead(server: Server, principal: Principal, allowed: AllowedRequest) -> LockedState:
    """Return what is stored now, without the lock: the next transaction may change it.

    It takes one statement without a session, unless a vector is so long that it is read in pieces.
    It has no free numbers, which only a transaction that writes can take.
    """
    user = required(principal.user_id)
    with suppress(_InPieces):
        return _read(_Alone(server.database), server, user, allowed)
    with server.database.read() as session:
        state = _read(_Within(session), server, user, allowed, numbers=False)
        stored, accurate, noisy = map(_at_hand, (state.stored, state.accurate, state.noisy))
        return replace(state, stored=stored, accurate=accurate, noisy=noisy)


def _at_hand(release: StoredRelease | None) -> StoredRelease | None:
    return None if release is None else replace(release, sealed=release.ciphertext)


def _locked(session: Session, server: Server, user: int, allowed: AllowedRequest) -> LockedState:
    hold_query(session, required(allowed.query.id))
    return _read(_Within(session), server, user, allowed, numbers=True)


class _InPieces(Exception):
    """Tell that a row's content is read in pieces, for which a transaction is needed."""


class _Look(Informed, Protocol):
    """Run the statement, and read long contents that it leaves out."""

    def first(self, shape: "_Shape", place: Mapping[str, Any]) -> Row | None:
        """Return the statement's row."""
        ...

    def content(self, row: int) -> bytes | LongContent:
        """Return the sealed vector of a release."""
        ...


@dataclass(frozen=True)
class _Within:
    """Look within a transaction."""

    session: Session

    @property
    def info(self) -> dict[Any, Any]:
        return self.session.info

    def first(self, shape: "_Shape", place: Mapping[str, Any]) -> Row | None:
        return _statement(*shape).first(self.session.connection(), place)

    def content(self, row: int) -> bytes | LongContent:
        return long_content(self.session.connection(), _RELEASE.c.ciphertext, row)


@dataclass
class _Alone:
    """Look by the statement alone."""

    database: Database
    info: dict[Any, Any] = field(default_factory=dict)

    def first(self, shape: "_Shape", place: Mapping[str, Any]) -> Row | None:
        glances = self.database.glances(_statement_alone(*shape), **place)
        self.info = glances.info
        return dict(glances.rows[0]) if glances.rows else None

    def content(self, row: int) -> bytes | LongContent:  # noqa: ARG002 - the protocol passes it
        raise _InPieces


def _read(
    look: _Look, server: Server, user: int, allowed: AllowedRequest, *, numbers: bool = False
) -> LockedState:
    query, given = allowed.query, allowed.known.given
    between = allowed.rung not in given
    place: dict[str, Any] = {"user_id": user, "query_id": query.id, "rung": allowed.rung}
    if between:
        place |= {
            **{f"own_{number}": rung for number, rung in enumerate(sorted(given))},
            "most_others": query.max_levels - len(given),
        }
    # A database that reads several long vectors for one row holds copies of all of them at once.
    long = allowed.kind.size(query) >= LONG
    shape = _Shape(server.database.kind, len(given) if between else None, long, numbers)
    room: Room | None = None
    if between:
        row, room = _with_room(server, look, shape, place)
    else:
        row = _present(look.first(shape, place))
    if row["query_seq"] is None:
        raise NotFound(f"There is no query {query.readable!r}.")
    stored, received = _release(look, row, "at"), received_in(look, row)
    if received is not None and stored is not None:
        received = replace(received, ciphertext=stored.ciphertext)
    return LockedState(
        edition=row["edition"],
        clearance=clearance_in(look, row),
        seq=row["query_seq"],
        query_mac=row["query_mac"],
        received=received,
        stored=stored,
        accurate=_release(look, row, "accurate"),
        noisy=_release(look, row, "noisy"),
        count=row["count"],
        room=room,
        release_id=row["release_id"] if numbers else None,
        leaf_id=row["leaf_id"] if numbers else None,
    )


def _with_room(
    server: Server, look: _Look, shape: "_Shape", place: Mapping[str, Any]
) -> tuple[Row, Room]:
    """Run the statement, and again where what was counted before it leaves no room."""
    user = place["user_id"]
    before = quota.counted(server, server.database.kind, user)
    while True:
        row = _present(look.first(shape, {**place, **before.parameters(server)}))
        counted = before.with_later(row["levels"], row["size"], row["last"])
        if counted.leaves_room(server) or not before.last:
            break
        before = quota.Counted(before.since)
    server.counted[user] = counted
    return row, Room(counted.levels, counted.size, row["first"], row["others"])


def _present(row: Row | None) -> Row:
    if row is None:
        raise edition_missing()
    return row


def _release(look: _Look, row: Row, prefix: str) -> StoredRelease | None:
    fields = authentic(look, "release", row, prefix)
    if fields is None:
        return None
    sealed = row[f"{prefix}_ciphertext"]
    return StoredRelease(
        id=fields["id"],
        public_id=fields["public_id"],
        rung=fields["rung"],
        seq=fields["seq"],
        sealed=look.content(fields["id"]) if sealed is None else sealed,
    )


def _release_columns(table: FromClause, prefix: str, long: bool) -> list[ColumnElement[Any]]:
    sealed: ColumnElement[Any] = table.c.ciphertext
    if long:  # a manifest is read here, and a vector in its row is not
        sealed = case((func.length(sealed) <= LARGEST, sealed))
    return [*signed(table, "release", prefix), sealed.label(f"{prefix}_ciphertext")]


def _nearest(order: Any, *beyond: ColumnElement[bool]) -> Any:
    """Return the number of the first release of the query in an order, among some of them."""
    return (
        select(_RELEASE.c.id)
        .where(_RELEASE.c.query_id == bindparam("query_id"), *beyond)
        .order_by(order)
        .limit(1)
        .correlate(None)
        .scalar_subquery()
    )


def _count(*which: ColumnElement[bool]) -> Any:
    return (
        select(func.count())
        .select_from(_RELEASE)
        .where(_RELEASE.c.query_id == bindparam("query_id"), *which)
        .correlate(None)
        .scalar_subquery()
    )


def _numbers(dialect: str) -> tuple[ColumnElement[Any], ColumnElement[Any]]:
    release = next_number(dialect, "release").label("release_id")
    return release, next_number(dialect, "leaf", named=False).label("leaf_id")


class _Shape(NamedTuple):
    """Hold what statements differ in.

    They have the room that a level beside ``own`` levels of tiers needs; without it, if that is
    None.  ``long`` vectors are not among their columns, and free numbers are with ``numbers``.
    """

    database: str
    own: int | None
    long: bool
    numbers: bool


@cache
def _statement(database: str, own: int | None, long: bool, numbers: bool) -> Prepared:
    return Prepared(_select(_Shape(database, own, long, numbers)))


@cache
def _statement_alone(database: str, own: int | None, long: bool, numbers: bool) -> PreparedSelect:
    return PreparedSelect(_select(_Shape(database, own, long, numbers)))


def _select(shape: _Shape) -> Select[Any]:
    database, own, long, numbers = shape
    rung = bindparam("rung", type_=Integer)
    of_tiers = [bindparam(f"own_{number}", type_=Integer) for number in range(own or 0)]
    room = quota.handed(_count(_RELEASE.c.rung.not_in(of_tiers)))
    has_room: ColumnElement[bool] = true()
    if own is not None:
        has_room = and_(
            room.c.levels < bindparam("most_levels", type_=BigInteger),
            room.c.size < bindparam("most_bytes", type_=BigInteger),
            room.c.others < bindparam("most_others", type_=BigInteger),
        )
    # A refusal for want of room takes the same time whether others were given the level or not:
    # their release is not read then, and neither are its neighbors.
    of_caller = and_(_GRANT.c.user_id == bindparam("user_id"), _GRANT.c.release_id == AT)
    readable = or_(has_room, _GRANT.c.id.is_not(None))
    absent = and_(has_room, _AT.c.id.is_(None))
    tables: Any = _EDITION.outerjoin(
        _CLEARANCE,
        and_(_CLEARANCE.c.user_id == bindparam("user_id"), _CLEARANCE.c.version == NEWEST),
    ).outerjoin(_QUERY, _QUERY.c.id == bindparam("query_id"))
    columns_of_room: tuple[ColumnElement[Any], ...] = ()
    if own is not None:
        tables = tables.join(room, true())
        columns_of_room = (room.c.levels, room.c.size, room.c.first, room.c.last, room.c.others)
    tables = (
        tables.outerjoin(_GRANT, of_caller)
        .outerjoin(_LEAF, _LEAF.c.id == _GRANT.c.leaf_id)
        .outerjoin(_AT, and_(_AT.c.id == AT, readable))
        .outerjoin(_ACCURATE, and_(_ACCURATE.c.id == _nearest(_RUNG.desc(), rung > _RUNG), absent))
        .outerjoin(_NOISY, and_(_NOISY.c.id == _nearest(_RUNG, rung < _RUNG), absent))
    )
    return select(
        _EDITION.c.value.label("edition"),
        *signed(_CLEARANCE, "clearance", "clearance"),
        _QUERY.c.seq.label("query_seq"),
        _QUERY.c.mac.label("query_mac"),
        *signed(_GRANT, "grant", "grant"),
        *LEAF_COLUMNS,
        *_release_columns(_AT, "at", long),
        *_release_columns(_ACCURATE, "accurate", long),
        *_release_columns(_NOISY, "noisy", long),
        _count().label("count"),
        *columns_of_room,
        *(_numbers(database) if numbers else ()),
    ).select_from(tables)
