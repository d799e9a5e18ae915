"""Select the queries and streams that a caller may see, and retire them."""

import json
from collections.abc import Callable
from typing import Any, TypeVar

from sqlmodel import Session, col, select

from penstock.errors import NotFound
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal
from penstock.services.access.two_person_rule import require_second
from penstock.services.allowances.own_names import answering, no_query
from penstock.services.context import Server
from penstock.services.datasets.datasets import visible_below, visible_dataset
from penstock.services.ledger.version_chains import versions_of
from penstock.services.pagination import Page, Window
from penstock.services.releases.logged_queries import record_retirement
from penstock.services.repository.levels import allowed_rungs
from penstock.services.repository.people import ordered_tiers
from penstock.services.repository.queries import in_sight, is_stream
from penstock.services.schemas.wordings.wordings import StatisticWordingView
from penstock.services.wordings.stored import shown_of

View = TypeVar("View")


def page_of(
    server: Server,
    principal: Principal,
    window: Window,
    dataset: str | None,
    view: Callable[[Session, Query, Tier | None, StatisticWordingView], View],
    *,
    streams: bool,
    chosen: Callable[[Session, Query, Tier | None, StatisticWordingView], bool] | None = None,
) -> Page[View]:
    """Return a page of the queries or streams that the caller may see, in order of registration.

    ``chosen`` says which of them are listed; without it all are.
    """
    with server.database.read() as session:
        limit = visible_below(session, principal)
        kind = col(Query.structure).is_not(None) if streams else col(Query.structure).is_(None)
        statement = select(Query).where(col(Query.id) > window.after, kind).order_by(col(Query.id))
        if limit is not None:
            statement = statement.where(in_sight(limit))
        elif not principal.roles & {"admin", "auditor"}:
            return Page([], None)
        if dataset is not None:
            versions = versions_of(session, visible_dataset(session, principal, dataset))
            keys = [required(version.id) for version in versions]
            statement = statement.where(col(Query.dataset_id).in_(keys))
        rows = session.exec(statement if chosen else statement.limit(window.limit + 1)).all()
        texts = shown_of(session, rows, limit)
        if chosen is not None:
            rows = [row for row in rows if chosen(session, row, limit, texts[required(row.id)])]

        def shown(query: Query) -> View:
            return view(session, query, limit, texts[required(query.id)])

        return window.page(rows, shown, lambda query: required(query.id))


def visible(
    session: Session, principal: Principal, name: str, *, stream: bool
) -> tuple[Query, Tier | None]:
    """Return a query or stream, and the tier up to which the caller sees (``None``: all).

    Raises ``NotFound``, with one text for missing and for hidden ones.
    """
    limit = visible_below(session, principal)
    query = answering(session, name, limit)
    is_blind = limit is None and not principal.roles & {"admin", "auditor"}
    if query is None or is_stream(query) != stream or is_blind:
        if stream or is_blind:
            raise NotFound(f"There is no {'stream' if stream else 'query'} {name!r}.")
        raise no_query(session, name, limit)
    return query, limit


def levels_of(session: Session, query: Query, limit: Tier | None) -> list[tuple[Tier, int]]:
    """Return the tiers up to ``limit`` that see a query, and the rung that each is allowed now."""
    tiers = [tier for tier in ordered_tiers(session) if limit is None or tier.rank <= limit.rank]
    rungs = allowed_rungs(session, query, tiers)
    return [(tier, rung) for tier, rung in rungs if rung is not None]


def spec_of(query: Query, limit: Tier | None) -> dict[str, Any]:
    """Return the spec of a query, without its fields about tiers above ``limit``."""
    return seen_part(query.spec, limit)


def seen_part(stored: str, limit: Tier | None) -> dict[str, Any]:
    """Return of a stored spec what ``spec_of`` returns of its query."""
    spec: dict[str, Any] = json.loads(stored)
    if limit is None:
        return spec
    return {
        name: part for name, part in spec.items() if name not in ("levels", "share", "false_keys")
    }


def end_alone(session: Session, server: Server, principal: Principal, query: Query) -> None:
    """Stop all new releases, as one person.  Raises ``ApprovalNeeded``."""
    if query.status != "retired":
        require_second(server)
    end(session, server, principal, query)


def end(session: Session, server: Server, principal: Principal, query: Query) -> None:
    """Stop all new releases.  A repeat changes nothing."""
    if query.status == "retired":
        return
    query.status = "retired"
    session.add(query)
    session.flush()
    dataset = session.get_one(Dataset, query.dataset_id)
    now = server.clock()
    record_retirement(session, principal, dataset, query, now)
