"""Release queries: one vector for each query and level, permanently.

A repeat is read without a lock and writes nothing.  A first hand-out locks the query, checks the
caller's clearance inside the same transaction, draws from the nearest stored neighbors if the level
is new, and appends its leaf; it answers after the commit.

Releases of other queries are drawn at the same time if the database can do that.  Everything else
that a release depends on (clearances, tiers, levels) is changed only by transactions that are
alone.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import bindparam
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col, func, select

from penstock.errors import (
    IntegrityViolation,
    LevelsUsedUp,
    NotFound,
)
from penstock.mechanisms.multiple_release import released
from penstock.mechanisms.process import IntVector
from penstock.persistence.database import WRITING
from penstock.persistence.locks import lock_query
from penstock.persistence.protocol import Dialect
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.log import Leaf
from penstock.persistence.tables.queries import Query, Release
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.noise.sealed_state import open_state, seal_state
from penstock.services.releases import quota
from penstock.services.releases.allowed import AllowedRequest, allowed_and_received
from penstock.services.releases.grants import grant, holdings, leaf_of, view_of
from penstock.services.releases.lookups import ReceivedRelease, received_as
from penstock.services.retry import retried
from penstock.services.schemas.previews import ReleasePreviewView
from penstock.services.schemas.queries import ReleaseRequest
from penstock.services.schemas.views import ReleaseView
from penstock.transparency_log import leaves
from penstock.transparency_log.leaves import receipt_of

# Built once, as in ``repository``: all of these run while others wait.
_ONE_RELEASE = select(Release).where(col(Release.query_id) == bindparam("query_id")).limit(1)
_COUNTED = (
    select(func.count()).select_from(Release).where(col(Release.query_id) == bindparam("query_id"))
)
_AT = _ONE_RELEASE.where(col(Release.rung) == bindparam("rung"))
_ACCURATE = _ONE_RELEASE.where(col(Release.rung) < bindparam("rung")).order_by(
    col(Release.rung).desc()
)
_NOISY = _ONE_RELEASE.where(col(Release.rung) > bindparam("rung")).order_by(col(Release.rung))
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
def request(server: Server, principal: Principal, name: str, request: ReleaseRequest) -> Answer:
    """Release a query at the caller's clearance, or at any more private level.

    Raises ``NotFound`` for a query that the caller may not see, ``ClearanceTooLow`` for a level
    more accurate than the caller's own, ``LevelsUsedUp``, ``QuotaUsedUp``, ``Conflict`` for a query
    that is not active, and ``InvalidInput`` for a level that the query does not offer.
    """
    principal.require("analyst")
    with server.database.read() as session:
        allowed, received = allowed_and_received(session, server, principal, name, request)
        if received is None:
            require_room = partial(_require_room, session, server, principal, allowed)
            allowed.kind.prepare_draw(session, allowed.query, allowed.rung, require_room)
    if received is not None:
        steps = _opened(server, allowed, received)
        received = _unsealed(received)
        return _answer(server, allowed, received, steps, first=False)
    with server.database.write_beside(grows=allowed.kind.size(allowed.query)) as session:
        locked = lock_query(session, required(allowed.query.id))
        if locked is None:
            raise NotFound(f"There is no query {name!r}.")
        allowed, received = allowed_and_received(session, server, principal, name, request, allowed)
        allowed = allowed.under(locked)
        if received is not None:
            steps = _opened(server, allowed, received)
            received = _unsealed(received)
        else:
            release, steps = _stored_or_drawn(session, server, principal, allowed)
            leaf = _hand_out(session, server, principal, allowed, release, steps)
    return _answer(server, allowed, received or received_as(release, leaf), steps, first=True)


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
            query=allowed.query.name,
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
    steps: IntVector,
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
    return Answer(view, first, allowed.kind.work(int(view.values.size)))


def _opened(server: Server, allowed: AllowedRequest, received: ReceivedRelease) -> IntVector:
    return allowed.kind.opened(server, allowed.dataset, allowed.query, received)


def _unsealed(received: ReceivedRelease) -> ReceivedRelease:
    """Return it without its ciphertext, which takes as much memory as the opened vector."""
    return replace(received, ciphertext=b"")


def _stored_or_drawn(
    session: Session, server: Server, principal: Principal, allowed: AllowedRequest
) -> tuple[Release, IntVector]:
    # Before the look-up: a refusal must not reveal which levels others have requested.
    _require_room(session, server, principal, allowed)
    place = {"query_id": allowed.query.id, "rung": allowed.rung}
    stored = session.exec(_AT, params=place).first()
    if stored is not None:
        return stored, open_state(server, allowed.dataset, allowed.query, stored)
    if session.exec(_COUNTED, params={"query_id": allowed.query.id}).one() != allowed.query.seq + 1:
        # A level whose row was deleted would be drawn a second time, independently.
        raise IntegrityViolation(
            f"Rows of query {allowed.query.name!r} are missing: its releases do not fit each other."
            " Nothing was drawn; restore the database from a backup."
        )
    accurate = session.exec(_ACCURATE, params=place).first()
    noisy = session.exec(_NOISY, params=place).first()
    draw = allowed.kind.draw(
        session, server, allowed.dataset, allowed.query, allowed.rung, accurate, noisy
    )
    ((rung, steps),) = draw.vectors
    release = store(session, server, allowed.dataset, allowed.query, rung, steps, accurate, noisy)
    draw.keep(session, allowed.dataset, allowed.query)
    return release, steps


def store(
    session: Session,
    server: Server,
    dataset: Dataset,
    query: Query,
    rung: int,
    steps: IntVector,
    accurate: Release | None,
    noisy: Release | None,
) -> Release:
    """Seal a newly drawn vector and store it as the query's next release."""
    with fitting(query.name):
        release = add(session, server, dataset, query, rung, steps, accurate, noisy)
        session.flush()
    return release


