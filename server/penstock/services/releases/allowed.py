"""Decide which level of a query a request gets, from what is known of the query and its caller."""

from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass

from sqlmodel import Session

from penstock.errors import ClearanceTooLow, Conflict, InvalidInput, NotFound
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.access.presumptions import Presumed
from penstock.services.access.principals import Principal
from penstock.services.allowances.own_names import full_name, no_query
from penstock.services.context import Server
from penstock.services.noise.kinds.kind import QueryKind
from penstock.services.noise.level_rule import Opened
from penstock.services.releases import known_queries
from penstock.services.releases.known_queries import KnownQuery
from penstock.services.releases.lookups import (
    Clearance,
    Lookup,
    ReceivedRelease,
    look_up,
    look_up_alone,
    look_up_with_caller,
)
from penstock.services.schemas.queries import ReleaseRequest


@dataclass(frozen=True)
class AllowedRequest:
    """Hold an allowed request: its query, its rung, and the tier of its answer.

    It stands as long as the database has this edition, and the caller this clearance.
    """

    known: KnownQuery
    tier: Tier
    rung: int
    edition: str
    clearance: Clearance

    def stands(self, look: Lookup) -> bool:
        """Return True if neither the edition nor the clearance is another one in ``look``."""
        return (look.edition, look.clearance) == (self.edition, self.clearance)

    @property
    def query(self) -> Query:
        """Return the query's row."""
        return self.known.query

    @property
    def dataset(self) -> Dataset:
        """Return the row of the query's dataset."""
        return self.known.dataset

    @property
    def kind(self) -> QueryKind:
        """Return the query's kind."""
        return self.known.kind


@dataclass(frozen=True)
class EarlyLook:
    """Hold a confirmed caller, what they were allowed in the same statement, and what they hold."""

    principal: Principal
    allowed: AllowedRequest
    received: ReceivedRelease | None


def allowed_and_received(
    session: Session, server: Server, principal: Principal, name: str, request: ReleaseRequest
) -> tuple[AllowedRequest, ReceivedRelease | None]:
    """Return what a request is allowed now, and the release if the caller holds it.

    Raises as ``releases.request`` does.
    """
    user = required(principal.user_id)
    look = look_up(session, user)
    allowed = allowed_now(session, server, name, request, look.edition, look.clearance, keep=True)
    server.clearances[user] = look.clearance
    return allowed, look_up(session, user, allowed.query.id, allowed.rung).received


def read_without_lock(
    server: Server, principal: Principal, name: str, request: ReleaseRequest
) -> tuple[AllowedRequest, ReceivedRelease | None]:
    """Return what ``allowed_and_received`` does, of a known query by one statement.

    No session is made for it.  It reads the caller's clearance and the edition of everything else,
    and looks for the release that the request gets if neither has changed.  If one has, all is read
    anew.
    """
    user = required(principal.user_id)
    allowed = _allowed_before(server, user, name, request)
    if allowed is not None:
        look = look_up_alone(server.database, user, required(allowed.query.id), allowed.rung)
        if allowed.stands(look):
            return allowed, look.received
    with server.database.read() as session:
        return allowed_and_received(session, server, principal, name, request)


def read_with_caller(
    server: Server, caller: Presumed, name: str, request: ReleaseRequest
) -> EarlyLook | None:
    """Confirm a caller who was presumed, and return what ``read_without_lock`` does.

    It takes one statement.  None if that does not confirm the caller, or if something has changed:
    the caller is then to be authenticated, and everything to be read anew.
    """
    allowed = _allowed_before(server, caller.user.id, name, request)
    if allowed is None:
        return None
    row = look_up_with_caller(server, caller, required(allowed.query.id), allowed.rung)
    if row is None:
        return None
    principal, look = row
    return EarlyLook(principal, allowed, look.received) if allowed.stands(look) else None


