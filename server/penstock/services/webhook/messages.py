"""Write the text of a message, and sign it.

Whoever receives one about a request may have no clearance, and may pass it on to the person who
made the request.  So it holds what that person is shown, and less: no purpose, comment, spec or
value, and the name of a query only if they see it.  The request's identifier leads to the rest, for
those who may.  What is sent of a leaf is for auditors and admins: ``log_events`` has the list.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime

from sqlmodel import Session, col, select

from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.decided.requests import Asker, Request, RequestDecision
from penstock.persistence.tables.log import Leaf
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query, QueryLevel
from penstock.services.context import Server
from penstock.services.repository.people import clearance_of, ordered_tiers
from penstock.services.repository.queries import in_sight
from penstock.services.webhook import log_events
from penstock.services.webhook.outbox import Claim
from penstock.spec_fields import folded
from penstock.transparency_log import leaves

SIGNATURE, DELIVERY = "Penstock-Signature", "Penstock-Delivery"


def body_of(server: Server, claim: Claim) -> bytes:
    """Return the text of a message, as canonical JSON.  Raises as reading rows does."""
    with server.database.read() as session:
        if claim.leaf_id is None:
            about = _of_request(session, claim)
        else:
            leaf = session.get_one(Leaf, claim.leaf_id)
            about = log_events.body_fields(server, session, leaf)
    at = claim.at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return leaves.canonical({"event": claim.event, "delivery": claim.public_id, **about, "at": at})


def _of_request(session: Session, claim: Claim) -> dict[str, object]:
    """Return what is sent of a request, or of the decision about it."""
    asker = session.get_one(Asker, claim.asker_id)
    request = session.get_one(Request, asker.request_id)
    limit = clearance_of(session, asker.user_id)
    decision = _decision(session, request) if claim.event == "request.decided" else None
    query = None if decision is None else _seen(session, decision, limit)
    return {
        "request": asker.public_id,
        "state": _state(decision, query),
        "dataset": session.get_one(Dataset, request.dataset_id).name,
        "tiers": _requested(session, asker) if query is None else _tiers(session, query, limit),
        "query": None if query is None else query.readable,
    }


def headers_of(secret: str, claim: Claim, body: bytes, now: datetime) -> Mapping[str, str]:
    """Return the headers of a message that is sent ``now``: its delivery, and its signature.

    The signature is the HMAC-SHA256 of the seconds since 1970, a dot and the body.  There is one
    under each line of ``secret``: while a secret is replaced, receivers may know either.
    """
    seconds = int(now.timestamp())
    signed = f"{seconds}.".encode() + body
    macs = [
        hmac.new(line.encode(), signed, hashlib.sha256).hexdigest() for line in secret.splitlines()
    ]
    signatures = ",".join(f"v1={mac}" for mac in macs)
    return {DELIVERY: claim.public_id, SIGNATURE: f"t={seconds},{signatures}"}


def _decision(session: Session, request: Request) -> RequestDecision:
    statement = select(RequestDecision).where(col(RequestDecision.request_id) == request.id)
    return session.exec(statement).one()


def _seen(session: Session, decision: RequestDecision, limit: Tier | None) -> Query | None:
    """Return the query of a decision, unless it is hidden from the person who requested it."""
    if decision.query_id is None or limit is None:
        return None
    statement = select(Query).where(col(Query.id) == decision.query_id, in_sight(limit))
    return session.exec(statement).one_or_none()


def _state(decision: RequestDecision | None, query: Query | None) -> str:
    """Return the state that the person is shown: approved only if they see the query."""
    if decision is None:
        return "open"
    return "declined" if query is None else decision.outcome


def _requested(session: Session, asker: Asker) -> list[str]:
    """Return the tiers for which levels were requested; none if it was a share of every budget."""
    names = {folded(name) for name in json.loads(asker.spec).get("levels", {})}
    return [tier.name for tier in ordered_tiers(session) if tier.folded in names]


def _tiers(session: Session, query: Query, limit: Tier | None) -> list[str]:
    """Return the tiers with a level of a query, as far as the person who requested it sees them."""
    given = select(QueryLevel.tier_id).where(col(QueryLevel.query_id) == required(query.id))
    numbers = set(session.exec(given).all())
    return [
        tier.name
        for tier in ordered_tiers(session)
        if tier.id in numbers and limit is not None and tier.rank <= limit.rank
    ]