@contextmanager
def fitting(name: str) -> Iterator[None]:
    """Raise ``IntegrityViolation`` where the releases of query ``name`` have no place."""
    try:
        yield
    except IntegrityError as problem:
        # The lock rules this out, unless rows were restored to an older state.
        raise IntegrityViolation(
            f"Query {name!r} already has a release where the next one belongs: its rows"
            " do not fit each other. Nothing was drawn; restore the database from a backup."
        ) from problem


def add(
    session: Session,
    server: Server,
    dataset: Dataset,
    query: Query,
    rung: int,
    steps: IntVector,
    accurate: Release | None,
    noisy: Release | None,
) -> Release:
    """Seal a newly drawn vector and add it as the query's next release, to be flushed."""
    query.seq += 1
    session.add(query)
    sealed = seal_state(server, dataset, query, rung, query.seq, steps)
    dialect: Dialect = session.info[WRITING]
    release = Release(
        public_id=str(uuid.uuid4()),
        query_id=required(query.id),
        rung=rung,
        seq=query.seq,
        accurate_rung=accurate.rung if accurate else None,
        noisy_rung=noisy.rung if noisy else None,
        ciphertext=dialect.large(session.connection(), sealed),
        created_at=server.clock(),
    )
    session.add(release)
    return release


def _require_room(
    session: Session, server: Server, principal: Principal, allowed: AllowedRequest
) -> None:
    """Raise ``LevelsUsedUp`` for a level that no tier has if no more may be drawn."""
    own = allowed.known.given
    if allowed.rung in own:
        return
    quota.require_level(session, server, required(principal.user_id))
    others = session.exec(_OTHERS, params={"query_id": allowed.query.id, "own": sorted(own)}).one()
    if others >= allowed.query.max_levels - len(own):
        raise LevelsUsedUp(
            f"Query {allowed.query.name!r} holds the {allowed.query.max_levels} levels that it"
            f" was registered for; request the level of a tier."
        )


def _hand_out(
    session: Session,
    server: Server,
    principal: Principal,
    allowed: AllowedRequest,
    release: Release,
    steps: IntVector,
) -> Leaf:
    seen = released(allowed.kind.mechanism, steps)
    leaf = leaf_of(
        session,
        server,
        principal,
        "release",
        allowed.dataset,
        allowed.query,
        allowed.tier,
        allowed.kind.level(release.rung),
        release,
        value_hmac=leaves.value_hmac(server.secrets.values, release.public_id, seen),
    )
    grant(session, principal, allowed.tier, release, leaf)
    return leaf
