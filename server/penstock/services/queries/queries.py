"""Change and show queries, as their callers may see them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlmodel import Session

from penstock.persistence.protocol import Need
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.sentences import definitions
from penstock.services.access.principals import Principal
from penstock.services.allowances.floors import floor_of
from penstock.services.allowances.own_names import query_named, shown_name
from penstock.services.context import Server
from penstock.services.datasets.population import unit_of
from penstock.services.ledger.effective_levels import effective_rungs
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.pagination import Page, Window
from penstock.services.queries import level_changes
from penstock.services.queries.exact_answers import states_of
from penstock.services.queries.sql.written import sql_of
from penstock.services.releases.visibility import end_alone, levels_of, page_of, spec_of, visible
from penstock.services.schemas.queries import LevelsChange
from penstock.services.schemas.views import OwnQueryView, QueryView
from penstock.services.schemas.wordings.wordings import StatisticWordingView
from penstock.services.wordings.stored import shown_of_query


@dataclass(frozen=True)
class TierRungs:
    """Hold the rung that a tier is allowed of a query, and those that it is charged for."""

    tier: str
    allowed: int
    charged: Iterable[int]


def change(server: Server, principal: Principal, name: str, request: LevelsChange) -> QueryView:
    """Move levels of a query and show it.  Raises as ``level_changes.change`` does."""
    changed = level_changes.change(server, principal, name, request)
    with server.database.read() as session:
        return view(session, session.get_one(Query, changed.id), None)


def retire(server: Server, principal: Principal, name: str) -> QueryView:
    """Stop further releases of a query.

    Releases that were handed out stay readable, and its charges are not returned.  Retiring
    again changes nothing.  Raises ``NotFound`` and ``ApprovalNeeded``.
    """
    principal.require("admin")
    with server.database.write(need=Need.RELIEF) as session:
        query = query_named(session, name)
        end_alone(session, server, principal, query)
        return view(session, query, None)


def listing(
    server: Server, principal: Principal, window: Window, dataset: str | None = None
) -> Page[QueryView]:
    """List the queries that the caller may see, in the order in which they were registered."""
    return page_of(server, principal, window, dataset, view, streams=False)


def show(server: Server, principal: Principal, name: str) -> QueryView:
    """Show one query.  Raises ``NotFound``, also if the caller may not see it."""
    with server.database.read() as session:
        return view(session, *visible(session, principal, name, stream=False))


def stored_tiers(session: Session, query: Query, limit: Tier | None = None) -> Sequence[TierRungs]:
    """Return the tiers up to ``limit`` that see a query; what they are charged for is read late."""

    def charged(tier: Tier) -> Iterator[int]:
        yield from effective_rungs(session, query, tier)

    return [
        TierRungs(tier.name, rung, charged(tier)) for tier, rung in levels_of(session, query, limit)
    ]


def view(
    session: Session, query: Query, limit: Tier | None, texts: StatisticWordingView | None = None
) -> QueryView:
    """Return a query for a reader who may see tiers up to ``limit`` (``None``: all).

    Its ``texts`` are read unless they are given.
    """
    texts = texts or shown_of_query(session, query, limit)
    dataset = session.get_one(Dataset, query.dataset_id)
    sql = sql_of(session, dataset, query)
    seen = shown(query, dataset, stored_tiers(session, query, limit), limit, sql, texts)
    floor = floor_of(session, query)
    if floor is None:
        return seen
    own = OwnQueryView(floor.name, query.by if limit is None else None)
    return replace(seen, name=shown_name(session, query, limit), allowance=own)


def shown(
    query: Query,
    dataset: Dataset,
    seen: Sequence[TierRungs],
    limit: Tier | None,
    sql: str | None,
    texts: StatisticWordingView,
) -> QueryView:
    """Return a query of an admin as ``view`` does; ``sql`` is its spec in SQL."""
    kind, spec = kind_of(query), spec_of(query, limit)
    tiers = [
        replace(
            kind.at_tier(rungs.tier, rungs.allowed, dataset.delta),
            composed=kind.levels.composed(rungs.charged, dataset.delta),
        )
        for rungs in seen
    ]
    return QueryView(
        name=query.name,
        dataset=dataset.name,
        dataset_version=dataset.version,
        mechanism=query.mechanism,
        p=kind.p,
        lossless=kind.lossless,
        status=query.status,
        dimension=query.dimension,
        granularity=float(kind.mechanism.granularity),
        sensitivity=kind.sensitivity_view(),
        asserted_by=query.asserted_by,
        sentence=definitions.of_query(spec, unit_of(dataset)),
        spec=spec,
        spec_sql=sql,
        sql=query.sql,
        sql_sha256=query.sql_hash,
        read_states=states_of(query) if limit is None else [],
        tiers=tiers,
        registered_at=query.created_at,
        **vars(texts),
    )
