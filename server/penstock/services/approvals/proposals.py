"""Propose, approve and withdraw the actions that take two people.

A proposal is stored as it was made, with the state that it was made for, and an approval does
exactly that: in one transaction with its own leaf, or not at all.  A proposal ends with its
first decision; if an approved action cannot be done any more, that is a decision as well, and
the proposal stays visible as failed.  It expires after ``LIFE``.

The operator is one person: they may propose, and may approve what an admin proposed, but may
not approve their own proposal.
"""

import json
import uuid
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any, cast

from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from penstock.errors import (
    ApprovalNeeded,
    Conflict,
    Forbidden,
    InvalidInput,
    LogUnavailable,
    NotFound,
    Suspended,
)
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.decided.proposals import Decision, Proposal
from penstock.persistence.tables.people import User
from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.approvals.actions import STORED, Acknowledgment, Action, Answered, Proposed
from penstock.services.approvals.logged_proposals import record_state, request_of
from penstock.services.context import Server
from penstock.services.pagination import Page, Window
from penstock.services.schemas.proposals import ActionName, ProposalView, State
from penstock.transparency_log import leaves

LIFE = timedelta(days=7)


def do_or_propose(
    server: Server, principal: Principal, act: Action[Answered]
) -> Answered | ProposalView:
    """Act at once, or propose the action if it takes two people.

    If the same person repeats the request while the proposal is open, the same proposal is
    returned.  Raises what the action raises.
    """
    try:
        return act.alone(server, principal)
    except ApprovalNeeded:
        return _propose(server, principal, cast("Proposed", act))


def listing(
    server: Server, principal: Principal, window: Window, state: State | None = None
) -> Page[ProposalView]:
    """Return proposals in the order in which they were made, all or those in one state."""
    principal.require("admin", "auditor")
    now = server.clock()
    with server.database.read() as session:
        rows = session.exec(
            _in_state(state, now)
            .where(col(Proposal.id) > window.after)
            .order_by(col(Proposal.id))
            .limit(window.limit + 1)
        ).all()
        return window.page(rows, lambda row: _view(session, row, now), lambda row: required(row.id))


def show(server: Server, principal: Principal, public_id: str) -> ProposalView:
    """Return one proposal.  Raises ``NotFound``."""
    principal.require("admin", "auditor")
    with server.database.read() as session:
        return _view(session, _proposal_row(session, public_id), server.clock())


def approve(server: Server, principal: Principal, public_id: str) -> ProposalView:
    """Approve what another person proposed, and do it.

    Raises ``NotFound``; ``Forbidden`` for the person who proposed it and for a caller who is no
    longer an admin; and ``Conflict`` if the proposal is not open, if it cannot be done any more,
    or if its proposer is no longer an admin: in the last two cases it has failed.
    """
    principal.require("admin")
    with server.database.read() as session:
        act = STORED.validate_json(_proposal_row(session, public_id).request)
    try:
        with _writing(server, act) as session:
            proposal = _open(session, server, public_id)
            _require_another(session, principal, proposal)
            _decide(session, server, principal, proposal, "approved")
            _require_same(session, server, act, proposal)
            after = act.perform(session, server, principal)
    except (Conflict, InvalidInput, NotFound) as problem:
        _fail(server, principal, act, public_id, problem)
        raise Conflict(
            f"The proposal can no longer be carried out, and is closed. {problem.detail}"
            " Make a new proposal if it is still wanted."
        ) from problem
    after()
    return show(server, principal, public_id)


def withdraw(server: Server, principal: Principal, public_id: str) -> ProposalView:
    """Close a proposal without doing it, as its proposer or as another admin.

    Raises ``NotFound``, and ``Conflict`` if it is not open.
    """
    principal.require("admin")
    with server.database.read() as session:
        act = STORED.validate_json(_proposal_row(session, public_id).request)
    with _writing(server, act) as session:
        proposal = _open(session, server, public_id)
        _require_admin(session, principal)
        _decide(session, server, principal, proposal, "withdrawn")
        return _view(session, proposal, server.clock())


class _NotOpen(Conflict):
    """Signal that the proposal was decided before, or has expired."""


class _Lapsed(Conflict):
    """Signal that the proposal cannot be done as it was made."""


def _propose(server: Server, principal: Principal, act: Proposed) -> ProposalView:
    now = server.clock()
    with _writing(server, act) as session:
        _require_admin(session, principal)
        request = _canonical(act.model_dump(mode="json"))
        basis = _canonical(act.basis(session, server))
        before = session.exec(
            _in_state("open", now).where(
                col(Proposal.by) == principal.actor,
                col(Proposal.request) == request,
                col(Proposal.basis) == basis,
            )
        ).first()
        if before is not None:
            return _view(session, before, now)
        proposal = Proposal(
            public_id=str(uuid.uuid4()),
            act=act.act,
            request=request,
            basis=basis,
            by=principal.actor,
            at=now,
            expires_at=now + LIFE,
        )
        session.add(proposal)
        session.flush()
        record_state(session, principal, proposal, "open", now)
        return _view(session, proposal, now)


