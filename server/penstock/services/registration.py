"""Registering a query: settle, charge, commit; then read the data once, for the anchor.

Two transactions.  The first charges every tier and stores the query without a release;
only when it is durable are the data read, and the second stores the anchor.  A crash in
between leaves a *pending* query whose budget is spent and of which nothing was drawn:
registering the same spec again finishes it.
"""

import json
from collections.abc import Sequence
from fractions import Fraction

from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col, select

from penstock.accounting import CALIBRATION_VERSION
from penstock.connectors import PreparedQuery
from penstock.connectors.fields import folded
from penstock.errors import Conflict, InvalidInput, NameTaken, SourceChanged, Unavailable
from penstock.persistence import duplicate, lock_dataset, lock_query
from penstock.persistence.tables import Dataset, Query, Tier
from penstock.services.accounts import TierAccount, append_charges, open_account, require_room
from penstock.services.acts import record
from penstock.services.allowances import allow
from penstock.services.effective import recharge
from penstock.services.exact import Answer, Plannable, Request, fingerprint, on_lattice
from penstock.services.exact import prepared as prepared_for
from penstock.services.independent import drawn_at, first_rungs
from penstock.services.lookup import dataset_by_name, in_sight, required
from penstock.services.offers import Offer, settle
from penstock.services.principals import Principal
from penstock.services.process import Process
from penstock.services.releases import store
from penstock.services.server import Server
from penstock.services.specs import PushedVectorRequest
from penstock.services.state import fresh_query_key, seal_fingerprint
from penstock.services.tiers import ordered
from penstock.structures.counts import Lift

Accounts = Sequence[tuple[Tier, TierAccount | None]]


def register(server: Server, principal: Principal, request: Request) -> str:
    """Register a query, charge every tier, and draw its anchor; the query's name.

    Raises ``InvalidInput``, ``NotFound`` for the dataset, ``NameTaken``, ``Conflict`` for
    a statistic that is registered under another name, ``BudgetExhausted``, and
    ``SourceChanged``; whatever it raises before the charge changes nothing.
    """
    principal.require("admin")
    with server.database.read() as session:
        dataset = charged_dataset(session, request)
        accounts = accounts_of(session, dataset)
    prepared, answer = prepared_for(server, dataset, request)
    require_dimension(server, prepared)
    offer = settle(request, prepared, accounts, dataset.delta)
    with server.database.write(alone=False) as session:
        # Whoever charges the same accounts waits here, and reads them anew.
        lock_dataset(session, required(dataset.id))
        query = pending(session, dataset, request, prepared)
        if query is None:
            fresh = accounts_of(session, dataset)
            require_same_accounts(accounts, fresh)
            query = _charged(session, server, principal, dataset, request, prepared, offer, fresh)
        rungs = first_rungs(session, query)
    try:
        _anchor(server, dataset, query, rungs, prepared.step, answer)
    except (SourceChanged, Unavailable) as problem:
        problem.detail += (
            f" Query {query.name!r} is charged and waits for its data: register the same spec"
            " again to finish it."
        )
        raise
    return query.name


def charged_dataset(session: Session, request: Plannable) -> Dataset:
    """The newest version, or the one that an interrupted registration has charged."""
    newest = dataset_by_name(session, request.dataset)
    left = session.exec(
        select(Dataset)
        .join(Query, col(Query.dataset_id) == col(Dataset.id))
        .where(
            col(Query.folded) == folded(request.name),
            col(Query.status) == "pending",
            col(Dataset.folded) == newest.folded,
        )
    ).first()
    return newest if left is None else left


def accounts_of(session: Session, dataset: Dataset, limit: Tier | None = None) -> Accounts:
    """Every tier, least trusted first, and its account; none for tiers above ``limit``."""
    key = required(dataset.id)
    return [
        (
            tier,
            open_account(session, key, tier) if limit is None or tier.rank <= limit.rank else None,
        )
        for tier in ordered(session)
    ]


def require_dimension(server: Server, prepared: PreparedQuery) -> None:
    """Raise ``InvalidInput`` for more values than the settings allow."""
    if prepared.dimension > server.settings.dimension_limit:
        raise InvalidInput(
            f"The query has {prepared.dimension} values; this server allows"
            f" {server.settings.dimension_limit}. Use fewer or coarser groups."
        )


def _spec(request: Plannable, prepared: PreparedQuery) -> str:
    """The spec as it is stored: values and keys are not part of it.

    A mean's bounds and a trade-off are, as they were settled: releases are read with them.
    """
    stored = request.model_dump(mode="json", exclude={"keys", "values"}, exclude_none=True)
    if prepared.mean_bounds is not None:
        lower, upper = map(float, prepared.mean_bounds)
        stored["aggregate"].update(lower=lower, upper=upper)
    if isinstance(prepared.nodes, Lift):
        stored["trade_off"] = float(prepared.nodes.trade_off)
    return json.dumps(stored, sort_keys=True)


def _keys(prepared: PreparedQuery) -> str | None:
    """The keys as they are stored."""
    return None if prepared.keys is None else json.dumps(list(prepared.keys))


