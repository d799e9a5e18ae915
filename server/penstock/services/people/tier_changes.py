"""Create, move and delete tiers: named, ranked clearance levels.

A tier can be put between two others at any time.  Budgets and effective levels are brought up to
date in the same transaction, and a change is refused if it would exceed an account.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlmodel import Session, col, select

from penstock.errors import Conflict, InvalidInput, NameTaken
from penstock.persistence.protocol import Need
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier, User
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal
from penstock.services.access.two_person_rule import require_second
from penstock.services.allowances.floors import require_floors_kept
from penstock.services.context import Server
from penstock.services.ledger.allowed_levels import allow, newest, risen
from penstock.services.ledger.effective_levels import ladder, recharge
from penstock.services.ledger.repricing import reprice
from penstock.services.ledger.tier_budgets import inherit, newest_budget
from penstock.services.people.logged_tiers import record_deletion, record_rank
from penstock.services.people.tiers import view
from penstock.services.repository.people import holding, ordered_tiers, tier_by_name
from penstock.services.schemas.people.tiers import TierChange, TierSpec
from penstock.services.schemas.people.views import TierView
from penstock.spec_fields import folded

FIRST_RANK = 10
GAP = 10


def create(server: Server, principal: Principal, spec: TierSpec) -> TierView:
    """Add a tier, with the budgets and levels of the next lower tier.

    Raises ``NameTaken``, and ``InvalidInput`` for a rank that is taken or leaves no room.
    """
    principal.require("admin")
    with server.database.write() as session:
        tiers = ordered_tiers(session)
        taken = next((tier.name for tier in tiers if tier.folded == folded(spec.name)), None)
        if taken is not None:
            raise NameTaken(f"There is a tier {taken!r} already; choose another name.")
        now = server.clock()
        tier = Tier(
            name=spec.name,
            folded=folded(spec.name),
            rank=_rank(tiers, spec),
            description=spec.description,
            created_at=now,
        )
        session.add(tier)
        session.flush()
        record_rank(session, principal, tier, now)
        _update_levels(session, principal, now, None)
        return view(tier)


def change(server: Server, principal: Principal, name: str, spec: TierChange) -> TierView:
    """Move a tier, or change its description.

    From then on it is also charged for what the tiers below it see.  A tier that is moved down is
    allowed no more than the tiers that it passed; those pay for what it saw.  Raises
    ``NotFound``, ``InvalidInput`` for a rank that is taken or leaves no room, ``Conflict`` if
    budgets would shrink as rank rises, and ``BudgetExhausted``.
    """
    principal.require("admin")
    with server.database.write() as session:
        tier = tier_by_name(session, name)
        now = server.clock()
        if spec.description is not None and spec.description != tier.description:
            tier.description = spec.description
            session.add(tier)
        if spec.rank is not None or spec.above is not None:
            others = [other for other in ordered_tiers(session) if other.id != tier.id]
            before, tier.rank = tier.rank, _rank(others, spec, tier)
            if tier.rank != before:
                session.add(tier)
                session.flush()
                record_rank(session, principal, tier, now)
                _update_levels(session, principal, now, (tier, before))
        return view(tier)


def delete(server: Server, principal: Principal, name: str) -> TierView:
    """Delete a tier.  What its former holders saw stays accounted for.

    Raises ``NotFound``, ``Conflict`` while people hold it, and ``ApprovalNeeded``.
    """
    principal.require("admin")
    with server.database.write(need=Need.RELIEF) as session:
        removed = remove(session, server, principal, name)
        require_second(server)
        return removed


def remove(session: Session, server: Server, principal: Principal, name: str) -> TierView:
    """Delete a tier as a part of a transaction; see ``delete``."""
    tier = tier_by_name(session, name)
    holders = _holders(session, tier)
    if holders:
        shown = ", ".join(holders[:10]) + (" and others" if len(holders) > 10 else "")
        raise Conflict(
            f"Tier {tier.name!r} is held by {len(holders)}: {shown}. Give them another"
            " clearance, or none, and try again.",
            held_by=holders[:10],
        )
    tier.deleted_at = server.clock()
    session.add(tier)
    session.flush()
    record_deletion(session, principal, tier, tier.deleted_at)
    _update_levels(session, principal, tier.deleted_at, None)
    return view(tier)


def _holders(session: Session, tier: Tier) -> list[str]:
    keys = [user for user, tier_id in holding(session).items() if tier_id == tier.id]
    names = select(User.name).where(col(User.id).in_(keys)).order_by(col(User.id))
    return list(session.exec(names).all())


def _update_levels(
    session: Session, principal: Principal, at: datetime, moved: tuple[Tier, int] | None
) -> None:
    """Bring budgets, allowed and effective levels up to date with the present tiers.

    ``moved`` is a tier with the rank that it had before.
    """
    places, tiers = ladder(session), ordered_tiers(session)
    datasets = select(Dataset).where(col(Dataset.withdrawn_at).is_(None))
    for dataset in session.exec(datasets.order_by(col(Dataset.id))).all():
        reprice(session, dataset, inherit(session, principal, dataset, places, at), at)
        queries = session.exec(
            select(Query).where(col(Query.dataset_id) == dataset.id).order_by(col(Query.id))
        ).all()
        if not queries:
            continue
        funded = [tier for tier in tiers if newest_budget(session, dataset, tier) is not None]
        own = newest(session, queries)
        allowed = {key: risen(funded, _lowered(rungs, tiers, moved)) for key, rungs in own.items()}
        require_floors_kept(session, queries, tiers, allowed)
        recharge(session, dataset, queries, at, allowed=allowed)
        for query in queries:
            allow(session, principal, dataset, query, allowed[required(query.id)], at)
    session.flush()


def _lowered(
    rungs: dict[int, int], tiers: Sequence[Tier], moved: tuple[Tier, int] | None
) -> dict[int, int]:
    """Return the rungs that a tier keeps after it was moved down: those of the passed tiers."""
    if moved is None:
        return rungs
    tier, before = moved
    key = required(tier.id)
    passed = [
        rungs[required(other.id)]
        for other in tiers
        if tier.rank < other.rank < before and required(other.id) in rungs
    ]
    if key not in rungs or not passed:
        return rungs
    return {**rungs, key: max(rungs[key], *passed)}


def _rank(tiers: Sequence[Tier], spec: TierSpec | TierChange, moved: Tier | None = None) -> int:
    """Return the rank that ``spec`` requests, among the other ``tiers``."""
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
    if moved is not None and folded(spec.above) == moved.folded:
        raise InvalidInput("A tier cannot be above itself; name another one.", pointer="/above")
    lower = next((tier.rank for tier in tiers if tier.folded == folded(spec.above)), None)
    if lower is None:
        raise InvalidInput(
            f"There is no tier {spec.above!r} to place this one above; list the tiers, or give a"
            f" rank.",
            pointer="/above",
        )
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