def _allowed_before(
    server: Server, user: int, name: str, request: ReleaseRequest
) -> AllowedRequest | None:
    """Return what the request was allowed by what the worker keeps; None if that does not tell."""
    edition, clearance = server.kept.edition, server.clearances.get(user)
    known = known_queries.kept(server, edition, name)
    if known is not None and clearance is not None:
        # A request is refused only after a look at what is true.
        with suppress(NotFound, ClearanceTooLow, Conflict, InvalidInput):
            return _allowed(server.database.read, known, edition, clearance, request)
    return None


def allowed_now(
    session: Session,
    server: Server,
    name: str,
    request: ReleaseRequest,
    edition: str,
    clearance: Clearance,
    *,
    keep: bool = False,
) -> AllowedRequest:
    """Return what a request is allowed at an edition and a clearance, which were just read.

    With ``keep``, what is read of the query is kept for the next request: only in a transaction
    that sees one state of the database.  Raises as ``releases.request`` does.
    """
    if clearance[1] is None:
        raise NotFound(f"There is no query {name!r}.")

    def allowed(whole: str) -> AllowedRequest:
        known = known_queries.read(session, server, edition, whole, keep=keep)
        return _allowed(lambda: nullcontext(session), known, edition, clearance, request)

    try:
        return allowed(name)
    except NotFound:
        # A hidden query and a missing one alike: the name may be the short one of another.
        tier = session.get(Tier, clearance[1])
        if tier is None:
            raise NotFound(f"There is no query {name!r}.") from None
        whole = full_name(session, name, tier)
        if whole is None:
            raise no_query(session, name, tier) from None
    return allowed(whole)


def _allowed(
    opened: Opened,
    known: KnownQuery,
    edition: str,
    clearance: Clearance,
    request: ReleaseRequest,
) -> AllowedRequest:
    """Return what is allowed; ``opened`` gives a session to find independent levels with."""
    query, kind, own_tier = known.query, known.kind, known.tier(clearance[1])
    own = None if own_tier is None else known.allowed_rung(own_tier)
    if own_tier is None or own is None:
        raise NotFound(f"There is no query {query.readable!r}.")
    if query.status != "active":
        raise Conflict(
            f"Query {query.readable!r} is {query.status} and has no new releases; values already"
            f" handed out can still be read."
        )
    tier, rung, target = own_tier, own, request.target()
    if request.tier is not None:
        tier, rung = rung_of_tier(
            query, own_tier, request.tier, known.tier_named, known.allowed_rung
        )
    elif target is not None:
        delta = known.dataset.delta
        rung = kind.levels.target_rung(opened, query, own_tier, own, target, delta)
        # The release is for the least trusted readers who may have this level, not for the
        # caller's own tier.
        tiers = known.levels(own_tier)
        tier = next((tier for tier, finest in tiers if finest <= rung), own_tier)
    if rung < own:
        raise ClearanceTooLow(
            f"The requested level, {kind.level(rung).value:g}, is more accurate than"
            f" {own_tier.name!r} allows for {query.readable!r}, {kind.level(own).value:g}"
            f" ({kind.mechanism.parameter}). Request that level or more noise,"
            " or ask an admin for a higher clearance."
        )
    return AllowedRequest(known, tier, rung, edition, clearance)


def rung_of_tier(
    query: Query,
    clearance: Tier,
    name: str,
    tier_named: Callable[[str], Tier],
    allowed_rung: Callable[[Tier], int | None],
) -> tuple[Tier, int]:
    """Return a tier and its rung.  Raises ``ClearanceTooLow`` and ``InvalidInput``.

    ``tier_named`` finds a tier or raises ``NotFound``, and ``allowed_rung`` its rung of the query.
    """
    try:
        tier = tier_named(name)
    except NotFound as problem:
        raise InvalidInput(problem.detail, pointer="/tier") from problem
    if tier.rank > clearance.rank:
        raise ClearanceTooLow(
            f"Tier {tier.name!r} is above the clearance {clearance.name!r}: request"
            f" {clearance.name!r} or a less trusted tier, or ask an admin for a higher"
            f" clearance."
        )
    rung = allowed_rung(tier)
    if rung is None:
        raise InvalidInput(
            f"Query {query.readable!r} has no level for tier {tier.name!r}; request another tier.",
            pointer="/tier",
        )
    return tier, rung
