"""Register a query: plan, charge, commit; then read the data once, for the anchor.

Two transactions.  The first charges every tier and stores the query without a release; only when it
is durable are the data read, and the second stores the anchor.  A crash in between leaves a
*pending* query whose budget is spent and for which nothing was drawn: registering the same spec
again finishes it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from sqlmodel import Session

from penstock.connectors.planning.refusals import Refusals
from penstock.connectors.progress import Progress, silent
from penstock.errors import Conflict, SourceChanged, Unavailable
from penstock.persistence.protocol import Need
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal, require_still
from penstock.services.allowances import own_levels
from penstock.services.allowances.open_allowances import OpenAllowance
from penstock.services.computations import computations
from penstock.services.computing import PATIENCE
from penstock.services.context import Server
from penstock.services.datasets.declarations import require_as_declared
from penstock.services.datasets.seen_accounts import SeenDataset
from penstock.services.ledger.allowed_levels import risen
from penstock.services.ledger.charges import (
    Accounts,
    accounts_of,
    charge_all,
    require_same_accounts,
)
from penstock.services.ledger.quotes import Quote, require_tiers
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.long_vectors.long_vector import keep_all
from penstock.services.queries.anchors import store_anchor
from penstock.services.queries.charging.own_queries import charged_under, permitted, shown_to
from penstock.services.queries.charging.rows import room, row
from penstock.services.queries.exact_answers import (
    Answer,
    Request,
    prepared_for,
    require_dimension,
)
from penstock.services.queries.pending import locked, pending_or_free, seen_dataset
from penstock.services.queries.prepared_request import PreparedRequest
from penstock.services.queries.queries import TierRungs, shown, stored_tiers
from penstock.services.queries.refused_histograms import advised, solved
from penstock.services.queries.sql.written import sql_of_stored
from penstock.services.repository.levels import given_rungs
from penstock.services.schemas.views import QueryView
from penstock.services.schemas.wordings.wordings import StatisticWordingView
from penstock.services.wordings.stored import shown_to_all
from penstock.services.wordings.wordings import settle

Also = Callable[[Session, Query], None]
"""Stores what belongs to a charge, in its transaction, which what it raises undoes."""


def alone(_session: Session, _query: Query) -> None:
    """Store nothing beside the charge."""


def register(
    server: Server,
    principal: Principal,
    request: Request,
    progress: Progress = silent,
    version: int | None = None,
    also: Also = alone,
) -> QueryView:
    """Register a query, charge every tier, draw its anchor, and show the query.

    ``also`` is called with the query's row in the transaction of an admin's charge, also if an
    earlier attempt charged it.  Analysts need an allowance for their tier, which is charged as well
    (``charging.own_queries``).  Raises ``InvalidInput``, ``NotFound`` for the dataset,
    ``NameTaken``, ``Conflict`` for a statistic that is registered under another name and if the
    dataset's newest version is another than ``version``, ``BudgetExhausted``, ``Forbidden`` and
    ``SourceChanged``; an error before the charge changes nothing.
    """
    allowance: OpenAllowance | None = None
    if "admin" not in principal.roles:
        request, allowance = permitted(server, principal, request)
    seen = seen_dataset(server.database, request)
    dataset, accounts = seen.dataset, seen.accounts
    if version is not None and dataset.version != version:
        raise Conflict(
            f"Version {dataset.version} of dataset {dataset.name!r} was registered since version"
            f" {version}, for which query {request.name!r} is: it would be charged to that one."
            " The query was not registered."
        )
    refusals = Refusals()
    with refusals:
        require_tiers(request, accounts)
    with refusals:
        prepared, reader = prepared_for(server, dataset, request, progress)
    refusals.raise_all()
    require_dimension(server, prepared)
    progress("computing levels and charges")
    planned = PreparedRequest(server, principal, PATIENCE, dataset, request, prepared)
    if allowance is None:
        planned = solved(planned, accounts)
        with advised(planned):
            charged, rungs, tiers, texts = _charged(planned, seen, also)
    else:
        planned = solved(planned, own_levels.alone(accounts, allowance.tier))
        charged, rungs = charged_under(planned, seen, allowance)
        tiers, texts = (), StatisticWordingView()
    try:
        # An interrupted registration may have recorded another version's text, which is run.
        query = _anchor(server, dataset, charged, rungs, prepared.step, reader(charged), progress)
    except (SourceChanged, Unavailable) as problem:
        problem.detail += (
            f" Query {charged.readable!r} is charged and waits for its data: register the same spec"
            " again to finish it."
        )
        raise
    if allowance is not None:
        return shown_to(server, query, allowance.tier)
    return shown(query, dataset, tiers, None, sql_of_stored(dataset, query), texts)


def _charged(
    planned: PreparedRequest, seen: SeenDataset, also: Also
) -> tuple[Query, Sequence[int], Sequence[TierRungs], StatisticWordingView]:
    """Charge all tiers without reading data.

    Return the query, the rungs to draw, its tiers, and its texts for readers.
    """
    server, principal, dataset = planned.server, planned.principal, planned.dataset
    request, prepared, accounts = planned.request, planned.prepared, seen.accounts
    quoted = planned.run(computations.calibrate_and_price, accounts, dataset.delta)
    quote = computations.among(quoted, accounts)
    size = room(server, request, prepared)
    with server.database.write_beside(grows=size) as session:
        # Others that charge the same accounts wait here, and read them again.
        now = locked(session, seen, request, prepared)
        require_still(session, principal, "admin")
        query = None
        if now.may_be_left:
            lowest = next(tier for tier, _ in accounts if tier.name in quote.rungs)
            query = pending_or_free(session, dataset, request, prepared, lowest)
        fresh_row = query is None
        if query is None:
            require_as_declared(now.declared, dataset)
            fresh = accounts if now.same else accounts_of(session, dataset)
            require_same_accounts(accounts, fresh)
            query = row(server, principal, dataset, request, prepared, quote)
            charge_all(session, principal, dataset, query, quote, fresh)
            tiers = _quoted(quote, fresh)
            given = {query.ceiling, *quote.rungs.values()}
        else:
            tiers = [
                replace(tier, charged=[*tier.charged]) for tier in stored_tiers(session, query)
            ]
            given = {query.ceiling, *given_rungs(session, query)}
        also(session, query)
        own = settle(session, server, principal, query, request, fresh=fresh_row)
        texts = shown_to_all(session, dataset, own)
        return query, kind_of(query).levels.telling(given), tiers, texts


def _quoted(quote: Quote, accounts: Accounts) -> Sequence[TierRungs]:
    """Return what ``stored_tiers`` reads of a query that was just charged as in ``quote``."""
    charged = {account.tier.id: rungs for account, rungs, _ in quote.by_tier()}
    tiers = [tier for tier, _ in accounts]
    own = {required(tier.id): quote.rungs[tier.name] for tier in tiers if tier.id in charged}
    rungs = risen(tiers, own)
    return [
        TierRungs(tier.name, rungs[required(tier.id)], charged.get(tier.id, ()))
        for tier in tiers
        if tier.id in rungs
    ]


def _anchor(
    server: Server,
    dataset: Dataset,
    charged: Query,
    rungs: Sequence[int],
    step: Fraction,
    answer: Answer,
    progress: Progress,
) -> Query:
    """Read the data, draw the anchor, forget the data, store the anchor; return the query's row.

    If levels are independent, this holds for all draws at ``rungs``: all or none are stored.
    """
    kind = kind_of(charged)
    steps, state = answer()
    exact = kind.exact(step, steps)
    del steps
    progress("drawing noise and sealing")
    with server.drawing():
        drawn = kind.first_draw(server, dataset, charged, rungs, exact)
    del exact
    with server.database.write_beside(need=Need.LITTLE) as session:
        query = store_anchor(session, server, dataset, charged, drawn.vectors, drawn.keep, state)
    keep_all(drawn.vectors)
    return query
