"""Write the leaves of requests, and compare their tables with them.

The leaf of a request holds what was sent, with what its sender had read: the choice of a question
may tell that.  Requests for the same statistic name the first of them.
"""

import json
from collections.abc import Iterator
from datetime import datetime

from sqlmodel import Session, col, select

from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.decided.requests import (
    Asker,
    Request,
    RequestComment,
    RequestDecision,
    Withdrawal,
)
from penstock.persistence.tables.people import User
from penstock.persistence.tables.queries import Query
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.transparency_log import leaves
from penstock.transparency_log.logged_subject import LeafFields, name_of, versions
from penstock.transparency_log.sights import Sight

KIND = "request"
ENDS = ("approved", "declined")


def record_ask(
    session: Session, principal: Principal, dataset: Dataset, request: Request, asker: Asker
) -> None:
    """Append the leaf of what somebody sent."""
    record(
        session,
        principal,
        KIND,
        asker.at,
        dataset=dataset,
        user=principal.name,
        act="ask",
        request=asker.public_id,
        first=_first(session, request.id),
        version=dataset.version,
        canonical_hash=request.canonical_hash,
        spec=json.loads(asker.spec),
        purpose=asker.purpose,
    )


def record_withdrawal(
    session: Session, principal: Principal, dataset: Dataset, asker: Asker, at: datetime
) -> None:
    """Append the leaf of a request that its sender withdrew."""
    record(
        session,
        principal,
        KIND,
        at,
        dataset=dataset,
        user=principal.name,
        act="withdraw",
        request=asker.public_id,
    )


def record_comment(
    session: Session, principal: Principal, dataset: Dataset, row: RequestComment
) -> None:
    """Append the leaf of a comment."""
    asker = None if row.asker_id is None else session.get_one(Asker, row.asker_id)
    record(
        session,
        principal,
        KIND,
        row.at,
        dataset=dataset,
        act="comment",
        request=_first(session, row.request_id),
        of=None if asker is None else asker.public_id,
        comment=row.comment,
    )


def record_decision(
    session: Session,
    principal: Principal,
    dataset: Dataset,
    row: RequestDecision,
    query: Query | None,
) -> None:
    """Append the leaf of a decision, under the identifier of what was decided.

    An approval names the query that it registered.
    """
    record(
        session,
        principal,
        KIND,
        row.at,
        dataset=dataset,
        query=query,
        act=row.outcome,
        request=session.get_one(Asker, row.asker_id).public_id,
        comment=row.comment,
        spec=None if row.spec is None else json.loads(row.spec),
    )


class LoggedRequests:
    """Hold the requests that the log has, the comments on them, and what was decided."""

    def __init__(self) -> None:
        self._requests = versions()

    def take(self, leaf: LeafFields) -> None:
        """Read the leaf of a request."""
        if leaf["kind"] != KIND:
            return
        act, key = leaf["act"], (leaf["request"],)
        if act == "ask":
            about = leaf["first"], leaf["dataset"], leaf["version"], leaf["canonical_hash"]
            sent = _text(leaf["spec"]), leaf["purpose"]
            self._requests[key].append((act, leaf["actor"], *about, *sent))
        elif act == "withdraw":
            self._requests[key].append((act,))
        elif act == "comment":
            self._requests[key].append((act, leaf["actor"], leaf.get("of"), leaf["comment"]))
        elif act in ENDS:
            decided = leaf.get("query"), _text(leaf.get("spec")), leaf.get("comment")
            self._requests[key].append((act, leaf["actor"], *decided))

    def differences(self, session: Session, _seen: Sight) -> Iterator[str]:
        """Yield a message where requests, comments or decisions differ."""
        logged = {key: sorted(map(repr, each)) for key, each in self._requests.items()}
        if _stored(session) != logged:
            yield "the requests, or what was decided about them, are not those of the log"


def _stored(session: Session) -> dict[tuple[str, ...], list[str]]:
    """Return what the tables say of each request, in the form of ``LoggedRequests``."""
    requests = {row.id: row for row in session.exec(select(Request)).all()}
    askers = {row.id: row for row in session.exec(select(Asker)).all()}
    first: dict[int, str] = {}
    for _, row in sorted(askers.items(), key=lambda item: item[0] or 0):
        first.setdefault(row.request_id, row.public_id)
    known = versions()
    for row in askers.values():
        request = requests[row.request_id]
        dataset, user = session.get(Dataset, request.dataset_id), session.get(User, row.user_id)
        version = dataset.version if dataset else 0
        about = first[row.request_id], name_of(dataset), version, request.canonical_hash
        sent = _text(json.loads(row.spec)), row.purpose
        known[row.public_id,].append(("ask", name_of(user), *about, *sent))
    for withdrawal in session.exec(select(Withdrawal)).all():
        known[askers[withdrawal.asker_id].public_id,].append(("withdraw",))
    for comment in session.exec(select(RequestComment)).all():
        of = None if comment.asker_id is None else askers[comment.asker_id].public_id
        known[first[comment.request_id],].append(("comment", comment.by, of, comment.comment))
    for decision in session.exec(select(RequestDecision)).all():
        query = None if decision.query_id is None else session.get(Query, decision.query_id)
        spec = None if decision.spec is None else json.loads(decision.spec)
        decided = query and query.name, _text(spec), decision.comment
        key = askers[decision.asker_id].public_id
        known[key,].append((decision.outcome, decision.by, *decided))
    return {key: sorted(map(repr, each)) for key, each in known.items()}


def _first(session: Session, request_id: int | None) -> str:
    """Return the identifier of what was sent first for a request."""
    rows = select(Asker).where(col(Asker.request_id) == request_id).order_by(col(Asker.id))
    return session.exec(rows.limit(1)).one().public_id


def _text(spec: object) -> str:
    return leaves.canonical({"spec": spec}).decode()
