"""Release queries: one vector for each query and level, permanently.

A repeat is read without a lock and writes nothing.  A first hand-out locks the query, checks the
caller's clearance inside the same transaction, draws from the nearest stored neighbors if the level
is new, and appends its leaf; it answers after the commit.

Releases of other queries are drawn at the same time if the database can do that.  Everything else
that a release depends on (clearances, tiers, levels) is changed only by transactions that are
alone.
"""

import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sqlalchemy import bindparam
from sqlmodel import Session, col, func, select

from penstock.errors import (
    IntegrityViolation,
    LevelsUsedUp,
)
from penstock.mechanisms.multiple_release import released
from penstock.persistence.database import WRITING
from penstock.persistence.protocol import Dialect
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.log import Leaf
from penstock.persistence.tables.queries import Query, Release
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.noise.long_vectors.long_vector import LongVector, Steps
from penstock.services.noise.long_vectors.parts import without_values
from penstock.services.noise.sealed_state import seal_state, stored_state
from penstock.services.noise.sealing import SealedRelease
from penstock.services.releases import long_releases, quota
from penstock.services.releases.allowed import (
    AllowedRequest,
    EarlyLook,
    allowed_and_received,
    read_without_lock,
)
from penstock.services.releases.grants import HandedRelease, holdings, leaf_fields, view_of
from penstock.services.releases.known_queries import with_seq
from penstock.services.releases.locked_state import LockedState, read_ahead, read_under_lock
from penstock.services.releases.long_releases import MANIFEST, DrawnAhead
from penstock.services.releases.lookups import ReceivedRelease, received_as
from penstock.services.releases.stored_hand_outs import NewLevel, fitting, store_hand_out
from penstock.services.retry import retried
from penstock.services.schemas.previews import ReleasePreviewView
from penstock.services.schemas.queries import ReleaseRequest
from penstock.services.schemas.views import ReleaseView
from penstock.transparency_log import leaves
from penstock.transparency_log.leaves import AppendedLeaf, receipt_of

_OTHERS = (
    select(func.count())
    .select_from(Release)
    .where(
        col(Release.query_id) == bindparam("query_id"),
        col(Release.rung).not_in(bindparam("own", expanding=True)),
    )
)


@dataclass(frozen=True)
class Answer:
    """Hold a release, and whether this call handed it to the caller for the first time.

    ``drawn`` is the number of values that it counts as when work is limited.
    """

    view: ReleaseView
    first: bool
    drawn: int


# Repeated, it finds the release that an interrupted run stored; so nothing is drawn twice.
@retried
def request(
    server: Server,
    principal: Principal,
    name: str,
    request: ReleaseRequest,
    elsewhere: Callable[[], bool] | None = None,
    look: EarlyLook | None = None,
) -> Answer:
    """Release a query at the caller's clearance, or at any more private level.

    ``elsewhere`` may let another process draw a long vector and hand it to the caller; it returns
    whether that was done.  ``look`` is what was read for this request already, with its caller.

    Raises ``NotFound`` for a query that the caller may not see, ``ClearanceTooLow`` for a level
    more accurate than the caller's own, ``LevelsUsedUp``, ``QuotaUsedUp``, ``Conflict`` for a query
    that is not active, and ``InvalidInput`` for a level that the query does not offer.
    """
    principal.require("analyst")
    if look is None:
        allowed, received = read_without_lock(server, principal, name, request)
    else:
        allowed, received = look.allowed, look.received
    if received is not None:
        steps = _opened(server, allowed, received)
        received = _unsealed(received)
        return _answer(server, allowed, received, steps, first=False)
    if allowed.kind.prepares_draws:
        _prepare_draw(server, principal, allowed)
    if not allowed.kind.is_long(allowed.query):
        grows = allowed.kind.size(allowed.query)
        return _released(server, principal, name, request, allowed, grows)
    if elsewhere is not None and elsewhere():
        allowed, received = read_without_lock(server, principal, name, request)
        if received is not None:
            steps = _opened(server, allowed, received)
            return _answer(server, allowed, _unsealed(received), steps, first=True)
    while True:
        ahead = _drawn_ahead(server, principal, allowed)
        with suppress(long_releases.Overtaken), ahead.settled():
            return _released(server, principal, name, request, allowed, MANIFEST, ahead)
        # Its neighbors changed meanwhile: it is drawn again, from the true ones.
        allowed, _ = read_without_lock(server, principal, name, request)


