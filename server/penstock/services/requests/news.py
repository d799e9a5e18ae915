"""Say what waits for admins, and tell analysts what became of their requests."""

from datetime import timedelta

from sqlmodel import col, exists, func, select

from penstock.persistence.tables.decided.requests import Asker, Request, RequestDecision
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.requests import views
from penstock.services.requests.rows import WITHDRAWN
from penstock.services.requests.settled import WAITS
from penstock.services.schemas.requests.views import RequestView

DAYS = 14
"""How long a decision is news."""

MOST = 5
"""The most decisions that are told at once."""


def waiting(server: Server, principal: Principal) -> int:
    """Return how many requests wait for a decision."""
    principal.require("admin")
    made = select(RequestDecision.id).where(col(RequestDecision.request_id) == col(Request.id))
    undecided = select(func.count(col(Request.id))).where(~exists(made), WAITS)
    with server.database.read() as session:
        return session.exec(undecided).one()


def decided(server: Server, principal: Principal) -> list[RequestView]:
    """Return the newest decisions on the caller's own requests, without previews."""
    principal.require("analyst")
    since = server.clock() - timedelta(days=DAYS)
    own = (
        select(Asker)
        .join(RequestDecision, col(RequestDecision.request_id) == col(Asker.request_id))
        .where(col(Asker.user_id) == principal.user_id, ~WITHDRAWN, col(RequestDecision.at) > since)
        .order_by(col(RequestDecision.id).desc())
        .limit(MOST)
    )
    with server.database.read() as session:
        sent = session.exec(own).all()
        return [views.own_view(session, principal, asker) for asker in sent]
