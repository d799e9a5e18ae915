"""Say what waits for admins, and tell analysts what was decided and said of their requests."""

from datetime import timedelta

from sqlmodel import col, exists, func, or_, select

from penstock.persistence.tables.decided.requests import (
    Asker,
    Request,
    RequestComment,
    RequestDecision,
)
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.requests import views
from penstock.services.requests.rows import WITHDRAWN
from penstock.services.requests.settled import WAITS
from penstock.services.schemas.requests.views import RequestView

DAYS = 14
"""How long a decision or a comment is news."""

MOST = 5
"""The most decisions, and the most comments, that are told at once."""


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
        return [views.own_view(server, session, principal, asker) for asker in sent]


def commented(server: Server, principal: Principal) -> list[RequestView]:
    """Return the caller's own requests on which an admin had the last word, without previews.

    A decision is the last word until somebody comments after it.
    """
    principal.require("analyst")
    since = server.clock() - timedelta(days=DAYS)
    theirs = or_(
        col(RequestComment.asker_id).is_(None), col(RequestComment.asker_id) == col(Asker.id)
    )
    of_request = col(RequestComment.request_id) == col(Asker.request_id)
    last = select(func.max(col(RequestComment.id))).where(of_request, theirs)
    own = (
        select(Asker)
        .join(RequestComment, col(RequestComment.id) == last.correlate(Asker).scalar_subquery())
        .outerjoin(RequestDecision, col(RequestDecision.request_id) == col(Asker.request_id))
        .where(
            col(Asker.user_id) == principal.user_id,
            ~WITHDRAWN,
            col(RequestComment.asker_id).is_(None),
            col(RequestComment.by) != principal.name,
            col(RequestComment.at) > since,
            col(RequestComment.at) >= col(Asker.at),
            or_(
                col(RequestDecision.id).is_(None),
                col(RequestDecision.at) < col(RequestComment.at),
            ),
        )
        .order_by(col(RequestComment.id).desc())
        .limit(MOST)
    )
    with server.database.read() as session:
        sent = session.exec(own).all()
        return [views.own_view(server, session, principal, asker) for asker in sent]