def _released(
    server: Server,
    principal: Principal,
    name: str,
    request: ReleaseRequest,
    allowed: AllowedRequest,
    grows: int,
    ahead: DrawnAhead | None = None,
) -> Answer:
    """Hand out what is allowed under the lock; the vector that is stored then may be long."""
    with server.database.write_beside(grows=grows) as session:
        allowed, state = read_under_lock(session, server, principal, name, request, allowed)
        received = state.received
        if received is not None:
            steps = _opened(server, allowed, received)
            received = _unsealed(received)
        else:
            release, steps = _stored_or_drawn(session, server, allowed, state, ahead)
            leaf = _hand_out(session, server, principal, allowed, release, steps, state.leaf_id)
    return _answer(server, allowed, received or received_as(release, leaf), steps, first=True)


def _drawn_ahead(server: Server, principal: Principal, allowed: AllowedRequest) -> DrawnAhead:
    """Draw a long vector before the lock, unless it is stored or there is no room for it."""
    state = read_ahead(server, principal, allowed)
    if state.received is None:
        _require_room_left(server, allowed, state)
    return long_releases.drawn(server, allowed, long_releases.nearest(allowed, state))


def preview(
    server: Server, principal: Principal, name: str, request: ReleaseRequest
) -> ReleasePreviewView:
    """Preview what ``request`` would hand out, without values; nothing is drawn or logged.

    Raises as ``request`` does, except for ``LevelsUsedUp``.
    """
    principal.require("analyst")
    with server.database.read() as session:
        allowed, _ = allowed_and_received(session, server, principal, name, request)
        user, query = required(principal.user_id), required(allowed.query.id)
        rungs = [row.release.rung for row in holdings(session, user_ids=[user], query_id=query)]
        return ReleasePreviewView(
            query=allowed.query.readable,
            dataset=allowed.dataset.name,
            tier=allowed.tier.name,
            mechanism=allowed.query.mechanism,
            level=allowed.kind.level(allowed.rung),
            guarantee=allowed.kind.guarantee(allowed.rung, allowed.dataset.delta),
            error=allowed.kind.error(allowed.rung),
            histogram=allowed.kind.at_rung(allowed.rung),
            lossless=allowed.kind.lossless,
            held=allowed.rung in rungs,
            better_held=bool(rungs) and min(rungs) < allowed.rung,
        )


def _answer(
    server: Server,
    allowed: AllowedRequest,
    received: ReceivedRelease,
    steps: Steps,
    *,
    first: bool,
) -> Answer:
    """Return the answer once the witness saw the leaf; no transaction is open meanwhile."""
    if not server.sequencer.covers(received.index):
        with server.database.read() as session:
            leaf = session.get_one(Leaf, received.leaf_id)
        server.sequencer.cover(leaf)
        received = replace(received, index=leaf.index, receipt=receipt_of(leaf))
    query, dataset = allowed.query, allowed.dataset
    view = view_of(
        allowed.kind,
        query,
        dataset,
        allowed.tier,
        received,
        received.granted_at,
        received.receipt,
        steps,
    )
    return Answer(without_values(view), first, allowed.kind.work(int(view.values.size)))


def _opened(server: Server, allowed: AllowedRequest, received: ReceivedRelease) -> Steps:
    return allowed.kind.stored(server, allowed.dataset, allowed.query, received)


def _unsealed(received: ReceivedRelease) -> ReceivedRelease:
    """Return it without its ciphertext, which takes as much memory as the opened vector."""
    return replace(received, ciphertext=b"")


def _stored_or_drawn(
    session: Session,
    server: Server,
    allowed: AllowedRequest,
    state: LockedState,
    ahead: DrawnAhead | None,
) -> tuple[HandedRelease, Steps]:
    # Before anything else: a refusal must not reveal which levels others have requested.
    _require_room_left(server, allowed, state)
    dataset, query = allowed.dataset, with_seq(allowed.query, state.seq)
    if state.stored is not None:
        return state.stored, stored_state(server, dataset, query, state.stored)
    if state.count != query.seq + 1:
        # A level whose row was deleted would be drawn a second time, independently.
        raise IntegrityViolation(
            f"Rows of query {query.readable!r} are missing: its releases do not fit each other."
            " Nothing was drawn; restore the database from a backup."
        )
    accurate, noisy = state.accurate, state.noisy
    if ahead is not None:
        draw = ahead.fitting(allowed, accurate, noisy)
    else:
        with server.drawing():
            draw = allowed.kind.draw(session, server, dataset, query, allowed.rung, accurate, noisy)
    ((rung, steps),) = draw.vectors
    seq = query.seq + 1
    row = {"id": state.release_id, **release_row(server, query, rung, seq, accurate, noisy)}
    sealed = seal_state(server, dataset, query, rung, seq, steps)
    if draw.keep is not None:
        draw.keep(session, dataset, with_seq(query, seq))
    return NewLevel(query, allowed.known.signed, row, sealed), steps


