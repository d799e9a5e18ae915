"""What a query would be and cost, as registering it would settle it, and nothing is done.

Specs and accounts are all that is read: no file, no key, no release.  Analysts are told of
tiers up to their own alone, as if there were none above: neither what those have, nor what
they see.  So of a ``share`` their levels may lie a rung of the ladder off those that a
registration settles, whose ladder begins at the highest tier's level.
"""

import math
from collections.abc import Iterator

from sqlmodel import Session

from penstock.accounting import Entry, check, left_of, limit_of
from penstock.errors import BudgetExhausted
from penstock.persistence.tables import Dataset, Query, Tier
from penstock.services.accounts import (
    NOTHING,
    TierAccount,
    largest_share,
    open_account,
    require_room,
)
from penstock.services.catalogue import levels_of, visible
from penstock.services.datasets import visible_below, visible_dataset
from penstock.services.effective import charged_for, ladder
from penstock.services.exact import Plannable, counted, planned
from penstock.services.lookup import required
from penstock.services.offers import Offer, settle
from penstock.services.preview_views import ChargeView, PreviewTierView, PreviewView, RoomView
from penstock.services.principals import Principal
from penstock.services.process import Process
from penstock.services.registration import (
    accounts_of,
    charged_dataset,
    pending,
    require_dimension,
)
from penstock.services.server import Server
from penstock.services.specs import PreviewRequest, PushedVectorRequest, RegisteredQuery


def preview(server: Server, principal: Principal, request: PreviewRequest) -> PreviewView:
    """What registering ``request`` would settle, or what a registered query was charged.

    Raises what registering would, but for want of budget, which the answer states, and of
    the file, which is not looked at; ``NotFound`` for a query or dataset out of sight.
    """
    principal.require("analyst", "admin")
    if isinstance(request, RegisteredQuery):
        with server.database.read() as session:
            return _registered(session, *visible(session, principal, request.query, stream=False))
    with server.database.read() as session:
        limit = visible_below(session, principal)
        dataset = visible_dataset(session, principal, request.dataset)
        if limit is None:
            dataset = charged_dataset(session, request)
        accounts = accounts_of(session, dataset, limit)
    prepared = planned(dataset, request)
    if isinstance(request, PushedVectorRequest):
        counted(request, prepared)
    require_dimension(server, prepared)
    offer = settle(request, prepared, accounts, dataset.delta, limit)
    with server.database.read() as session:
        left = pending(session, dataset, request, prepared, limit)
        if left is not None:
            return _registered(session, left, limit)
        terms = request.max_levels, prepared.dimension
        refusal = refusal_of(session, dataset, *terms, offer, everybody=limit is None)
    tiers = [
        _tier(offer.process, dataset, account, rung, cost, room_of(account, cost))
        for account, rung, cost in offer.charges
    ]
    return _view(request, dataset, offer.process, prepared.dimension, tiers, refusal)


def _registered(session: Session, query: Query, limit: Tier | None) -> PreviewView:
    process = Process.of(query)
    dataset = session.get_one(Dataset, query.dataset_id)
    charged = charged_for(session, dataset, [query])
    tiers = []
    for tier, rung in levels_of(session, query, limit):
        account = open_account(session, required(dataset.id), tier)
        if account is not None:
            paid = charged.get((required(tier.id), required(query.id)))
            cost = NOTHING if paid is None else paid.sum
            tiers.append(_tier(process, dataset, account, rung, cost, None))
    return _view(query, dataset, process, query.dimension, tiers, None)


def _view(
    of: Plannable | Query,
    dataset: Dataset,
    process: Process,
    dimension: int,
    tiers: list[PreviewTierView],
    refusal: str | None,
) -> PreviewView:
    return PreviewView(
        query=of.name,
        dataset=dataset.name,
        dataset_version=dataset.version,
        mechanism=of.mechanism,
        registered=isinstance(of, Query),
        dimension=dimension,
        granularity=float(process.mechanism.granularity),
        sensitivity=process.sensitivity_view(),
        refusal=refusal,
        tiers=tiers,
    )


def _tier(
    process: Process,
    dataset: Dataset,
    account: TierAccount,
    rung: int,
    cost: Entry,
    room: RoomView | None,
) -> PreviewTierView:
    level = process.at_tier(account.tier.name, rung, dataset.delta)
    charge = charge_of(account, cost)
    return PreviewTierView(level.tier, level.level, level.guarantee, charge, level.error, room)


def charge_of(account: TierAccount, cost: Entry) -> ChargeView:
    """What an account is charged, and which part of it that is."""
    share = cost.loss / limit_of(account.account).loss
    order = account.account.order if math.isfinite(account.account.order) else None
    return ChargeView(order, cost.cost.loss, cost.cost.failure, share)


def room_of(account: TierAccount, cost: Entry) -> RoomView:
    """Whether an account has room for a charge."""
    shortfall = check(account.account, account.spent, cost)
    limit = limit_of(account.account).loss
    return RoomView(
        fits=shortfall is None,
        needed_share=cost.loss / limit,
        remaining_share=left_of(account.account, account.spent).loss / limit,
        largest_share=largest_share(account) if shortfall is None else shortfall.largest_share,
    )


def refusal_of(
    session: Session,
    dataset: Dataset,
    levels: int,
    dimension: int,
    offer: Offer,
    *,
    everybody: bool,
) -> str | None:
    """In which words an offer would be refused for want of budget; ``None`` where it is not.

    ``levels`` and ``dimension`` are those that a charge is for.  ``everybody``: also for want
    of a deleted tier's, which pays for what those below it see.
    """
    key = required(dataset.id)
    due = [(account, cost) for account, _, cost in offer.charges]
    try:
        require_room(session, key, due)
        if everybody:
            require_room(session, key, list(_former(session, key, levels, dimension, offer)))
    except BudgetExhausted as problem:
        return problem.detail
    return None


def _former(
    session: Session, dataset_id: int, levels: int, dimension: int, offer: Offer
) -> Iterator[tuple[TierAccount, Entry]]:
    """The charges of tiers that were deleted."""
    own = {required(account.tier.id): rung for account, rung, _ in offer.charges}
    reached: list[int] = []
    for tier in ladder(session):
        rung = own.get(required(tier.id))
        if rung is not None:
            reached.append(rung)
        elif tier.deleted_at is not None and reached:
            account = open_account(session, dataset_id, tier)
            if account is not None:
                yield (
                    account,
                    offer.process.price(min(reached), account.account, dimension, levels),
                )
