"""Comment on requests: analysts on their own, admins on all.

What an admin writes is shown to all who have the request open then; what an analyst writes is shown
to admins.
"""

from penstock.errors import Conflict
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.decided.requests import Request, RequestComment
from penstock.services.access.principals import Principal, require_still
from penstock.services.context import Server
from penstock.services.requests import limits, rows, views
from penstock.services.requests.logged_requests import record_comment
from penstock.services.schemas.requests.specs import CommentRequest
from penstock.services.schemas.requests.views import RequestView


def comment(
    server: Server, principal: Principal, public_id: str, request: CommentRequest
) -> RequestView:
    """Add a comment.  Raises ``NotFound``, ``QuotaUsedUp``, and ``Conflict`` if it was withdrawn.

    Decided requests take comments as well, since a decision may raise a question.
    """
    principal.require("analyst", "admin")
    with server.database.write() as session:
        asker = rows.asker_row(session, principal, public_id)
        own = asker.user_id == principal.user_id
        require_still(session, principal, "analyst" if own else "admin")
        if own:
            limits.require_rate(session, server, principal)
            if rows.is_withdrawn(session, asker):
                raise Conflict("You withdrew this request; request the query again first.")
        row = RequestComment(
            request_id=asker.request_id,
            asker_id=required(asker.id) if own else None,
            by=principal.actor,
            comment=request.comment,
            at=server.clock(),
        )
        session.add(row)
        session.flush()
        dataset_id = session.get_one(Request, asker.request_id).dataset_id
        record_comment(session, principal, session.get_one(Dataset, dataset_id), row)
    return views.show(server, principal, public_id)
