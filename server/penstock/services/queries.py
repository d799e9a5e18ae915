"""Registered queries, as their callers may see them."""

import json

from sqlmodel import Session, col, select

from penstock.connectors.fields import folded
from penstock.errors import NotFound
from penstock.persistence.tables import Dataset, Query, Tier
from penstock.services import levels, registration
from penstock.services.acts import record
from penstock.services.datasets import visible_below, visible_dataset
from penstock.services.lookup import allowed_rung, in_sight, query_by_name, required
from penstock.services.paging import Window
from penstock.services.principals import Principal
from penstock.services.process import Process
from penstock.services.server import Server
from penstock.services.specs import ComputedQueryRequest, LevelsChange, PushedVectorRequest
from penstock.services.tiers import ordered
from penstock.services.versions import versions_of
from penstock.services.views import Page, QueryView


def register(
    server: Server, principal: Principal, request: ComputedQueryRequest | PushedVectorRequest
) -> QueryView:
    """Register a query and show it.  Raises as ``registration.register`` does."""
    return show(server, principal, registration.register(server, principal, request))


def change(server: Server, principal: Principal, name: str, wanted: LevelsChange) -> QueryView:
    """Move levels of a query and show it.  Raises as ``levels.change`` does."""
    return show(server, principal, levels.change(server, principal, name, wanted))


def retire(server: Server, principal: Principal, name: str) -> QueryView:
    """Stop further releases of a query.

    What was handed out stays readable, and nothing that it cost comes back.  Retiring
    again changes nothing.  Raises ``NotFound``.
    """
    principal.require("admin")
    with server.database.write() as session:
        query = query_by_name(session, name)
        if query.status != "retired":
            query.status = "retired"
            session.add(query)
            session.flush()
            dataset = session.get_one(Dataset, query.dataset_id)
            record(
                session,
                principal,
                "query",
                server.clock(),
                dataset=dataset,
                query=query,
                retired=True,
            )
        return view(session, query, None)


def listing(
    server: Server, principal: Principal, window: Window, dataset: str | None = None
) -> Page[QueryView]:
    """The queries that the caller may see, in the order in which they were registered."""
    with server.database.read() as session:
        limit = visible_below(session, principal)
        statement = (
            select(Query)
            .where(col(Query.id) > window.after, col(Query.structure).is_(None))
            .order_by(col(Query.id))
        )
        if limit is not None:
            statement = statement.where(in_sight(limit))
        elif not principal.roles & {"admin", "auditor"}:
            return Page([], None)
        if dataset is not None:
            found = versions_of(session, visible_dataset(session, principal, dataset))
            keys = [required(version.id) for version in found]
            statement = statement.where(col(Query.dataset_id).in_(keys))
        rows = session.exec(statement.limit(window.limit + 1)).all()
        return window.page(
            rows, lambda query: view(session, query, limit), lambda query: required(query.id)
        )


def show(server: Server, principal: Principal, name: str) -> QueryView:
    """One query.  Raises ``NotFound``, also where the caller may not see it."""
    with server.database.read() as session:
        return view(session, *visible_query(session, principal, name))


def visible_query(session: Session, principal: Principal, name: str) -> tuple[Query, Tier | None]:
    """A query, and the tier up to which the caller sees (``None``: all).

    Raises ``NotFound``, with one text for missing and for out of sight.
    """
    limit = visible_below(session, principal)
    statement = select(Query).where(col(Query.folded) == folded(name))
    if limit is not None:
        statement = statement.where(in_sight(limit))
    query = session.exec(statement).first()
    if (
        query is None
        or query.structure is not None
        or (limit is None and not principal.roles & {"admin", "auditor"})
    ):
        raise NotFound(f"There is no query {name!r}.")
    return query, limit


def levels_of(session: Session, query: Query, limit: Tier | None) -> list[tuple[Tier, int]]:
    """The tiers up to ``limit`` that see a query, and the rung that each is allowed now."""
    tiers = [tier for tier in ordered(session) if limit is None or tier.rank <= limit.rank]
    found = [(tier, allowed_rung(session, query, tier)) for tier in tiers]
    return [(tier, rung) for tier, rung in found if rung is not None]


def view(session: Session, query: Query, limit: Tier | None) -> QueryView:
    """A query as somebody sees it who may see tiers up to ``limit`` (``None``: all)."""
    process = Process.of(query)
    dataset = session.get_one(Dataset, query.dataset_id)
    spec = json.loads(query.spec)
    if limit is not None:
        # They speak of tiers above the caller's own.
        spec = {name: part for name, part in spec.items() if name not in ("levels", "share")}
    tiers = [
        process.at_tier(tier.name, rung, dataset.delta)
        for tier, rung in levels_of(session, query, limit)
    ]
    return QueryView(
        name=query.name,
        dataset=dataset.name,
        dataset_version=dataset.version,
        mechanism=query.mechanism,
        status=query.status,
        dimension=query.dimension,
        granularity=float(process.mechanism.granularity),
        sensitivity=process.sensitivity_view(),
        asserted_by=query.asserted_by,
        spec=spec,
        sql=query.sql,
        sql_sha256=query.sql_hash,
        tiers=tiers,
        registered_at=query.created_at,
    )
