"""Open and charge streams at once, since nothing is drawn before the first element.

A stream is a query whose data arrive over time.  So its name, levels, charges and grants are those
of a query; in addition it has a structure, a state, and outputs.
"""

import json
import uuid
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from sqlmodel import Session, col, select

from penstock.connectors.planning.refusals import within
from penstock.persistence.locks import lock_dataset
from penstock.persistence.protocol import Need
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query, Release
from penstock.sentences import definitions
from penstock.services.access.principals import Principal
from penstock.services.allowances.own_names import require_unused
from penstock.services.computations.stream_quotes import calibrate_and_price_stream
from penstock.services.context import Server
from penstock.services.datasets.declarations import require_as_declared
from penstock.services.datasets.population import unit_of
from penstock.services.ledger.allowed_levels import allow
from penstock.services.ledger.charges import (
    accounts_of,
    charge_all,
    require_same_accounts,
    row_of,
)
from penstock.services.ledger.quotes import Quote
from penstock.services.noise.kinds.choice import stream_kind_of
from penstock.services.noise.kinds.stream import state_row
from penstock.services.noise.kinds.stream_shape import Shape
from penstock.services.pagination import Page, Window
from penstock.services.queries.level_changes import (
    charge_levels,
    listed_levels,
    locked_active,
    require_active,
    target_rung,
)
from penstock.services.releases.visibility import end_alone, levels_of, page_of, spec_of, visible
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.queries import stream_by_name
from penstock.services.schemas.streams import (
    StreamChange,
    StreamRequest,
    StreamTierView,
    StreamView,
)
from penstock.services.schemas.wordings.wordings import StatisticWordingView
from penstock.services.streams.sealed_stream import (
    first_of,
    first_state,
    load,
    save,
    seal_first,
)
from penstock.services.streams.stream_terms import terms_of
from penstock.services.wordings.stored import shown_of_query
from penstock.services.wordings.wordings import settle


def open_stream(server: Server, principal: Principal, request: StreamRequest) -> StreamView:
    """Open a stream and charge every tier for all of it.

    Raises ``InvalidInput``, ``NotFound`` for the dataset, ``NameTaken``, and ``BudgetExhausted``;
    then nothing is changed.
    """
    principal.require("admin")
    with server.database.read() as session:
        dataset = dataset_by_name(session, request.dataset)
        accounts = accounts_of(session, dataset)
    shape, terms, quote = calibrate_and_price_stream(
        request, terms_of(server, dataset, request), accounts
    )
    with server.database.write_beside() as session:
        # Others that charge the same accounts wait here, and read them again.
        require_as_declared(lock_dataset(session, required(dataset.id)), dataset)
        fresh = accounts_of(session, dataset)
        require_same_accounts(accounts, fresh)
        require_unused(session, request.name)
        charged = terms.dimension // shape.draws_of_a_number
        query = _row(server, principal, dataset, request, shape, quote, charged)
        charge_all(session, principal, dataset, query, quote, fresh)
        _begun(session, server, dataset, query, quote.rungs.values())
        settle(session, server, principal, query, request, fresh=True)
    return show(server, principal, query.name)


def change(server: Server, principal: Principal, name: str, request: StreamChange) -> StreamView:
    """Move levels of a stream, from its next element on.

    A level that it does not have yet is drawn for the nodes in use, each between its
    nearest levels; no element and no total is needed, since the noise is known.  Raises
    ``NotFound``, ``Conflict``, ``BudgetExhausted``, ``LevelsUsedUp``, and ``InvalidInput``
    for levels that are not valid.
    """
    principal.require("admin")
    with server.database.read() as session:
        query = stream_by_name(session, name)
        require_active(query)
        dataset = session.get_one(Dataset, query.dataset_id)
        targets = listed_levels(session, dataset, request.levels)
    kind = stream_kind_of(query)
    rungs = {key: target_rung(kind, *target, dataset.delta) for key, target in targets.items()}
    for key, (spelled, _) in targets.items():
        with within("levels", spelled):
            kind.require_rung(rungs[key])
    with server.database.write() as session:
        current = locked_active(session, query)
        now = server.clock()
        allowed = charge_levels(session, dataset, current, rungs, now)
        running = load(session, server, dataset, current)
        new = sorted(set(allowed.values()) - set(running.rungs))
        with server.drawing():
            for rung in new:
                running.noise.insert(kind.ladder.value(rung), server.randomness())
        if new:
            current.ceiling = min(current.ceiling, *new)
            _begin_rungs(session, server, dataset, current, new, running.step + 1, now)
            save(session, server, dataset, current, running)
        allow(session, principal, dataset, current, allowed, now)
    return show(server, principal, name)


def retire(server: Server, principal: Principal, name: str) -> StreamView:
    """Retire a stream: it takes no more elements, and users get no ranges that are new to them.

    Its charges are not returned.  Retiring again changes nothing.  Raises ``NotFound`` and
    ``ApprovalNeeded``.
    """
    principal.require("admin")
    with server.database.write(need=Need.RELIEF) as session:
        query = stream_by_name(session, name)
        end_alone(session, server, principal, query)
        return _view(session, server, query, None)


