"""Show who holds which tier, and preview another clearance for a user.

A clearance takes effect at once and costs nothing: every tier was charged for what it may see when
its queries were registered.  It changes what a user may be handed, and what users who pool with
them can reach: the budget of the highest tier that any of them ever held.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlmodel import Session, col, select

from penstock.errors import InvalidInput, NotFound
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Clearance, Tier, User
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal, roles_of
from penstock.services.context import Server
from penstock.services.exposure.exposure import reach, reach_of
from penstock.services.ledger.accounts import open_account
from penstock.services.ledger.effective_levels import highest_ever, place
from penstock.services.ledger.version_chains import by_people, split
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.repository.levels import all_allowed_rungs
from penstock.services.repository.people import (
    clearance_of,
    holding,
    ordered_tiers,
    tier_by_name,
    user_by_name,
)
from penstock.services.schemas.exposure import ReachView
from penstock.services.schemas.views import GuaranteeView

Row = TypeVar("Row", User, Tier)


@dataclass(frozen=True)
class TierHoldersView:
    """Hold a tier and its holders by name; ``shut_out`` counts holders who are disabled."""

    name: str
    rank: int
    description: str
    people: list[str]
    shut_out: int


@dataclass(frozen=True)
class LadderView:
    """Hold all tiers, the least trusted first; ``without`` are analysts without clearance."""

    tiers: list[TierHoldersView]
    without: list[str]


@dataclass(frozen=True)
class SightView:
    """Hold the levels of a query that a user may see before and after; null for none."""

    query: str
    dataset: str
    stream: bool
    before: GuaranteeView | None
    after: GuaranteeView | None


@dataclass(frozen=True)
class FartherView:
    """Hold the budget of a dataset that a user can reach, alone and pooled with lower reach."""

    dataset: str
    before: ReachView | None
    after: ReachView | None


@dataclass(frozen=True)
class ClearancePreviewView:
    """Hold a preview of a clearance.

    ``sights`` are the queries that change, ``unchanged`` counts the other visible ones. ``highest``
    is the highest tier that the user will ever have held.  ``peers`` hold the tier already.
    ``nearer`` are users who can reach less by themselves than this user will, and as much as
    ``highest`` when pooled with this user.
    """

    user: str
    active: bool
    analyst: bool
    source: str | None
    target: str | None
    upward: bool
    sights: list[SightView]
    unchanged: int
    farther: list[FartherView]
    highest_before: str | None
    highest: str | None
    peers: list[str]
    nearer: list[str]


def ladder(server: Server, principal: Principal) -> LadderView:
    """Return the tiers with their holders.  Raises ``Forbidden``."""
    principal.require("admin")
    with server.database.read() as session:
        users = session.exec(select(User).order_by(col(User.id))).all()
        clearances = holding(session)
        tiers = []
        for tier in ordered_tiers(session):
            here = [user for user in users if clearances.get(required(user.id)) == tier.id]
            names = [user.name for user in here if user.is_active]
            shut_out = len(here) - len(names)
            tiers.append(TierHoldersView(tier.name, tier.rank, tier.description, names, shut_out))
        without = [
            user.name
            for user in users
            if user.analyst and user.is_active and not clearances.get(required(user.id))
        ]
        return LadderView(tiers, without)


def preview(
    server: Server, principal: Principal, name: str, tier_name: str | None
) -> ClearancePreviewView:
    """Preview giving ``name`` the tier ``tier_name`` (``None``: none); nothing is done.

    Raises ``Forbidden``, and ``InvalidInput`` for a user or a tier that does not exist.
    """
    principal.require("admin")
    with server.database.read() as session:
        user = _row_at(lambda: user_by_name(session, name), "/user")
        target = _row_at(lambda: tier_by_name(session, tier_name), "/tier") if tier_name else None
        source = clearance_of(session, required(user.id))
        before = highest_ever(session, [required(user.id)])
        after = max((tier for tier in (before, target) if tier), key=place, default=None)
        sights = _sights(session, source, target)
        changed = [sight for sight in sights if sight.before != sight.after]
        return ClearancePreviewView(
            user=user.name,
            active=user.is_active,
            analyst="analyst" in roles_of(user),
            source=source.name if source else None,
            target=target.name if target else None,
            upward=target is not None and (source is None or target.rank > source.rank),
            sights=changed,
            unchanged=len(sights) - len(changed),
            farther=_farther(session, before, after),
            highest_before=before.name if before else None,
            highest=after.name if after else None,
            peers=_peers(session, user, target),
            nearer=_nearer(session, user, after),
        )


def _row_at(look_up: Callable[[], Row], pointer: str) -> Row:
    try:
        return look_up()
    except NotFound as problem:
        raise InvalidInput(problem.detail, pointer=pointer) from problem


def _sights(session: Session, source: Tier | None, target: Tier | None) -> list[SightView]:
    """Return the active queries that either tier sees."""
    sights = []
    allowed = [all_allowed_rungs(session, tier) if tier else {} for tier in (source, target)]
    rows = session.exec(
        select(Query, Dataset)
        .join(Dataset, col(Query.dataset_id) == col(Dataset.id))
        .where(col(Query.status) == "active")
        .order_by(col(Query.id))
    ).all()
    for query, dataset in rows:
        before, after = (_guarantee(query, dataset, rungs) for rungs in allowed)
        if before or after:
            sights.append(
                SightView(query.readable, dataset.name, kind_of(query).is_stream, before, after)
            )
    return sights


def _guarantee(
    query: Query, dataset: Dataset, rungs: Mapping[int, int | None]
) -> GuaranteeView | None:
    rung = rungs.get(required(query.id))
    return None if rung is None else kind_of(query).guarantee(rung, dataset.delta)


def _farther(session: Session, before: Tier | None, after: Tier | None) -> list[FartherView]:
    """Return the reach into each dataset of a user whose highest tier changes.

    Datasets of the same people count as one.
    """
    reaches = []
    for versions in by_people(session):
        was, will = (_reach(session, versions, tier) for tier in (before, after))
        if was or will:
            names = ", ".join(of_dataset[-1].name for of_dataset in split(versions))
            reaches.append(FartherView(names, was, will))
    return reaches


def _reach(session: Session, versions: Sequence[Dataset], highest: Tier | None) -> ReachView | None:
    if highest is None:
        return None
    accounts = [open_account(session, required(version.id), highest) for version in versions]
    return reach(versions, [reach_of(account) for account in accounts])


def _peers(session: Session, user: User, target: Tier | None) -> list[str]:
    if target is None:
        return []
    clearances = holding(session)
    return [
        other.name
        for other in _others(session, user)
        if clearances.get(required(other.id)) == target.id
    ]


def _nearer(session: Session, user: User, highest: Tier | None) -> list[str]:
    """Return the active analysts who never held a tier as high as ``highest``."""
    if highest is None:
        return []
    reached: dict[int, Tier] = {}
    all_clearances = select(Clearance, Tier).join(Tier, col(Clearance.tier_id) == col(Tier.id))
    for row, tier in session.exec(all_clearances).all():
        reached[row.user_id] = max(reached.get(row.user_id, tier), tier, key=place)
    return [
        other.name
        for other in _others(session, user)
        if (known := reached.get(required(other.id))) is not None and place(known) < place(highest)
    ]


def _others(session: Session, user: User) -> Sequence[User]:
    """Return all other users who are not disabled."""
    return session.exec(
        select(User)
        .where(col(User.disabled_at).is_(None), col(User.id) != user.id)
        .order_by(col(User.id))
    ).all()
