"""Tiers: named, ranked clearance levels.  One can be put between two at any time."""

from collections.abc import Sequence

from sqlmodel import Session, col, select

from penstock.connectors.fields import folded
from penstock.errors import InvalidInput, NameTaken, NotFound
from penstock.persistence.tables import Charge, Dataset, Query, QueryLevel, Tier, TierBudget
from penstock.services import log
from penstock.services.lookup import tier_by_name
from penstock.services.principals import Principal
from penstock.services.server import Server
from penstock.services.specs import TierSpec
from penstock.services.views import TierView

FIRST_RANK = 10
GAP = 10


def view(tier: Tier) -> TierView:
    """A tier as callers see it."""
    return TierView(name=tier.name, rank=tier.rank, description=tier.description)


def listing(server: Server) -> list[TierView]:
    """All tiers, the least trusted first."""
    with server.database.read() as session:
        return [view(tier) for tier in ordered(session)]


def ordered(session: Session) -> Sequence[Tier]:
    """All tiers, the least trusted first."""
    return session.exec(
        select(Tier).where(col(Tier.deleted_at).is_(None)).order_by(col(Tier.rank))
    ).all()


def create(server: Server, principal: Principal, spec: TierSpec) -> TierView:
    """Add a tier.  It starts with the budgets and levels of the next lower tier.

    Raises ``NameTaken``, and ``InvalidInput`` for a rank that is taken or leaves no room.
    """
    principal.require("admin")
    with server.database.write() as session:
        tiers = ordered(session)
        if any(tier.folded == folded(spec.name) for tier in tiers):
            raise NameTaken(f"There is a tier {spec.name!r} already; choose another name.")
        now = server.clock()
        tier = Tier(
            name=spec.name,
            folded=folded(spec.name),
            rank=_rank(session, tiers, spec),
            description=spec.description,
            created_at=now,
        )
        session.add(tier)
        session.flush()
        below = [other for other in tiers if other.rank < tier.rank]
        if below:
            _inherit(session, server, principal, tier, below[-1])
        log.append(
            session, kind="tier", at=now, actor=principal.name, tier=tier.name, rank=tier.rank
        )
        return view(tier)


def _rank(session: Session, tiers: Sequence[Tier], spec: TierSpec) -> int:
    taken = {tier.rank: tier.name for tier in tiers}
    if spec.rank is not None and spec.above is not None:
        raise InvalidInput("Give rank or above, not both.", pointer="/above")
    if spec.rank is not None:
        if spec.rank in taken:
            raise InvalidInput(
                f"Rank {spec.rank} is that of {taken[spec.rank]!r}; choose a free one.",
                pointer="/rank",
            )
        return spec.rank
    if spec.above is None:
        return max(taken) + GAP if taken else FIRST_RANK
    try:
        lower = tier_by_name(session, spec.above).rank
    except NotFound as problem:
        raise InvalidInput(
            f"There is no tier {spec.above!r} to be above of; list the tiers, or give a rank.",
            pointer="/above",
        ) from problem
    higher = [rank for rank in taken if rank > lower]
    if not higher:
        return lower + GAP
    middle = (lower + min(higher)) // 2
    if middle == lower:
        raise InvalidInput(
            f"No whole rank is free between {taken[lower]!r} ({lower}) and"
            f" {taken[min(higher)]!r} ({min(higher)}); give a rank elsewhere.",
            pointer="/above",
        )
    return middle


def _inherit(
    session: Session, server: Server, principal: Principal, tier: Tier, lower: Tier
) -> None:
    """Copy what ``lower`` has now: newest budgets and levels, and the account they cost."""
    now = server.clock()
    for dataset in session.exec(select(Dataset)).all():
        budget = session.exec(
            select(TierBudget)
            .where(col(TierBudget.dataset_id) == dataset.id, col(TierBudget.tier_id) == lower.id)
            .order_by(col(TierBudget.version).desc())
            .limit(1)
        ).first()
        if budget is None:
            continue
        _copy(session, budget, tier_id=tier.id, version=1, at=now, by=principal.name)
        charges = session.exec(
            select(Charge)
            .where(col(Charge.dataset_id) == dataset.id, col(Charge.tier_id) == lower.id)
            .order_by(col(Charge.seq))
        ).all()
        for charge in charges:
            _copy(session, charge, tier_id=tier.id, at=now)
    for query in session.exec(select(Query)).all():
        levels = session.exec(
            select(QueryLevel)
            .where(col(QueryLevel.query_id) == query.id, col(QueryLevel.tier_id) == lower.id)
            .order_by(col(QueryLevel.version).desc())
            .limit(1)
        ).all()
        for level in levels:
            _copy(session, level, tier_id=tier.id, version=1, at=now, by=principal.name)


def _copy(session: Session, row: TierBudget | Charge | QueryLevel, **changes: object) -> None:
    session.add(type(row)(**{**row.model_dump(exclude={"id"}), **changes}))