def listing(
    server: Server,
    principal: Principal,
    window: Window,
    dataset: str | None = None,
    chosen: Callable[[Query, Dataset, str, StatisticWordingView], bool] | None = None,
) -> Page[StreamView]:
    """List the streams that the caller may see, in the order in which they were opened.

    ``chosen`` says which of them are listed, by what is seen of each: its row, its dataset,
    its sentence and its texts.
    """

    def view(
        session: Session, query: Query, limit: Tier | None, texts: StatisticWordingView
    ) -> StreamView:
        return _view(session, server, query, limit, texts)

    def is_chosen(
        session: Session, query: Query, limit: Tier | None, texts: StatisticWordingView
    ) -> bool:
        of = session.get_one(Dataset, query.dataset_id)
        return chosen is None or chosen(query, of, _sentence(query, of, limit), texts)

    only = is_chosen if chosen else None
    return page_of(server, principal, window, dataset, view, streams=True, chosen=only)


def show(server: Server, principal: Principal, name: str) -> StreamView:
    """Show one stream.  Raises ``NotFound``, also if the caller may not see it."""
    with server.database.read() as session:
        query, limit = visible(session, principal, name, stream=True)
        return _view(session, server, query, limit)


def _row(
    server: Server,
    principal: Principal,
    dataset: Dataset,
    request: StreamRequest,
    shape: Shape,
    quote: Quote,
    charged: int,
) -> Query:
    return row_of(
        server,
        principal,
        dataset,
        name=request.name,
        terms=request,
        quote=quote,
        dimension=charged,
        spec=json.dumps(request.model_dump(mode="json", exclude_none=True), sort_keys=True),
        asserted_by=principal.name,
        structure=shape.encoded(),
    )


def _begun(
    session: Session, server: Server, dataset: Dataset, query: Query, rungs: Iterable[int]
) -> None:
    """Store the state before the first element."""
    running = first_state(query, list(rungs))
    _begin_rungs(session, server, dataset, query, running.rungs, 1, query.created_at)
    query.status = "active"
    save(session, server, dataset, query, running)


def _begin_rungs(
    session: Session,
    server: Server,
    dataset: Dataset,
    query: Query,
    rungs: Sequence[int],
    first: int,
    at: datetime,
) -> None:
    """Let outputs begin at new rungs with step ``first``."""
    for rung in rungs:
        query.seq += 1
        session.add(
            Release(
                public_id=str(uuid.uuid4()),
                query_id=required(query.id),
                rung=rung,
                seq=query.seq,
                ciphertext=seal_first(server, dataset, query, rung, query.seq, first),
                created_at=at,
            )
        )
    session.add(query)
    session.flush()


def _sentence(query: Query, dataset: Dataset, limit: Tier | None) -> str:
    settings = stream_kind_of(query).shape.settings()
    return definitions.of_stream(spec_of(query, limit), settings, unit_of(dataset))


def _view(
    session: Session,
    server: Server,
    query: Query,
    limit: Tier | None,
    texts: StatisticWordingView | None = None,
) -> StreamView:
    """Return a stream for a reader who may see tiers up to ``limit`` (``None``: all)."""
    kind = stream_kind_of(query)
    shape = kind.shape
    dataset = session.get_one(Dataset, query.dataset_id)
    step = state_row(session, query).step
    spec = spec_of(query, limit)
    rows = session.exec(select(Release).where(col(Release.query_id) == query.id)).all()
    # It cannot be read any more if the dataset was shredded; everything else stays visible.
    readable = bool(dataset.wrapped_kek)
    firsts = {row.rung: first_of(server, dataset, query, row) for row in rows if readable}
    return StreamView(
        name=query.name,
        dataset=dataset.name,
        dataset_version=dataset.version,
        mechanism=query.mechanism,
        structure=shape.settings(),
        status=query.status,
        length=shape.length,
        next=shape.following(step),
        dimension=shape.dimension,
        step=float(spec["step"]),
        bound=float(spec["bound"]),
        largest_total=shape.largest_total(kind),
        granularity=float(shape.granularity(kind)),
        sensitivity=kind.sensitivity_view(),
        max_steps_per_unit=shape.max_steps_per_unit,
        asserted_by=query.asserted_by,
        sentence=_sentence(query, dataset, limit),
        spec=spec,
        tiers=[
            StreamTierView(
                tier.name,
                kind.level(rung),
                kind.guarantee(rung, dataset.delta),
                next(shape.errors(kind, rung, [max(step, 1)])),
                firsts[rung] if readable else None,
            )
            for tier, rung in levels_of(session, query, limit)
        ],
        opened_at=query.created_at,
        **vars(texts or shown_of_query(session, query, limit)),
    )