def _writing(server: Server, act: Proposed) -> AbstractContextManager[Session]:
    """Open a transaction that may hold this action, or a decision about it.

    While the database is suspended no leaf enters the tree: leaves about a restore wait until the
    restore is acknowledged.
    """
    if isinstance(act, Acknowledgment):
        try:
            server.sequencer.require_sound()
        except (Suspended, LogUnavailable):
            return server.database.write_unwatched()
    return server.database.write()


def _open(session: Session, server: Server, public_id: str) -> Proposal:
    proposal = _proposal_row(session, public_id)
    view = _view(session, proposal, server.clock())
    if view.state == "expired":
        raise _NotOpen(
            f"The proposal expired at {leaves.timestamp(proposal.expires_at)}; make a new proposal."
        )
    if view.state != "open":
        raise _NotOpen(f"The proposal is {view.state} already, by {view.decided_by}.")
    return proposal


def _require_another(session: Session, principal: Principal, proposal: Proposal) -> None:
    """Raise ``Forbidden`` unless an admin other than the proposer approves.

    People are distinguished by name, not by token; a name is never given to another person.
    """
    if proposal.by in (principal.name, principal.actor):
        raise Forbidden(
            f"{proposal.by} proposed this, and cannot approve it: another admin must approve it,"
            f" with a token of their own."
        )
    _require_admin(session, principal)
    if not _is_admin(session, proposal.by):
        raise _Lapsed(f"{proposal.by}, who proposed it, is no longer an admin.")


def _require_admin(session: Session, principal: Principal) -> None:
    """Raise ``Forbidden`` if the caller has lost the role of admin since they signed in."""
    if not (principal.is_operator or _is_admin(session, principal.name)):
        raise Forbidden(f"{principal.name} is no longer an admin.")


def _is_admin(session: Session, name: str) -> bool:
    if name == OPERATOR.name:
        return True
    user = session.exec(select(User).where(col(User.name) == name)).one()
    return user.admin and user.is_active


def _require_same(session: Session, server: Server, act: Proposed, proposal: Proposal) -> None:
    if _canonical(act.basis(session, server)) != proposal.basis:
        raise _Lapsed("The state that it was proposed for has changed since.")


def _fail(
    server: Server,
    principal: Principal,
    act: Proposed,
    public_id: str,
    problem: Conflict | InvalidInput | NotFound,
) -> None:
    """Close a proposal that could not be done, in a transaction separate from the action's."""
    if isinstance(problem, _NotOpen):
        raise problem
    with _writing(server, act) as session:
        proposal = _open(session, server, public_id)
        _decide(session, server, principal, proposal, "failed", problem.detail)


def _decide(
    session: Session,
    server: Server,
    principal: Principal,
    proposal: Proposal,
    outcome: State,
    reason: str | None = None,
) -> None:
    now = server.clock()
    decision = Decision(
        proposal_id=required(proposal.id),
        outcome=outcome,
        proposed_by=proposal.by,
        by=principal.actor,
        at=now,
        reason=reason,
    )
    session.add(decision)
    session.flush()
    record_state(session, principal, proposal, outcome, now)


def _proposal_row(session: Session, public_id: str) -> Proposal:
    proposal = session.exec(select(Proposal).where(col(Proposal.public_id) == public_id)).first()
    if proposal is None:
        raise NotFound(f"There is no proposal {public_id!r}.")
    return proposal


def _in_state(state: State | None, now: datetime) -> SelectOfScalar[Proposal]:
    """Return the statement for proposals in one state, or for all of them."""
    statement = select(Proposal).outerjoin(Decision, col(Decision.proposal_id) == col(Proposal.id))
    if state is None:
        return statement
    if state == "open":
        return statement.where(col(Decision.id).is_(None), col(Proposal.expires_at) > now)
    if state == "expired":
        return statement.where(col(Decision.id).is_(None), col(Proposal.expires_at) <= now)
    return statement.where(col(Decision.outcome) == state)


def _view(session: Session, proposal: Proposal, now: datetime) -> ProposalView:
    decision = session.exec(
        select(Decision).where(col(Decision.proposal_id) == proposal.id)
    ).first()
    undecided: State = "open" if proposal.expires_at > now else "expired"
    return ProposalView(
        id=proposal.public_id,
        act=cast("ActionName", proposal.act),
        request=request_of(proposal),
        basis=json.loads(proposal.basis),
        state=cast("State", decision.outcome) if decision else undecided,
        proposed_by=proposal.by,
        proposed_at=proposal.at,
        expires_at=proposal.expires_at,
        decided_by=decision.by if decision else None,
        decided_at=decision.at if decision else None,
        reason=decision.reason if decision else None,
    )


def _canonical(fields: dict[str, Any]) -> str:
    return leaves.canonical(fields).decode()
