"""Request queries, and withdraw requests.

A request that equals a registered query leads there if its sender sees that query, and nothing is
stored.  One that equals a query hidden from them is stored like any other: a difference would tell
that it exists.  Equal open requests are one for admins, who see what each person sent; these people
do not see each other.
"""

import uuid
from datetime import datetime

from sqlmodel import Session, col, select

from penstock.connectors.planning.refusals import checked
from penstock.errors import Conflict, InvalidInput
from penstock.persistence.protocol import Need
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.decided.requests import Asker, Request, Withdrawal
from penstock.services.access.principals import Principal, require_still
from penstock.services.allowances.own_names import shown_name
from penstock.services.computing import PATIENCE
from penstock.services.context import Server
from penstock.services.datasets.datasets import visible_below, visible_dataset
from penstock.services.noise.keys import require_not_shredded
from penstock.services.previews import query_preview
from penstock.services.queries.exact_answers import planned_on
from penstock.services.queries.sql import statements
from penstock.services.requests import limits, rows, views
from penstock.services.requests.logged_requests import record_ask, record_withdrawal
from penstock.services.schemas.queries import ComputedQueryRequest, QueryRequest, SqlRequest
from penstock.services.schemas.requests.specs import AskRequest
from penstock.services.schemas.requests.views import RequestView
from penstock.services.schemas.wordings.wordings import texts_of
from penstock.services.webhook import outbox
from penstock.transparency_log import leaves


def ask(server: Server, principal: Principal, request: AskRequest) -> RequestView:
    """Request a query for which the caller has a purpose; the answer has its preview.

    Repeating an open request changes nothing.  Raises what a preview does, ``Conflict`` for another
    purpose or other levels of a statistic that the caller requested already, for one of a retired
    query in the caller's sight, for shredded data and for too many open requests, and
    ``QuotaUsedUp``.
    """
    principal.require("analyst")
    sent = spec_of(server, principal, request)
    text = spec_text(sent)
    with server.database.read() as session:
        dataset = visible_dataset(session, principal, sent.dataset)
        limit = visible_below(session, principal)
    require_not_shredded(dataset)
    canonical_hash = planned_on(server, dataset, sent).canonical_hash or ""
    with server.database.read() as session:
        same = rows.same_statistic(session, canonical_hash, limit)
        refusal = rows.retired(session, same, limit)
        if refusal is not None:
            raise refusal
        twin = None if same is None else shown_name(session, same, limit)
    if twin is not None:
        preview = views.preview_of_query(server, principal, twin)
        return views.answered(principal, request, text, dataset, twin, preview)
    preview = query_preview.preview(server, principal, sent, PATIENCE)
    if not preview.tiers:
        raise InvalidInput(
            "None of these levels is at your tier or below it, so you would not see the query."
            " Request a level at your tier.",
            pointer="/levels",
        )
    public_id = _stored(server, principal, dataset, canonical_hash, text, request.purpose)
    return views.show_own(server, principal, public_id, preview)


def withdraw(server: Server, principal: Principal, public_id: str) -> RequestView:
    """Withdraw a request of one's own.  A repeat changes nothing.

    Raises ``NotFound``, also for requests of others, and ``Conflict`` if it is decided.
    """
    principal.require("analyst")
    with server.database.write(need=Need.LITTLE) as session:
        asker = rows.asker_row(session, principal, public_id)
        request = session.get_one(Request, asker.request_id)
        if asker.user_id != principal.user_id:
            raise Conflict(
                f"{rows.name_of(session, asker)} made this request, and alone can withdraw it;"
                " an admin declines it."
            )
        if not rows.is_withdrawn(session, asker):
            _require_undecided(server, session, principal, asker)
            now = server.clock()
            session.add(Withdrawal(asker_id=required(asker.id), at=now))
            session.flush()
            dataset = session.get_one(Dataset, request.dataset_id)
            record_withdrawal(session, principal, dataset, asker, now)
    return views.show_own(server, principal, public_id)


