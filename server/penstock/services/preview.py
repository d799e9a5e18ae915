"""What a query would be and cost, as registering it would settle it, and nothing is done.

Specs and accounts are all that is read: no file, no key, no release.  Analysts are told of
tiers up to their own alone, as if there were none above: neither what those have, nor what
they see.  So of a ``share`` their levels may lie a rung of the ladder off those that a
registration settles, whose ladder begins at the highest tier's level.
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlmodel import Session

from penstock.accounting import Entry, check, left_of, limit_of
from penstock.connectors.refusals import Refusals
from penstock.errors import BudgetExhausted
from penstock.mechanisms import GeneralizedGaussian
from penstock.persistence.tables import Dataset, Query, Tier
from penstock.services.accounts import (
    NOTHING,
    TierAccount,
    largest_share,
    open_account,
    require_room,
)
from penstock.services.catalogue import levels_of, visible
from penstock.services.charging import accounts_of
from penstock.services.count_structures import compared
from penstock.services.datasets import visible_below, visible_dataset
from penstock.services.effective import charged_for, ladder
from penstock.services.exact import Plannable, counted, planned
from penstock.services.independent import together
from penstock.services.lookup import required
from penstock.services.offers import Offer, require_tiers, settle
from penstock.services.power_advice import advice, expected_maximum
from penstock.services.preview_views import ChargeView, PreviewTierView, PreviewView, RoomView
from penstock.services.principals import Principal
from penstock.services.process import Process
from penstock.services.registration import charged_dataset, pending, require_dimension
from penstock.services.server import Server
from penstock.services.specs import PreviewRequest, PushedVectorRequest, RegisteredQuery


@dataclass(frozen=True)
class _Seen:
    """What one tier gets of a query: its rung, those that it is charged for, and what it pays."""

    account: TierAccount
    rung: int
    rungs: Sequence[int]
    cost: Entry
    room: RoomView | None


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
    told = Refusals()
    with told:
        require_tiers(request, accounts, limit)
    with told:
        prepared = planned(dataset, request)
    told.settle()
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
    seen = [
        _Seen(account, offer.rungs[account.tier.name], rungs, cost, room_of(account, cost))
        for account, rungs, cost in offer.by_tier()
    ]
    return _view(request, dataset, offer.process, prepared.dimension, seen, refusal)


def _registered(session: Session, query: Query, limit: Tier | None) -> PreviewView:
    process = Process.of(query)
    dataset = session.get_one(Dataset, query.dataset_id)
    charged = charged_for(session, dataset, [query])
    seen = []
    for tier, rung in levels_of(session, query, limit):
        account = open_account(session, required(dataset.id), tier)
        if account is not None:
            paid = charged.get((required(tier.id), required(query.id)))
            rungs, cost = (sorted(paid.rungs), paid.sum) if paid else ([rung], NOTHING)
            seen.append(_Seen(account, rung, rungs, cost, None))
    return _view(query, dataset, process, query.dimension, seen, None)


def _view(
    of: Plannable | Query,
    dataset: Dataset,
    process: Process,
    dimension: int,
    seen: Sequence[_Seen],
    refusal: str | None,
) -> PreviewView:
    asked = json.loads(of.spec)["mechanism"] if isinstance(of, Query) else of.mechanism
    asks = asked == GeneralizedGaussian.name
    rungs = [(one.account.tier.name, one.rung) for one in seen]
    return PreviewView(
        query=of.name,
        dataset=dataset.name,
        dataset_version=dataset.version,
        mechanism=process.mechanism.name,
        p=process.p,
        lossless=process.lossless,
        registered=isinstance(of, Query),
        dimension=dimension,
        granularity=float(process.mechanism.granularity),
        sensitivity=process.sensitivity_view(),
        refusal=refusal,
        tiers=[_tier(process, dataset, one, dimension if asks else None) for one in seen],
        powers=advice(process, rungs, dimension, dataset.delta) if asks and seen else None,
        structures=None if isinstance(of, Query) else compared(dataset, of, process, rungs),
    )


def _tier(
    process: Process, dataset: Dataset, seen: _Seen, dimension: int | None
) -> PreviewTierView:
    """``dimension`` is given where the largest error of all values is to be told."""
    level = process.at_tier(seen.account.tier.name, seen.rung, dataset.delta)
    return PreviewTierView(
        level.tier,
        level.level,
        level.guarantee,
        charge_of(seen.account, seen.cost),
        level.error,
        seen.room,
        together(process, seen.rungs, dataset.delta),
        None if dimension is None else expected_maximum(process, seen.rung, dimension),
        level.histogram,
    )


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
    due = [(account, cost) for account, _, cost in offer.by_tier()]
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
    own = {required(account.tier.id): rungs for account, rungs, _ in offer.by_tier()}
    reached: list[int] = []
    for tier in ladder(session):
        reached = own.get(required(tier.id), reached)
        account = None
        if tier.deleted_at is not None and reached:
            account = open_account(session, dataset_id, tier)
        if account is not None:
            for rung in reached:
                yield account, offer.process.price(rung, account.account, dimension, levels)
