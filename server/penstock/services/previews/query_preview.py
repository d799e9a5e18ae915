"""Preview a query and its cost, by the rules of registering it, without doing it.

It reads only specs and accounts: no file, no key, no release.  Analysts see tiers up to their own,
as if there were none above.  So the levels that they see for a ``share`` may be off by one rung
from those of a registration, whose ladder begins at the highest tier's level.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlmodel import Session

from penstock.accounting.charging.ledger import NOTHING, Entry
from penstock.connectors.planning.refusals import Refusals
from penstock.connectors.statements.statement import Statement
from penstock.errors import BudgetExhausted
from penstock.mechanisms.generalized_gaussian.mechanism import GeneralizedGaussian
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal
from penstock.services.computations import computations
from penstock.services.computations.results import (
    Described,
    DescribedQuote,
    DescribedTier,
    SeenTier,
)
from penstock.services.context import Server
from penstock.services.datasets.datasets import visible_below, visible_dataset
from penstock.services.ledger.accounts import TierAccount, open_account, require_room
from penstock.services.ledger.charges import Accounts, accounts_of
from penstock.services.ledger.effective_levels import charged_for, ladder
from penstock.services.ledger.quotes import Quote, require_tiers
from penstock.services.ledger.room_left import charge_of, room_of
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.kinds.kind import QueryKind
from penstock.services.previews.allowance_preview import allowance_room, own_left
from penstock.services.previews.alternatives import compared
from penstock.services.previews.strategies import strategies
from penstock.services.queries.exact_answers import (
    Plannable,
    planned_on,
    require_dimension,
    require_values,
)
from penstock.services.queries.pending import charged_dataset, pending, pending_or_free
from penstock.services.queries.prepared_request import PreparedRequest
from penstock.services.queries.refused_histograms import advise, advised, solved
from penstock.services.queries.sql.statements import resolved_statement
from penstock.services.queries.sql.written import sql_of, sql_of_request
from penstock.services.releases.visibility import levels_of, visible
from penstock.services.schemas.previews import PreviewTierView, PreviewView, RoomView
from penstock.services.schemas.queries import PreviewRequest, RegisteredQuery, SqlRequest


@dataclass(frozen=True)
class _Seen:
    """Hold one tier's part of a query: its rung, the rungs charged for, and the charge."""

    account: TierAccount
    rung: int
    rungs: Sequence[int]
    cost: Entry
    room: RoomView | None


@dataclass(frozen=True)
class _PreviewedQuery:
    """Hold a requested or registered query, before its levels are described.

    ``statement`` belongs to requested queries that the server computes, and ``sql`` to those that
    SQL can say.
    """

    of: Plannable | Query
    dataset: Dataset
    kind: QueryKind
    dimension: int
    seen: Sequence[_Seen]
    refusal: str | None
    statement: Statement | None = None
    sql: str | None = None

    @property
    def asks(self) -> bool:
        """Return True if the largest error of all values was requested."""
        of = self.of
        mechanism = json.loads(of.spec)["mechanism"] if isinstance(of, Query) else of.mechanism
        return bool(mechanism == GeneralizedGaussian.name)


def preview(
    server: Server, principal: Principal, request: PreviewRequest, patience: float = 0.0
) -> PreviewView:
    """Preview what registering ``request`` would do, or show what a registered query was charged.

    It waits ``patience`` seconds for a computation that the same user has just started.  Raises
    what registering would, except for lack of budget, which the answer states, and for the file,
    which is not read; ``NotFound`` for a query or dataset that the caller may not see.
    """
    principal.require("analyst", "admin")
    if isinstance(request, RegisteredQuery):
        return _registered(server, principal, patience, _visible(server, principal, request))
    if isinstance(request, SqlRequest):
        return _of_sql(server, principal, request, patience)
    with server.database.read() as session:
        limit = visible_below(session, principal)
        dataset = visible_dataset(session, principal, request.dataset)
        if limit is None:
            dataset = charged_dataset(session, request)
        accounts = accounts_of(session, dataset, limit)
    refusals = Refusals()
    with refusals:
        require_tiers(request, accounts, limit)
    with refusals:
        prepared = planned_on(server, dataset, request)
    refusals.raise_all()
    require_values(request, prepared)
    require_dimension(server, prepared)
    prepared_request = PreparedRequest(
        server, principal, patience, dataset, request, prepared, limit=limit
    )
    prepared_request = solved(prepared_request, accounts)
    request = prepared_request.request
    with advised(prepared_request):
        described = _quoted(prepared_request, accounts)
    quote = computations.among(described.quote, accounts)
    with server.database.read() as session:
        left = _left(session, prepared_request, accounts, quote)
        if left is None:
            terms = request.max_levels, prepared.dimension
            problem = refused(session, dataset, *terms, quote, limit)
        else:
            stored = _stored(session, left, limit)
    if left is not None:
        return _registered(server, principal, patience, stored)
    if problem is not None:
        advise(problem, prepared_request)
    previewed_query = _PreviewedQuery(
        request,
        dataset,
        quote.process,
        prepared.dimension,
        _seen(quote),
        _refusal_text(problem),
        prepared.statement,
        sql_of_request(dataset, request),
    )
    view = _view(previewed_query, described.described)
    own = None if limit is None else allowance_room(prepared_request, accounts)
    return replace(view, allowance=own)


