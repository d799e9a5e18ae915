"""Approve requests, or decline them.

An approval registers the query: the decision, its leaf and the charge are one transaction, so that
there is either all of it or nothing.  The data are read after that.  If this is interrupted, the
request is approved and its query charged; repeating the approval finishes it, and charges nothing.
A refusal before the charge leaves the request open.
"""

import json
from dataclasses import dataclass

from sqlmodel import Session

from penstock.connectors.planning.refusals import checked
from penstock.connectors.progress import Progress, silent
from penstock.errors import Conflict, Forbidden, SourceChanged, Unavailable
from penstock.persistence.protocol import Need
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.decided.requests import Asker, Request, RequestDecision
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal, require_still
from penstock.services.computing import PATIENCE
from penstock.services.context import Server
from penstock.services.previews import query_preview
from penstock.services.queries import registration
from penstock.services.queries.pending import charged_dataset
from penstock.services.requests import rows, views
from penstock.services.requests.logged_requests import record_decision
from penstock.services.schemas.previews import PreviewView
from penstock.services.schemas.queries import SpecRequest
from penstock.services.schemas.requests.specs import DecisionRequest
from penstock.services.schemas.requests.views import RequestView
from penstock.services.webhook import outbox
from penstock.transparency_log import leaves

WITHDRAWN = "The request was withdrawn, so there is nothing to decide."


def decide(
    server: Server,
    principal: Principal,
    public_id: str,
    request: DecisionRequest,
    progress: Progress = silent,
) -> RequestView:
    """Approve a request and register its query, or decline it.

    Raises ``NotFound``; ``Conflict`` if it is withdrawn or decided, except for an approval whose
    query waits for its data, which is finished; ``Forbidden`` under the two-person rule for a
    request of one's own; and what registering raises.
    """
    principal.require("admin")
    if request.decision == "decline":
        _decline(server, principal, public_id, request)
    else:
        approve(server, principal, public_id, request, progress)
    return views.show(server, principal, public_id)


def approve(
    server: Server,
    principal: Principal,
    public_id: str,
    request: DecisionRequest,
    progress: Progress = silent,
) -> str:
    """Approve a request, and return the name of its query.  Raises as ``decide`` does."""
    principal.require("admin")
    with server.database.read() as session:
        state = _state(session, principal, public_id)
        if state.waiting is None:
            _require_open(session, server, principal, state.asker)
    if state.waiting is not None:
        text = state.decision and state.decision.spec
        sent = rows.spec_request(text or "")
        return registration.register(server, principal, sent, progress).name
    if state.registered is not None and not _is_beside(state.registered, request):
        return _lead(server, principal, state, request)
    spec = _spec(state, request)
    sent = checked(SpecRequest, spec)
    version = _version(server, sent, state.request)

    def decided(session: Session, query: Query) -> None:
        if query.canonical_hash != state.request.canonical_hash:
            raise rows.other_statistic(sent.dataset)
        # Read again: others may have decided it since, or its sender withdrawn it.
        _require_open(session, server, principal, state.asker)
        _store(session, server, principal, state.asker, request, query, spec)

    try:
        return registration.register(
            server, principal, sent, progress, version=version, also=decided
        ).name
    except (Conflict, Unavailable) as problem:
        _explain(server, principal, state, problem)
        raise


def preview(
    server: Server,
    principal: Principal,
    public_id: str,
    request: DecisionRequest,
    patience: float = PATIENCE,
) -> PreviewView:
    """Preview what an approval would register, with its changes; nothing is done.

    Raises ``NotFound``, ``Conflict`` if the request is withdrawn or decided, and what a preview
    raises.
    """
    principal.require("admin")
    with server.database.read() as session:
        state = _state(session, principal, public_id)
        _require_active(session, state.asker)
        sent = checked(SpecRequest, _spec(state, request))
        charged = charged_dataset(session, sent)
    _version(server, sent, state.request)
    rows.require_as_requested(server, charged, sent, state.request)
    return query_preview.preview(server, principal, sent, patience)


def registered(server: Server, principal: Principal, public_id: str) -> str | None:
    """Return the name of the query that an approval registered; ``None`` before that is done."""
    principal.require("admin")
    with server.database.read() as session:
        asker = rows.asker_row(session, principal, public_id)
        decision = rows.decision_of(session, asker.request_id)
        if decision is None or decision.query_id is None:
            return None
        query = session.get_one(Query, decision.query_id)
        return None if query.status == "pending" else query.readable


@dataclass(frozen=True)
class _State:
    """Hold a request before it is decided: what one person sent.

    ``registered`` is the query that is the same statistic, and ``waiting`` the query of the
    request's approval that waits for its data.
    """

    request: Request
    asker: Asker
    decision: RequestDecision | None
    registered: Query | None
    waiting: Query | None


def _state(session: Session, principal: Principal, public_id: str) -> _State:
    """Return a request.  Raises ``NotFound``."""
    asker = rows.asker_row(session, principal, public_id)
    request = session.get_one(Request, asker.request_id)
    decision = rows.decision_of(session, required(request.id))
    waiting = None
    if decision is not None and decision.query_id is not None:
        query = session.get_one(Query, decision.query_id)
        waiting = query if query.status == "pending" else None
    if waiting is None:
        rows.require_undecided(session, required(request.id))
    askers = rows.active_askers(session, required(request.id))
    same = rows.registered(session, request.canonical_hash, askers)
    registered = None if same is None or same.status == "pending" else same
    return _State(request, asker, decision, registered, waiting)