def pending(
    session: Session,
    dataset: Dataset,
    request: Plannable,
    prepared: PreparedQuery,
    limit: Tier | None = None,
) -> Query | None:
    """The query that an interrupted registration of the same spec left, if there is one.

    What is out of sight for ``limit`` counts as not there.  Raises ``NameTaken`` and
    ``Conflict`` as registering does.
    """
    known = select(Query) if limit is None else select(Query).where(in_sight(limit))
    taken = session.exec(known.where(col(Query.folded) == folded(request.name))).first()
    if taken is not None:
        same = taken.dataset_id == dataset.id and taken.spec == _spec(request, prepared)
        size = taken.dimension == prepared.dimension
        if taken.status == "pending" and same and size and taken.keys == _keys(prepared):
            return taken
        raise NameTaken(f"There is a query {taken.name!r} already; choose another name.")
    if prepared.canonical_hash is not None:
        twin = session.exec(
            known.where(col(Query.canonical_hash) == prepared.canonical_hash)
        ).first()
        if twin is not None:
            raise Conflict(
                f"This statistic is registered already, as query {twin.name!r};"
                " use that one: drawing it twice would cost its budget twice.",
                query=twin.name,
            )
    return None


def require_same_accounts(settled: Accounts, fresh: Accounts) -> None:
    """Refuse an offer that was settled for other tiers or budgets than there are now."""

    def terms(accounts: Accounts) -> list[tuple[int | None, object]]:
        return [(tier.id, account and account.account) for tier, account in accounts]

    if terms(settled) != terms(fresh):
        raise Conflict("The tiers or their budgets changed meanwhile; ask again.")


def _charged(
    session: Session,
    server: Server,
    principal: Principal,
    dataset: Dataset,
    request: Request,
    prepared: PreparedQuery,
    offer: Offer,
    accounts: Accounts,
) -> Query:
    """Store the query and charge every tier that sees it; nothing is drawn yet.

    ``accounts`` are read anew: others may have spent since the offer was settled.
    """
    key = required(dataset.id)
    current = {tier.id: account for tier, account in accounts if account is not None}
    due = [(current[settled.tier.id], rung, new) for settled, rung, new in offer.charges]
    require_room(session, key, [(account, new) for account, _, new in due])
    now = server.clock()
    query = _row(server, principal, dataset, request, prepared, offer)
    session.add(query)
    try:
        session.flush()
    except IntegrityError as problem:
        # Registered under another dataset, which is not locked, since it was looked for.
        if not duplicate(problem):
            raise
        raise NameTaken(
            f"There is a query {request.name!r} already; choose another name."
        ) from problem
    record(session, principal, "query", now, dataset=dataset, query=query)
    append_charges(
        session,
        [(account, required(query.id), rung, new) for account, rung, new in due],
        dataset_id=key,
        at=now,
    )
    session.flush()
    rungs = {required(account.tier.id): offer.rungs[account.tier.name] for account, _, _ in due}
    # Tiers that were deleted pay as well for what those below them see.
    recharge(session, dataset, [query], now, allowed={required(query.id): rungs})
    allow(session, principal, dataset, query, rungs, now)
    return query


def _row(
    server: Server,
    principal: Principal,
    dataset: Dataset,
    request: Request,
    prepared: PreparedQuery,
    offer: Offer,
) -> Query:
    process = offer.process
    pushed = isinstance(request, PushedVectorRequest)
    return Query(
        name=request.name,
        folded=folded(request.name),
        dataset_id=required(dataset.id),
        canonical_hash=prepared.canonical_hash,
        spec=_spec(request, prepared),
        sql=prepared.sql,
        sql_hash=prepared.sql_hash,
        mechanism=process.mechanism.name,
        power=None if process.power is None else str(process.power),
        calibration=CALIBRATION_VERSION,
        granularity=str(process.mechanism.granularity),
        dimension=prepared.dimension,
        keys=_keys(prepared),
        sensitivity_l1=str(process.sensitivity.l1),
        sensitivity_l2_squared=str(process.sensitivity.l2_squared),
        sensitivity_linf=str(process.sensitivity.linf),
        ladder_finest=str(process.ladder.finest),
        ladder_unit=str(process.ladder.unit),
        ladder_doubling=process.ladder.doubling,
        ladder_last=process.ladder.last,
        ceiling=offer.ceiling,
        max_levels=request.max_levels,
        status="pending",
        seq=-1,
        wrapped_dek=fresh_query_key(server, dataset, folded(request.name)),
        asserted_by=principal.name if pushed else None,
        created_at=server.clock(),
        by=principal.name,
    )


def _anchor(
    server: Server,
    dataset: Dataset,
    charged: Query,
    rungs: Sequence[int],
    step: Fraction,
    answer: Answer,
) -> None:
    """Read the data, draw the anchor, forget the data, and store the anchor.

    Where levels are independent, so is all that is drawn at ``rungs``: all or none is kept.
    """
    process = Process.of(charged)
    exact = on_lattice(process, step, answer)
    digest = fingerprint(server, charged, exact)
    drawn = drawn_at(server, process, rungs, exact)
    del exact
    with server.database.write(alone=False) as session:
        query = lock_query(session, required(charged.id))
        if query is None or query.status != "pending" or query.seq != -1:
            raise Conflict(f"Query {charged.name!r} was registered by another request just now.")
        for rung, steps in drawn:
            store(session, server, dataset, query, rung, steps, None, None)
        query.sealed_fingerprint = seal_fingerprint(server, dataset, query, digest)
        query.status = "active"
        session.add(query)