def _left(
    session: Session, planned: PreparedRequest, accounts: Accounts, quote: Quote
) -> Query | None:
    """Return what an interrupted registration of a request left, or ``None``.

    Raises as registering the request would.
    """
    request, prepared = planned.request, planned.prepared
    if planned.limit is None:
        lowest = next(tier for tier, _ in accounts if tier.name in quote.rungs)
        return pending_or_free(session, planned.dataset, request, prepared, lowest)
    left = pending(session, planned.dataset, request, prepared, planned.limit)
    return left or own_left(session, planned)


def _visible(server: Server, principal: Principal, request: RegisteredQuery) -> _PreviewedQuery:
    with server.database.read() as session:
        return _stored(session, *visible(session, principal, request.query, stream=False))


def _of_sql(
    server: Server, principal: Principal, request: SqlRequest, patience: float
) -> PreviewView:
    statement = resolved_statement(server, principal, request)
    view = preview(server, principal, statement.request, patience)
    return replace(view, notes=statement.notes)


def _quoted(prepared_request: PreparedRequest, accounts: Accounts) -> DescribedQuote:
    return prepared_request.run(
        computations.quote,
        accounts,
        prepared_request.dataset.delta,
        prepared_request.limit,
        asks=prepared_request.request.mechanism == GeneralizedGaussian.name,
    )


def _seen(quote: Quote) -> list[_Seen]:
    return [
        _Seen(account, quote.rungs[account.tier.name], rungs, cost, room_of(account, cost))
        for account, rungs, cost in quote.by_tier()
    ]


def _refusal_text(problem: BudgetExhausted | None) -> str | None:
    return None if problem is None else problem.detail


def _stored(session: Session, query: Query, limit: Tier | None) -> _PreviewedQuery:
    kind = kind_of(query)
    dataset = session.get_one(Dataset, query.dataset_id)
    charged = charged_for(session, dataset, [query])
    seen = []
    for tier, rung in levels_of(session, query, limit):
        account = open_account(session, required(dataset.id), tier)
        if account is not None:
            paid = charged.get((required(tier.id), required(query.id)))
            rungs, cost = (sorted(paid.rungs), paid.sum) if paid else ([rung], NOTHING)
            seen.append(_Seen(account, rung, rungs, cost, None))
    sql = sql_of(session, dataset, query)
    return _PreviewedQuery(query, dataset, kind, query.dimension, seen, None, sql=sql)


def _registered(
    server: Server, principal: Principal, patience: float, stored: _PreviewedQuery
) -> PreviewView:
    described = server.computing.run(
        principal.name,
        patience,
        computations.describe,
        stored.kind,
        [SeenTier(tier.account.tier.name, tier.rung, tier.rungs) for tier in stored.seen],
        stored.dimension,
        stored.dataset.delta,
        asks=stored.asks,
    )
    return _view(stored, described)


def _view(previewed_query: _PreviewedQuery, described: Described) -> PreviewView:
    kind = previewed_query.kind
    rungs = [(tier.account.tier.name, tier.rung) for tier in previewed_query.seen]
    of = previewed_query.of
    return PreviewView(
        query=of.readable if isinstance(of, Query) else of.name,
        dataset=previewed_query.dataset.name,
        dataset_version=previewed_query.dataset.version,
        mechanism=kind.mechanism.name,
        p=kind.p,
        lossless=kind.lossless,
        registered=isinstance(of, Query),
        dimension=previewed_query.dimension,
        granularity=float(kind.mechanism.granularity),
        sensitivity=kind.sensitivity_view(),
        refusal=previewed_query.refusal,
        tiers=[_tier(*both) for both in zip(previewed_query.seen, described.tiers, strict=True)],
        powers=described.powers,
        structures=compared(previewed_query.dataset, previewed_query.statement, kind, rungs),
        strategies=strategies(previewed_query.dataset, previewed_query.statement, kind, rungs),
        spec_sql=previewed_query.sql,
    )


def _tier(seen: _Seen, described: DescribedTier) -> PreviewTierView:
    level = described.level
    return PreviewTierView(
        tier=level.tier,
        level=level.level,
        guarantee=level.guarantee,
        charge=charge_of(seen.account, seen.cost),
        error=level.error,
        room=seen.room,
        composed=described.composed,
        expected_maximum=described.expected_maximum,
        histogram=level.histogram,
        at_delta=described.at_delta,
        ranks=described.ranks,
        expected=described.expected,
    )


def refused(
    session: Session,
    dataset: Dataset,
    level_count: int,
    dimension: int,
    quote: Quote,
    limit: Tier | None,
) -> BudgetExhausted | None:
    """Return the error for a quote that lacks budget; ``None`` if it fits.

    ``level_count`` and ``dimension`` are those of the charge.  The error names no query that
    ``limit`` does not see.  Without a limit, deleted tiers are included, which are charged for what
    the tiers below them see.
    """
    key = required(dataset.id)
    due = [(account, cost) for account, _, cost in quote.by_tier()]
    try:
        require_room(session, key, due, limit)
        if limit is None:
            require_room(session, key, list(_former(session, key, level_count, dimension, quote)))
    except BudgetExhausted as problem:
        return problem
    return None


def _former(
    session: Session, dataset_id: int, level_count: int, dimension: int, quote: Quote
) -> Iterator[tuple[TierAccount, Entry]]:
    """Yield the charges of tiers that were deleted."""
    own = {required(account.tier.id): rungs for account, rungs, _ in quote.by_tier()}
    reached: list[int] = []
    for tier in ladder(session):
        reached = own.get(required(tier.id), reached)
        account = None
        if tier.deleted_at is not None and reached:
            account = open_account(session, dataset_id, tier)
        if account is not None:
            for rung in reached:
                yield account, quote.process.price(rung, account.account, dimension, level_count)