def _require_active(session: Session, asker: Asker) -> list[Asker]:
    """Return who requests the statistic.

    Raises ``Conflict`` if it is decided, or if this person withdrew it: what others sent for it may
    have another name and other levels, which whoever decides has not seen.
    """
    rows.require_undecided(session, asker.request_id)
    askers = rows.active_askers(session, asker.request_id)
    if not askers:
        raise Conflict(WITHDRAWN)
    if all(each.id != asker.id for each in askers):
        other = askers[0]
        raise Conflict(
            f"{rows.name_of(session, asker)} withdrew this request."
            f" {rows.name_of(session, other)} requests the same statistic, as {other.public_id}:"
            " look at that request, and decide about it."
        )
    return askers


def _require_open(
    session: Session, server: Server, principal: Principal, asker: Asker
) -> list[Asker]:
    """Return who requests it.  Raises ``Conflict`` and ``Forbidden``."""
    askers = _require_active(session, asker)
    if server.settings.two_person_rule and any(
        each.user_id == principal.user_id for each in askers
    ):
        raise Forbidden(
            "Under the two-person rule nobody decides their own request: another admin approves"
            f" it, with a token of their own. {principal.name} is among those who made it."
        )
    return askers


def _decline(
    server: Server, principal: Principal, public_id: str, request: DecisionRequest
) -> None:
    with server.database.write(need=Need.LITTLE) as session:
        require_still(session, principal, "admin")
        asker = rows.asker_row(session, principal, public_id)
        _require_active(session, asker)
        _store(session, server, principal, asker, request, None, None)


def _is_beside(query: Query, request: DecisionRequest) -> bool:
    """Return True for another query beside an analyst's, which nobody below that one's tier sees.

    Its levels are the decision's; registering refuses those with which all who see it see both.
    """
    return query.allowance_id is not None and request.levels is not None


def _lead(server: Server, principal: Principal, state: _State, request: DecisionRequest) -> str:
    """Approve a request whose statistic is registered, for nothing, if all who made it see that."""
    query = state.registered
    if query is None:
        raise RuntimeError("a request leads to a registered query alone")
    if request.levels is not None or request.name is not None:
        raise Conflict(
            f"This statistic is registered already, as query {query.readable!r}, which has a name"
            " and levels: change those of the query, and approve the request without any.",
            query=query.readable,
        )
    with server.database.write() as session:
        require_still(session, principal, "admin")
        askers = _require_open(session, server, principal, state.asker)
        refusal = rows.retired(session, query, None)
        if refusal is not None:
            raise refusal
        hidden = [asker for asker in askers if not rows.sees(session, asker, query)]
        if hidden:
            names = ", ".join(rows.name_of(session, asker) for asker in hidden)
            raise Conflict(
                f"This statistic is registered already, as query {query.readable!r}, which {names}"
                " cannot see: give their tier a level of that query first, which is charged, or"
                " decline the request.",
                query=query.readable,
            )
        spec = json.loads(state.asker.spec)
        _store(session, server, principal, state.asker, request, query, spec)
    return query.readable


def _spec(state: _State, request: DecisionRequest) -> dict[str, object]:
    """Return the spec to register: what the person sent, with the decision's changes."""
    spec: dict[str, object] = json.loads(state.asker.spec)
    changes = request.model_dump(
        mode="json", exclude_unset=True, exclude_none=True, include={"levels", "name"}
    )
    if "levels" in changes:
        spec.pop("share", None)
    return {**spec, **changes}


def _version(server: Server, sent: SpecRequest, request: Request) -> int:
    """Return the version that a request is for.

    Raises ``Conflict`` if the query would be registered for another one.
    """
    with server.database.read() as session:
        dataset = session.get_one(Dataset, request.dataset_id)
        charged = charged_dataset(session, sent)
        rows.require_version(dataset.name, dataset.version, charged.version)
    return dataset.version


def _store(
    session: Session,
    server: Server,
    principal: Principal,
    asker: Asker,
    request: DecisionRequest,
    query: Query | None,
    spec: dict[str, object] | None,
) -> None:
    """Store a decision and its leaf; its constraint refuses a second one."""
    decision = RequestDecision(
        request_id=asker.request_id,
        asker_id=required(asker.id),
        outcome="declined" if query is None else "approved",
        by=principal.actor,
        comment=request.comment,
        query_id=None if query is None else required(query.id),
        spec=None if spec is None else leaves.canonical(spec).decode(),
        at=server.clock(),
    )
    session.add(decision)
    session.flush()
    request_row = session.get_one(Request, asker.request_id)
    dataset = session.get_one(Dataset, request_row.dataset_id)
    record_decision(session, principal, dataset, decision, query)
    for each in rows.active_askers(session, asker.request_id):
        outbox.add(session, server, each, "request.decided", decision.at)


def _explain(
    server: Server, principal: Principal, state: _State, problem: Conflict | Unavailable
) -> None:
    """Add to a refusal what became of the request, which another admin may have decided."""
    with server.database.read() as session:
        decision = rows.decision_of(session, required(state.request.id))
        is_withdrawn = rows.is_withdrawn(session, state.asker)
    if decision is None:
        if not is_withdrawn:
            problem.detail += " The request stays open."
            problem.args = (problem.detail,)
    elif decision.by != principal.actor or not isinstance(problem, SourceChanged | Unavailable):
        raise Conflict(f"The request is {decision.outcome} already, by {decision.by}.") from problem
    else:
        problem.detail += " The request is approved: repeating the approval finishes it too."
        problem.args = (problem.detail,)
