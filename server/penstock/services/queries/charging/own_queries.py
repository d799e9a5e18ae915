"""Charge a query that an analyst registers by themselves, under an allowance of their tier.

It is charged in the transaction of any registration, under the same lock on its dataset: to the
account of every tier that sees it, and to the allowance.  There the caller's clearance and the
allowance are read again, so of two analysts who want the last of it, one is refused.  Its level is
at the analyst's own tier, and those above have the same.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlmodel import Session, col, func, select

from penstock.errors import BudgetExhausted, Forbidden, QuotaUsedUp
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal, require_still
from penstock.services.allowances.logged_allowances import spent_under
from penstock.services.allowances.open_allowances import (
    OpenAllowance,
    require_own,
    require_room,
    require_same,
    take,
)
from penstock.services.allowances.own_levels import (
    require_histogram_at,
    require_own_level,
    without_tiers_above,
)
from penstock.services.allowances.own_names import hash_at, with_tier
from penstock.services.computations import computations
from penstock.services.context import Server
from penstock.services.datasets.datasets import visible_dataset
from penstock.services.datasets.declarations import require_as_declared
from penstock.services.datasets.seen_accounts import SeenDataset
from penstock.services.ledger import accounts as ledger
from penstock.services.ledger.charges import accounts_of, charge_all, require_same_accounts
from penstock.services.ledger.quotes import Quote
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.queries.charging.rows import room, row
from penstock.services.queries.exact_answers import Request
from penstock.services.queries.pending import locked, own_pending
from penstock.services.queries.prepared_request import PreparedRequest
from penstock.services.queries.queries import view
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.levels import given_rungs
from penstock.services.schemas.queries import ComputedQueryRequest
from penstock.services.schemas.views import QueryView
from penstock.services.wordings.wordings import settle

DAY = timedelta(days=1)


def permitted(
    server: Server, principal: Principal, request: Request
) -> tuple[ComputedQueryRequest, OpenAllowance]:
    """Return an analyst's request as it is registered, and the allowance that it is under.

    Its name has the tier behind it.  Raises ``Forbidden`` without an allowance and for pushed
    vectors, ``NotFound`` for a dataset that the analyst does not see, and ``InvalidInput`` for
    levels at other tiers.
    """
    principal.require("analyst", "admin")
    with server.database.read() as session:
        visible_dataset(session, principal, request.dataset)
        allowance = require_own(session, principal, dataset_by_name(session, request.dataset))
    if not isinstance(request, ComputedQueryRequest):
        raise Forbidden(
            "A pushed vector's sensitivity is asserted by whoever pushes it, so vectors take the"
            " role admin. Under an allowance, register a query that the server computes."
        )
    require_own_level(request, allowance.tier)
    require_histogram_at(request, allowance.tier)
    return with_tier(request, allowance.tier), allowance


def charged_under(
    planned: PreparedRequest, seen: SeenDataset, settled: OpenAllowance
) -> tuple[Query, Sequence[int]]:
    """Charge a query under an allowance without reading data; return it, and the rungs to draw.

    Raises ``BudgetExhausted`` for the allowance and for budgets, ``QuotaUsedUp``, and what
    ``permitted`` raises if the caller lost the allowance or its tier in the meantime.
    """
    server, principal, dataset = planned.server, planned.principal, planned.dataset
    request, accounts, tier = planned.request, seen.accounts, settled.tier
    own = planned.run(computations.quote_own, accounts, dataset.delta, tier, settled.account)
    quote = computations.among(own.quote, accounts)
    statistic = planned.prepared
    hashed = hash_at(statistic.canonical_hash or "", tier)
    prepared = replace(statistic, canonical_hash=hashed)
    with server.database.write_beside(grows=room(server, request, prepared)) as session:
        now = locked(session, seen, request, prepared)
        require_still(session, principal, "analyst")
        query = own_pending(session, dataset, request, statistic, tier, principal.name)
        if query is not None:
            given = {query.ceiling, *given_rungs(session, query)}
            settle(session, server, principal, query, request, fresh=False)
            return query, kind_of(query).levels.telling(given)
        require_as_declared(now.declared, dataset)
        allowance = require_same(session, principal, dataset, settled)
        fresh = accounts if now.same else accounts_of(session, dataset)
        require_same_accounts(accounts, fresh)
        at = server.clock()
        _require_day(session, server, principal, at)
        require_room(session, allowance, own.counted)
        _require_budgets(session, dataset, quote, fresh, tier)
        query = row(
            server, principal, dataset, request, prepared, quote, required(allowance.row.id)
        )
        also = spent_under(tier, principal.name, own.counted)
        try:
            charge_all(session, principal, dataset, query, quote, fresh, also)
        except BudgetExhausted as problem:
            raise without_tiers_above(problem, tier, request) from None
        settle(session, server, principal, query, request, fresh=True)
        take(session, allowance, query, quote.rungs[tier.name], own.counted, query.created_at)
        return query, kind_of(query).levels.telling({query.ceiling})


def shown_to(server: Server, query: Query, tier: Tier) -> QueryView:
    """Return a query as its maker sees it."""
    with server.database.read() as session:
        return view(session, session.get_one(Query, query.id), tier)


def _require_budgets(
    session: Session,
    dataset: Dataset,
    quote: Quote,
    accounts: Sequence[tuple[Tier, ledger.TierAccount | None]],
    tier: Tier,
) -> None:
    """Raise ``BudgetExhausted`` with the numbers of the analyst's own tier, and of no other."""
    current = {other.id: account for other, account in accounts}
    for account, _, cost in quote.by_tier():
        fresh = current[account.tier.id]
        if account.tier.id == tier.id and fresh is not None:
            ledger.require_room(session, required(dataset.id), [(fresh, cost)], tier)


def _require_day(session: Session, server: Server, principal: Principal, at: datetime) -> None:
    """Raise ``QuotaUsedUp`` if the analyst registered as many queries as a day allows."""
    most = server.settings.registrations_per_day
    if not most:
        return
    own = select(func.count(col(Query.id))).where(
        col(Query.by) == principal.name,
        col(Query.allowance_id).is_not(None),
        col(Query.created_at) > at - DAY,
    )
    if session.exec(own).one() >= most:
        raise QuotaUsedUp(
            f"{principal.name} registered {most} queries in the last 24 hours, the most that this"
            " server allows (PENSTOCK_REGISTRATIONS_PER_DAY). Try again later."
        )