def release_row(
    server: Server,
    query: Query,
    rung: int,
    seq: int,
    accurate: SealedRelease | None,
    noisy: SealedRelease | None,
) -> dict[str, Any]:
    """Return the columns of the row of a newly drawn release, but for its sealed vector."""
    return {
        "public_id": str(uuid.uuid4()),
        "query_id": required(query.id),
        "rung": rung,
        "seq": seq,
        "accurate_rung": accurate.rung if accurate else None,
        "noisy_rung": noisy.rung if noisy else None,
        "created_at": server.clock(),
    }


def store(
    session: Session,
    server: Server,
    dataset: Dataset,
    query: Query,
    rung: int,
    steps: Steps,
    accurate: SealedRelease | None,
    noisy: SealedRelease | None,
) -> Release:
    """Seal a newly drawn vector and store it as the query's next release."""
    query.seq += 1
    session.add(query)
    row = release_row(server, query, rung, query.seq, accurate, noisy)
    sealed = seal_state(server, dataset, query, rung, query.seq, steps)
    dialect: Dialect = session.info[WRITING]
    with fitting(query.name):
        release = Release(**row, ciphertext=dialect.large(session.connection(), sealed))
        session.add(release)
        session.flush()
    return release


def _prepare_draw(server: Server, principal: Principal, allowed: AllowedRequest) -> None:
    """Do the long part of a draw, if there is room for its result, before any lock is taken."""
    with server.database.read() as session:
        require_room = partial(_require_room, session, server, principal, allowed)
        allowed.kind.prepare_draw(session, allowed.query, allowed.rung, require_room)


def _require_room(
    session: Session, server: Server, principal: Principal, allowed: AllowedRequest
) -> None:
    """Raise ``LevelsUsedUp`` for a level that no tier has if no more may be drawn."""
    own = allowed.known.given
    if allowed.rung not in own:
        quota.require_level(session, server, required(principal.user_id))
        place = {"query_id": allowed.query.id, "own": sorted(own)}
        _require_levels_left(allowed, session.exec(_OTHERS, params=place).one())


def _require_room_left(server: Server, allowed: AllowedRequest, state: LockedState) -> None:
    """Raise ``LevelsUsedUp`` as ``_require_room`` does, from what was read already."""
    if state.room is not None:
        room = state.room
        quota.refuse_level(server, room.levels, room.size, room.first)
        _require_levels_left(allowed, room.others)


def _require_levels_left(allowed: AllowedRequest, others: int) -> None:
    """Raise ``LevelsUsedUp`` if there may be no more than ``others`` levels beside the tiers'."""
    if others >= allowed.query.max_levels - len(allowed.known.given):
        raise LevelsUsedUp(
            f"Query {allowed.query.readable!r} holds the {allowed.query.max_levels} levels that it"
            f" was registered for; request the level of a tier."
        )


def _hand_out(
    session: Session,
    server: Server,
    principal: Principal,
    allowed: AllowedRequest,
    release: HandedRelease,
    steps: Steps,
    leaf_id: int | None = None,
) -> AppendedLeaf:
    """Record that the caller is handed a release from now on, and store it if it is new."""
    leaf = leaves.made(
        session,
        **leaf_fields(
            server,
            principal,
            "release",
            allowed.dataset,
            allowed.query,
            allowed.tier,
            allowed.kind.level(release.rung),
            release,
        ),
        **_proof(server, allowed, release, steps),
    )
    leaves.give_place(session, leaf)
    leaf.id = leaf_id
    grant = {
        "user_id": required(principal.user_id),
        "release_id": release.id,
        "tier_id": required(allowed.tier.id),
        "at": leaf.at,
    }
    store_hand_out(session, release if isinstance(release, NewLevel) else None, leaf, grant)
    return leaf


def _proof(
    server: Server, allowed: AllowedRequest, release: HandedRelease, steps: Steps
) -> dict[str, Any]:
    """Return the field of a leaf that commits to the values: their HMAC, or the chunks' root."""
    if isinstance(steps, LongVector):
        return {"chunks": steps.root}
    seen = released(allowed.kind.mechanism, steps)
    return {"value_hmac": leaves.value_hmac(server.secrets.values, release.public_id, seen)}