def _require_undecided(
    server: Server, session: Session, principal: Principal, asker: Asker
) -> None:
    """Raise ``Conflict`` if a request is decided, with the state that its sender is shown."""
    decision = rows.decision_of(session, asker.request_id)
    if decision is not None:
        state = views.own_view(server, session, principal, asker).state
        raise Conflict(f"The request is {state} already, by {decision.by}.")


def spec_of(server: Server, principal: Principal, request: AskRequest) -> ComputedQueryRequest:
    """Return what is requested, a statement of SQL as the spec that it is read as.

    Raises as ``statements.resolved`` does.
    """
    fields = request.model_dump(mode="json", exclude_unset=True, exclude={"purpose"})
    sent = checked(QueryRequest, {**fields, **texts_of(request)})
    if isinstance(sent, SqlRequest):
        return statements.resolved(server, principal, sent)
    if not isinstance(sent, ComputedQueryRequest):
        raise TypeError("vectors that are pushed cannot be requested")
    return sent


def spec_text(request: ComputedQueryRequest) -> str:
    """Return a spec as it is stored.  Raises ``InvalidInput`` if it is too long."""
    fields = {**request.model_dump(mode="json", exclude_unset=True), **texts_of(request)}
    text = leaves.canonical(fields).decode()
    if len(text) > limits.LONGEST_SPEC:
        raise InvalidInput(
            f"The spec of a request has at most {limits.LONGEST_SPEC:,} characters, and this one"
            f" has {len(text):,}. List fewer values or bins."
        )
    return text


def _stored(
    server: Server,
    principal: Principal,
    dataset: Dataset,
    canonical_hash: str,
    text: str,
    purpose: str,
) -> str:
    """Store what somebody sent, unless it is open already; return its identifier."""
    with server.database.write() as session:
        require_still(session, principal, "analyst")
        now = server.clock()
        request = rows.newest(session, canonical_hash)
        if request is None or rows.decision_of(session, required(request.id)) is not None:
            turn = 1 if request is None else request.turn + 1
            request = _begun(session, dataset, canonical_hash, turn, now)
        own = _own(session, principal, request)
        last = own[-1] if own else None
        if last is not None and not rows.is_withdrawn(session, last):
            _require_same(last, text, purpose)
            return last.public_id
        limits.require_rate(session, server, principal)
        limits.require_few_open(session, principal)
        asker = Asker(
            public_id=str(uuid.uuid4()),
            request_id=required(request.id),
            user_id=required(principal.user_id),
            turn=len(own) + 1,
            spec=text,
            purpose=purpose,
            at=now,
        )
        session.add(asker)
        session.flush()
        record_ask(session, principal, dataset, request, asker)
        outbox.add(session, server, asker, "request.opened", now)
        return asker.public_id


def _begun(
    session: Session, dataset: Dataset, canonical_hash: str, turn: int, now: datetime
) -> Request:
    """Add the row of a statistic of which no request is open.

    Its constraint refuses a second one of the same turn.
    """
    request = Request(
        dataset_id=required(dataset.id), canonical_hash=canonical_hash, turn=turn, at=now
    )
    session.add(request)
    session.flush()
    return request


def _own(session: Session, principal: Principal, request: Request) -> list[Asker]:
    """Return what the caller sent for a request, the first one first."""
    own = col(Asker.user_id) == principal.user_id
    statement = select(Asker).where(col(Asker.request_id) == request.id, own)
    return list(session.exec(statement.order_by(col(Asker.turn))).all())


def _require_same(asker: Asker, text: str, purpose: str) -> None:
    """Raise ``Conflict`` if a person sends a statistic again with another spec or purpose.

    Fields that one spec leaves out, as that of a statement does, have their defaults.
    """
    if (_whole(asker.spec), asker.purpose) != (_whole(text), purpose):
        raise Conflict(
            f"You requested this statistic already, as {asker.public_id}, with another purpose,"
            " name or levels. Withdraw that request first, or comment on it.",
            request=asker.public_id,
        )


def _whole(text: str) -> dict[str, object]:
    """Return a stored spec with the fields that it leaves out."""
    return rows.spec_request(text).model_dump(mode="json")
